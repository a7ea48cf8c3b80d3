package tokenizer

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// Facts are the entries of a map that a target constructed, stored compactly. They are immutable. Their
// texts share memory with neighboring segments: copy those that you keep for long.
type Facts struct {
	keys   []string // sorted; facts with the same ones share them
	values []string // in the order of the keys
}

// FactsOf returns the entries of a map as facts.
func FactsOf(entries map[string]string) Facts { return factsOf(entries, nil) }

// FactsIn returns facts for sorted, distinct keys, with one fact for each. It takes over both slices.
func FactsIn(keys, facts []string) (Facts, error) {
	if len(keys) != len(facts) {
		return Facts{}, fmt.Errorf("%d keys for %d facts", len(keys), len(facts))
	}
	for i := 1; i < len(keys); i++ {
		if keys[i-1] >= keys[i] {
			return Facts{}, fmt.Errorf("the key %.50q comes before %.50q", keys[i-1], keys[i])
		}
	}
	return Facts{keys: keys, values: facts}, nil
}

// Lists returns the sorted keys and their facts, as [FactsIn] takes them. Do not change them.
func (f Facts) Lists() (keys, facts []string) { return f.keys, f.values }

// factsOf reuses the keys of earlier facts if they are equal.
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

// With returns the union with later facts. A later fact wins unless it is empty.
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

// Get returns the fact with a key, empty if it is absent.
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

// fewKeys is the number of keys up to which a linear search is faster than a binary one: most keys differ
// in length.
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

// A rowPlan says when an element constructed by a target is complete.
type rowPlan uint8

const (
	rowsAtEnd   rowPlan = iota // not before: merging and tests change it
	rowsByMatch                // after its match: each match constructs one element
	rowsByCount                // after all actions have run on it
)

// planRows decides when elements can be delivered.
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
	if len(constructing) != 1 { // elements of a later target replace those of an earlier one
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

// constructsOne reports whether the actions of a match construct a single element and change no other.
func constructsOne(actions []*action) bool {
	if len(actions) == 0 {
		return true
	}
	isMore := func(a *action) bool { return a.config.Kind != config.Put }
	forcesNew := func(a *action) bool { return a.config.ForceNewObject }
	return slices.ContainsFunc(actions, isMore) && !slices.ContainsFunc(actions[1:], forcesNew)
}

// changesMore reports whether an action does anything other than name an element, put entries into its
// value, or end the parser.
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

// A rowMaker runs the actions of a match that constructs a whole element without creating an attribute,
// which makes large listings faster.
type rowMaker struct {
	naming source
	keys   []string // sorted
	puts   []source // in the order of the actions
	made   int
	spare  []string // for facts of rows, allocated together
	texts  texts    // of their lines
}

// A source supplies the name or a fact.
type source struct {
	entry  *entry
	action *action // that uses it
	at     int     // index of the fact
}

// newRowMaker returns nil if values depend on the element or keys on the text.
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

// add adds an action and reports whether it can be handled.
func (r *rowMaker) add(action *action) bool {
	switch action.config.Kind {
	case config.Set:
		return r.addName(action)
	case config.Put:
		return r.addPuts(action)
	}
	return false
}

// addName adds the first entry of an action; others do not count. changesMore ensures that it exists.
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

// makeRow builds and delivers the row of a matched text.
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

// room returns space for the facts of a row.
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

// handOutPassed delivers the elements on which all actions have run.
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

// handOutFirst delivers the first of the paired elements.
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

// handOut delivers an element. Elements completed by the same match usually have the same keys.
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
