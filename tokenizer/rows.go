package tokenizer

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// Facts are the entries of a map that a target constructed, in little room. Nobody
// changes them. Their texts share the memory of the segment that they were read
// from, and of those beside it: who keeps few of them for long keeps copies.
type Facts struct {
	keys   []string // sorted; facts with the same ones share them
	values []string // in the order of the keys
}

// FactsOf returns the entries of a map as facts.
func FactsOf(entries map[string]string) Facts { return factsOf(entries, nil) }

// FactsIn returns facts by their keys, which are sorted, with a fact for each; both are
// the facts' own from then on. It is an error if keys are not sorted or come twice, or
// are more or fewer than the facts.
func FactsIn(keys, facts []string) (Facts, error) {
	if len(keys) != len(facts) {
		return Facts{}, fmt.Errorf("there are %d keys for %d facts", len(keys), len(facts))
	}
	for i := 1; i < len(keys); i++ {
		if keys[i-1] >= keys[i] {
			return Facts{}, fmt.Errorf("the key %.50q comes before %.50q", keys[i-1], keys[i])
		}
	}
	return Facts{keys: keys, values: facts}, nil
}

// Lists returns the keys, sorted, and the facts in their order, which nobody may change.
// It is what [FactsIn] takes.
func (f Facts) Lists() (keys, facts []string) { return f.keys, f.values }

// factsOf takes the keys of earlier facts where they are the same.
func factsOf(entries map[string]string, keys []string) Facts {
	isMissing := func(key string) bool { _, has := entries[key]; return !has }
	if len(entries) != len(keys) || slices.ContainsFunc(keys, isMissing) {
		keys = slices.Sorted(maps.Keys(entries))
	}
	facts := Facts{keys: keys, values: make([]string, len(keys))}
	for i, key := range keys {
		facts.values[i] = entries[key]
	}
	return facts
}

// With returns these facts with later ones. Of a fact in both the later counts,
// unless it is empty.
func (f Facts) With(later Facts) Facts {
	entries := maps.Collect(f.All())
	for key, fact := range later.All() {
		if fact != "" || entries[key] == "" {
			entries[key] = fact
		}
	}
	return factsOf(entries, f.keys)
}

// Len returns how many facts there are.
func (f Facts) Len() int { return len(f.keys) }

// Get returns the fact with that key; empty if it is absent.
func (f Facts) Get(key string) string {
	if len(f.keys) <= fewKeys {
		for i, each := range f.keys {
			if each == key {
				return f.values[i]
			}
		}
		return ""
	}
	i, has := slices.BinarySearch(f.keys, key)
	if !has {
		return ""
	}
	return f.values[i]
}

// fewKeys are so few that looking at each takes less time than a search: most
// differ in length.
const fewKeys = 24

// All returns the keys and the facts, in the order of the keys.
func (f Facts) All() iter.Seq2[string, string] {
	return func(yield func(key, fact string) bool) {
		for i, key := range f.keys {
			if !yield(key, f.values[i]) {
				return
			}
		}
	}
}

// A rowPlan says when an element that a target constructs is finished.
type rowPlan uint8

const (
	rowsAtEnd   rowPlan = iota // not before: merging and tests change it
	rowsByMatch                // with the match that constructs it: each names one of its own
	rowsByCount                // when all actions have been at it
)

// planRows finds out when elements can be handed out.
func (t *Tokenizer) planRows() {
	if t.options.Rows == nil {
		return
	}
	var constructing []*target
	for _, target := range t.targets {
		if target.constructs() {
			constructing = append(constructing, target)
		}
	}
	if len(constructing) != 1 { // those of a later target replace others
		return
	}
	constructing[0].rows = planOf(constructing[0])
	for _, m := range constructing[0].matches {
		if t.options.Trace == nil && constructing[0].rows == rowsByMatch {
			m.row = newRowMaker(m.actions)
		}
	}
}

func planOf(target *target) rowPlan {
	if len(target.matches) == 0 || len(target.tests) > 0 || len(target.otherwise) > 0 {
		return rowsAtEnd
	}
	byMatch, naming, forcing := true, 0, 0
	for _, m := range target.matches {
		if slices.ContainsFunc(m.actions, changesMore) {
			return rowsAtEnd
		}
		for _, action := range m.actions {
			if action.config.Kind == config.Set {
				naming++
			}
			if action.config.ForceNewObject {
				forcing++
			}
		}
		byMatch = byMatch && constructsOne(m.actions)
	}
	switch {
	case byMatch:
		return rowsByMatch
	case naming == 1 && forcing == 0:
		return rowsByCount
	}
	return rowsAtEnd
}

// constructsOne reports whether the actions of a match construct a single element and work
// on no other, as actions do that only put entries.
func constructsOne(actions []*action) bool {
	if len(actions) == 0 {
		return true
	}
	isMore := func(a *action) bool { return a.config.Kind != config.Put }
	forcesNew := func(a *action) bool { return a.config.ForceNewObject }
	return slices.ContainsFunc(actions, isMore) && !slices.ContainsFunc(actions[1:], forcesNew)
}

// changesMore reports whether an action does anything but to name an element, to
// put entries in its value, or to end the parser.
func changesMore(a *action) bool {
	switch a.config.Kind {
	case config.Set:
		return a.field != attribute.FieldName || a.fieldErr != nil || len(a.entries) == 0
	case config.Put:
		return a.field != attribute.FieldValue || a.fieldErr != nil
	case config.Throw:
		return a.config.Field.Set
	}
	return true
}

