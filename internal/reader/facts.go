package reader

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/further"
	"github.com/rmctl/rmctl/internal/plaintext"
)

// Facts with a special meaning to rmctl.
const (
	factState     = "state"
	factNative    = "native"
	factReason    = "reason"
	factExitCode  = "exitCode"
	factSignal    = "signal"
	factSubmitted = "submitted"
	factStarted   = "started"
	factEnded     = "ended"
	factIdentity  = "identity"
	factNodes     = "nodes"
	factCPUs      = "cpus"
	factOutput    = "outputPath"
	factError     = "errorPath"
	factTasks     = "tasks"
)

// A factTable evaluates the facts of records.
type factTable struct {
	names  []string       // sorted
	at     map[string]int // index of a name
	facts  []*fact        // in the order of the definition
	signal int            // index of the signal; -1 without one
	// noValues are the values of elements without facts. They are shared: do not change them.
	noValues []string
}

type fact struct {
	*config.Fact
	at            int // index of its name
	from, when    *expression
	base, replace *expression
	find          *regexp.Regexp
	words         []placeholder
}

// newFactTable compiles facts, without those that set attributes. With tasks it adds a fact for their
// memory.
func newFactTable(definitions []*config.Fact, hasTasks bool) (*factTable, error) {
	table := &factTable{at: map[string]int{}}
	names := []string{factState, factNative, factReason}
	if hasTasks {
		names = append(names, factTasks)
	}
	for _, defined := range definitions {
		if defined.Attribute != "" {
			continue
		}
		compiled, err := newFact(defined)
		if err != nil {
			return nil, err
		}
		table.facts = append(table.facts, compiled)
		names = append(names, defined.Name)
		if defined.As == asExitStatus || defined.As == asWaitStatus {
			names = append(names, factSignal)
		}
	}
	slices.Sort(names)
	table.names = slices.Compact(names)
	for i, name := range table.names {
		table.at[name] = i
	}
	for _, each := range table.facts {
		each.at = table.at[each.Name]
	}
	table.signal = slices.Index(table.names, factSignal)
	table.noValues = make([]string, len(table.names))
	return table, nil
}

func newFact(definition *config.Fact) (*fact, error) {
	f := &fact{
		Fact: definition, from: newExpression(definition.From), when: newExpression(definition.When),
		base: newExpression(definition.Base), replace: newExpression(definition.Default),
	}
	var err error
	if f.find, err = compile(definition.Find, "", ""); err != nil {
		return nil, err
	}
	if _, isField := f.plainField(); f.As == asFields && !isField {
		return nil, fmt.Errorf("%s: as=%q requires a single field", definition.Position, asFields)
	}
	f.words, err = newPlaceholders(definition)
	return f, err
}

// A FactStep describes the evaluation of one fact of a record.
type FactStep struct {
	Fact    *config.Fact
	Value   string // empty if it has none
	Dropped string // why a value was dropped
}

// evaluate returns the facts of a record in the order of the names. If several have the same name, the
// first with a value wins.
func (t *factTable) evaluate(on *evaluation, step func(FactStep)) ([]string, error) {
	values := make([]string, len(t.names))
	for _, each := range t.facts {
		isRepeated := each.SameAs != ""
		if isRepeated || values[each.at] != "" && !each.Append.Set {
			continue
		}
		if err := t.evaluateOne(each, on, values, step); err != nil {
			return nil, err
		}
	}
	for _, each := range t.facts {
		if source, isKnown := t.at[each.SameAs]; isKnown && each.SameAs != "" && values[each.at] == "" {
			holds, err := each.when.isTrue(on)
			if err != nil {
				return nil, err
			}
			if !holds {
				step(FactStep{Fact: each.Fact, Dropped: "when is false"})
				continue
			}
			values[each.at] = values[source]
			step(FactStep{Fact: each.Fact, Value: values[each.at]})
		}
	}
	return values, nil
}