// runRow runs the actions of a match that constructs a whole element.
func (t *Tokenizer) runRow(target *target, m *match) error {
	if m.row != nil {
		return t.makeRow(m)
	}
	object := &attribute.Attribute{}
	for _, action := range m.actions {
		if err := t.run(action, object, &m.captures); err != nil {
			return err
		}
		if t.origins != nil {
			t.noteMatch(object, m)
		}
	}
	t.handOut(target, m, object)
	return nil
}

// A rowMaker does what the actions of a match do that constructs a whole element,
// without an attribute in between: for a listing of a million jobs.
type rowMaker struct {
	naming source
	keys   []string // sorted
	puts   []source // in the order of the actions
	made   int
	spare  []string // for facts of rows: made together, since many are made as a rule
	texts  texts    // of their lines
}

// A source is where the name or a fact comes from.
type source struct {
	entry  *entry
	action *action // that says so
	at     int     // index of the fact
}

// newRowMaker returns nil where values depend on the element or keys on the text.
func newRowMaker(actions []*action) *rowMaker {
	made := &rowMaker{}
	for _, action := range actions {
		if !made.add(action) {
			return nil
		}
	}
	if made.naming.entry == nil {
		return nil
	}
	slices.Sort(made.keys)
	made.keys = slices.Compact(made.keys)
	for i, put := range made.puts {
		made.puts[i].at, _ = slices.BinarySearch(made.keys, put.entry.key.text)
	}
	return made
}

// add adds what an action does and reports whether that is possible.
func (r *rowMaker) add(action *action) bool {
	switch action.config.Kind {
	case config.Set:
		return r.addName(action)
	case config.Put:
		return r.addPuts(action)
	}
	return false
}

// addName adds the first entry of an action, which alone counts; changesMore sees to it
// that there is one.
func (r *rowMaker) addName(action *action) bool {
	entry := action.entries[0]
	if r.naming.entry != nil || entry.value.kind != absentOperand {
		return false
	}
	r.naming = source{entry: entry, action: action}
	return true
}

func (r *rowMaker) addPuts(action *action) bool {
	for _, entry := range action.entries {
		if entry.key.kind != literalOperand {
			return false
		}
		switch entry.value.kind {
		case absentOperand, literalOperand, reference:
			r.keys = append(r.keys, entry.key.text)
			r.puts = append(r.puts, source{entry: entry, action: action})
		default:
			return false
		}
	}
	return true
}

// makeRow makes the row of the text that a match took, and hands it out.
func (t *Tokenizer) makeRow(m *match) error {
	made := m.row
	m.captures.texts = &made.texts
	id, _, err := t.text(made.naming.entry, nil, &m.captures)
	if err != nil {
		return &Error{Position: made.naming.action.config.Position, Err: err}
	}
	facts := Facts{keys: made.keys, values: made.room()}
	for i := range made.puts {
		put := &made.puts[i]
		text, _, err := t.text(put.entry, nil, &m.captures)
		if err != nil {
			return &Error{Position: put.action.config.Position, Err: err}
		}
		facts.values[put.at] = text
		if put.entry.value.kind == reference {
			if err := t.hold(len(text), 0); err != nil {
				return &Error{Position: put.action.config.Position, Err: fmt.Errorf("storing %q of attribute %q: %w", put.entry.key.text, id, err)}
			}
		}
	}
	var origin *attribute.Origin
	if t.origins != nil {
		origin = t.originHere(&m.captures)
	}
	t.options.Rows(id, facts, origin)
	return nil
}

// room returns the room for the facts of a row.
func (r *rowMaker) room() []string {
	count := len(r.keys)
	r.made++
	if len(r.spare) < count {
		r.spare = make([]string, min(r.made, mostSpare)*count)
	}
	room := r.spare[:count:count]
	r.spare = r.spare[count:]
	return room
}

// handOutPassed hands out the elements that all actions have been at.
func (t *Tokenizer) handOutPassed(target *target, last *match) {
	c := &target.constructed
	passed := c.handedOut + len(c.pairs)
	for _, m := range target.matches {
		for _, action := range m.actions {
			if action.config.Kind != config.Throw {
				passed = min(passed, action.executions)
			}
		}
	}
	t.handOutFirst(target, last, passed-c.handedOut)
}

// handOutFirst hands out the first of the elements that are constructed by counting.
func (t *Tokenizer) handOutFirst(target *target, last *match, count int) {
	if count == 0 {
		return
	}
	c := &target.constructed
	for _, object := range c.pairs[:count] {
		t.handOut(target, last, object)
	}
	clear(c.pairs[:count])
	c.pairs, c.all = c.pairs[count:], nil
	c.handedOut += count
}

// handOut hands out an element. Those that the same match finishes have the same
// keys as a rule.
func (t *Tokenizer) handOut(target *target, m *match, object *attribute.Attribute) {
	if object.Field(attribute.FieldName) == nil {
		t.traceElement("drop", target, object)
	} else {
		t.traceElement("discover", target, object)
	}
	entries, _ := object.Value().(map[string]string)
	facts := factsOf(entries, m.keys)
	m.keys = facts.keys
	t.held -= counted(object.Size(attribute.FieldValue))
	t.options.Rows(object.Name(), facts, object.Origin)
}