// evaluateOne sets the value of one fact, unless its condition is false or it has none.
func (t *factTable) evaluateOne(f *fact, on *evaluation, values []string, step func(FactStep)) error {
	if holds, err := f.when.isTrue(on); err != nil || !holds {
		if err == nil {
			step(FactStep{Fact: f.Fact, Dropped: "when is false"})
		}
		return err
	}
	texts, err := f.textsOf(on)
	if err != nil {
		return err
	}
	value, signal, dropped, err := f.value(texts, on)
	if err != nil {
		return err
	}
	if value != "" && f.Text != "" {
		value = clean(strings.ReplaceAll(f.Text, "{}", value))
	}
	step(FactStep{Fact: f.Fact, Value: value, Dropped: dropped})
	if value != "" && f.Append.Set && values[f.at] != "" {
		value = clean(values[f.at] + f.Append.Text + value)
	}
	if value != "" {
		values[f.at] = value
	}
	if t.signal >= 0 && signal != "" && values[t.signal] == "" {
		values[t.signal] = signal
	}
	return nil
}

// textsOf returns the texts of a fact in the record, without words that mean
// that there is no value.
func (f *fact) textsOf(on *evaluation) ([]string, error) {
	if f.As == asFields {
		return f.fields(on), nil
	}
	if name, isPlain := f.plainField(); isPlain {
		field := on.record.Root.Child(name)
		if field == nil || field.Text == "" || slices.Contains(f.None, field.Text) {
			return nil, nil
		}
		return f.items(field.Text), nil
	}
	texts, err := f.from.texts(on)
	if err != nil {
		return nil, err
	}
	var kept []string
	for _, text := range texts {
		if text != "" && !slices.Contains(f.None, text) {
			kept = append(kept, f.items(text)...)
		}
	}
	return kept, nil
}

// fields returns the fields below a field of a record.
func (f *fact) fields(on *evaluation) []string {
	name, _ := f.plainField()
	var all further.Attributes
	if on.record.Root.Child(name).EachBelow(all.Add); all.Text() == "" {
		return nil
	}
	return []string{all.Text()}
}

// plainField returns the single field that a fact is taken from, if that field has no fields below it.
func (f *fact) plainField() (string, bool) {
	if f.from == nil || f.from.compile() != nil {
		return "", false
	}
	return f.from.compiled.FieldName()
}

// items returns the parts of a text that a fact uses: the matches of its pattern, and the items of a
// list.
func (f *fact) items(text string) []string {
	texts := []string{text}
	if f.find != nil {
		texts = found(f.find, text, f.mostFound())
	}
	if f.Split == "" {
		return texts
	}
	var items []string
	for _, text := range texts {
		for item := range strings.SplitSeq(text, f.Split) {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	return items
}

// mostFound is the number of parts that the fact uses: of times, for example, only the first. A pattern
// that begins with ^ finds at most one.
func (f *fact) mostFound() int {
	if pattern := f.find.String(); strings.HasPrefix(pattern, "^") && !strings.Contains(pattern, "|") {
		return 1
	}
	switch f.As {
	case asText, asSum, asCount:
		return mostItems
	}
	return 1
}

// found returns the first group of each match, or the whole match if there are no groups, up to a limit.
func found(pattern *regexp.Regexp, text string, most int) []string {
	var texts []string
	if most == 1 { // finding all is half as fast
		at := pattern.FindStringSubmatchIndex(text)
		if at == nil {
			return nil
		}
		group := 2 * min(1, pattern.NumSubexp())
		if at[group] < 0 {
			return []string{""}
		}
		return []string{text[at[group]:at[group+1]]}
	}
	for _, match := range pattern.FindAllStringSubmatch(text, most) {
		texts = append(texts, match[min(1, len(match)-1)])
	}
	return texts
}

// mostItems bounds the items of one fact.
const mostItems = 10_000

// longestFact is the longest fact, in characters.
const longestFact = 500

// clean returns a text in the form that facts have.
func clean(text string) string { return plaintext.Clean(text, longestFact) }

// notA returns the reason to drop a text.
func notA(what, text string) string { return fmt.Sprintf("%.100q is not %s", text, what) }
