package tokenizer

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// An action changes a field of an attribute, or ends the parser.
type action struct {
	config     *config.Action
	field      attribute.Field
	fieldErr   error // why the field cannot be used; reported when the action runs
	entries    []*entry
	executions int // by matches of a constructing target
	joiner     *joiner
}

// An entry is where a value, and for maps a key, comes from.
type entry struct {
	config *config.Entry
	value  operand
	key    operand
}

// An operand is a value as the definition writes it.
type operand struct {
	kind    operandKind
	text    string          // to resolve
	literal attribute.Value // converted
	field   attribute.Field
	err     error // why the text is invalid; reported when it is used
}

type operandKind uint8

const (
	absentOperand operandKind = iota // the value comes from a group or piece
	literalOperand
	fieldOperand     // #field of the current attribute
	reference        // holds ${…}
	malformedOperand // an unknown field
)

func newOperand(written config.Optional) operand {
	switch {
	case !written.Set:
		return operand{kind: absentOperand}
	case strings.HasPrefix(written.Text, "#"):
		field, known := attribute.ParseField(written.Text[1:])
		if !known {
			return operand{kind: malformedOperand, err: unknownField(written.Text[1:])}
		}
		return operand{kind: fieldOperand, field: field}
	case strings.Contains(written.Text, "${"):
		return operand{kind: reference, text: written.Text}
	}
	return operand{kind: literalOperand, text: written.Text, literal: attribute.Literal(written.Text)}
}

func unknownField(name string) error {
	return fmt.Errorf("attributes have no field %q (fields are %s)", name, strings.Join(attribute.FieldNames(), ", "))
}

// evaluate returns the value of an operand, with texts that look like booleans
// or integers converted; object is the attribute that #field refers to.
func (t *Tokenizer) evaluate(o *operand, at config.Position, object *attribute.Attribute) (attribute.Value, error) {
	if o.kind == literalOperand {
		return o.literal, nil
	}
	value, err := t.unconverted(o, at, object)
	return normalised(value), err
}

// unconverted returns the value of an operand without converting it.
func (t *Tokenizer) unconverted(o *operand, at config.Position, object *attribute.Attribute) (attribute.Value, error) {
	switch o.kind {
	case fieldOperand:
		t.origins.consult(object)
		return object.Effective(o.field), nil
	case reference:
		return t.resolveOperand(o, at), nil
	case malformedOperand:
		return nil, o.err
	default:
		return o.text, nil
	}
}

// unconvertedText is like unconverted but returns text.
func (t *Tokenizer) unconvertedText(o *operand, at config.Position, object *attribute.Attribute) (text string, set bool, err error) {
	switch o.kind {
	case literalOperand:
		return o.text, true, nil
	case reference:
		return t.resolveOperand(o, at), true, nil
	}
	value, err := t.unconverted(o, at, object)
	return attribute.Text(value), value != nil, err
}

// resolveOperand expands the references of an operand. Values may hold @jobId, which
// only a second resolution replaces.
func (t *Tokenizer) resolveOperand(o *operand, at config.Position) string {
	resolved := t.resolve(at, o.text)
	if resolved == o.text {
		return resolved
	}
	return t.resolve(at, resolved)
}

// normalised converts texts like literals and copies lists and maps, so that no two attributes share one.
func normalised(value attribute.Value) attribute.Value {
	switch v := value.(type) {
	case string:
		return attribute.Literal(v)
	case []string:
		return append([]string(nil), v...)
	case map[string]string:
		return maps.Clone(v)
	}
	return value
}

// resolve expands the references of a text. Like PTP, it keeps what it cannot expand, and reports a
// warning.
func (t *Tokenizer) resolve(at config.Position, text string) string {
	resolved, err := t.env.ResolveNoting(text, t.job, t.consult)
	t.warn(at, err)
	return resolved
}

// warn reports an error, if any, and its position as a warning.
func (t *Tokenizer) warn(at config.Position, err error) {
	if err != nil {
		t.trace(TraceEvent{Kind: "warning", Position: at, Warning: err})
	}
}

// value returns the value of an entry. It is nil for a group that did not take part in the match, and for
// any group outside a match (in tests and else).
func (t *Tokenizer) value(e *entry, object *attribute.Attribute, c *captures) (attribute.Value, error) {
	if e.value.kind != absentOperand {
		return t.evaluate(&e.value, e.config.Position, object)
	}
	text, set, err := pick(c, e.config.ValueIndex, e.config.ValueGroup)
	if err != nil || !set {
		return nil, err
	}
	return text, nil
}

// text is like value but does not convert: maps hold only text.
func (t *Tokenizer) text(e *entry, object *attribute.Attribute, c *captures) (text string, set bool, err error) {
	if e.value.kind == absentOperand {
		return pick(c, e.config.ValueIndex, e.config.ValueGroup)
	}
	return t.unconvertedText(&e.value, e.config.Position, object)
}

// key returns the key of an entry of put.
func (t *Tokenizer) key(e *entry, object *attribute.Attribute, c *captures) (string, error) {
	var key string
	var set bool
	var err error
	if e.key.kind == absentOperand {
		key, set, err = pick(c, e.config.KeyIndex, e.config.KeyGroup)
	} else {
		key, set, err = t.unconvertedText(&e.key, e.config.Position, object)
	}
	if err == nil && !set {
		err = errors.New("the entry has no key: its source is not set")
	}
	return key, err
}

// pick takes a group or piece; an index wins over a group unless it is 0.
func pick(c *captures, index, group int) (text string, set bool, err error) {
	if c == nil {
		return "", false, nil
	}
	if index == 0 {
		index = group
	}
	return c.at(index)
}

// run runs an action on an attribute. The error names the position of the action.
func (t *Tokenizer) run(a *action, object *attribute.Attribute, c *captures) error {
	before := object.Size(a.field)
	stored, err := t.apply(a, object, c)
	if err == nil {
		if err = t.hold(object.Size(a.field), before); err != nil {
			err = fmt.Errorf("storing %s of attribute %q: %w", a.field, object.Name(), err)
		}
	}
	if err != nil {
		return &Error{Position: a.config.Position, Err: err}
	}
	if t.options.Trace != nil && (a.config.Kind != config.Throw || a.config.Field.Set) {
		t.options.Trace(TraceEvent{Kind: "action", Position: a.config.Position, Action: a.config, Attribute: object, Field: a.field, Value: object.Field(a.field), Stored: stored})
	}
	if a.config.Kind == config.Throw {
		return &Error{Position: a.config.Position, Thrown: true, Message: t.resolve(a.config.Position, a.config.Message)}
	}
	return nil
}

// apply performs an action. For traces it also returns what was added or put.
func (t *Tokenizer) apply(a *action, object *attribute.Attribute, c *captures) ([]Stored, error) {
	if a.fieldErr != nil {
		return nil, a.fieldErr
	}
	switch a.config.Kind {
	case config.Throw:
		if !a.config.Field.Set {
			return nil, nil
		}
		return nil, t.set(a, object, c)
	case config.Add:
		return t.add(a, object, c)
	case config.Append:
		return nil, t.append(a, object, c)
	case config.Put:
		return t.put(a, object, c)
	default:
		return nil, t.set(a, object, c)
	}
}

// set stores the entry's value. Without a value the field stays; without an entry it is cleared.
func (t *Tokenizer) set(a *action, object *attribute.Attribute, c *captures) error {
	if len(a.entries) == 0 {
		return object.Set(a.field, nil)
	}
	value, err := t.value(a.entries[0], object, c)
	if err != nil || value == nil {
		return err
	}
	return object.Set(a.field, value)
}

func (t *Tokenizer) add(a *action, object *attribute.Attribute, c *captures) (stored []Stored, err error) {
	texts := make([]string, 0, len(a.entries))
	size := 0
	for _, entry := range a.entries {
		value, err := t.value(entry, object, c)
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		text := attribute.Text(value)
		texts = append(texts, text)
		if size += len(text); size > attribute.LargestValue {
			break // Add refuses them
		}
	}
	if t.options.Trace != nil {
		for _, text := range texts {
			stored = append(stored, Stored{Text: text, Set: true})
		}
	}
	return stored, object.Add(a.field, texts...)
}

// append joins the old text and the values. A separator precedes every value except that of the first
// entry, which follows the old text's separator.
func (t *Tokenizer) append(a *action, object *attribute.Attribute, c *captures) error {
	joined := a.joiner.continuing(object.Text(a.field))
	if len(a.entries) > 0 && object.Effective(a.field) != nil {
		joined.WriteString(a.config.Separator)
	}
	for i, entry := range a.entries {
		value, err := t.value(entry, object, c)
		if err != nil {
			return err
		}
		if value == nil {
			continue
		}
		if i > 0 {
			joined.WriteString(a.config.Separator)
		}
		joined.WriteString(attribute.Text(value))
		if joined.Len() > attribute.LargestValue {
			break // Set refuses it
		}
	}
	return object.Set(a.field, joined.String())
}

// A joiner keeps the text to which a target last appended, with spare capacity, so that a text that grows
// with every segment is not copied each time.
type joiner struct{ *strings.Builder }

// continuing returns a builder that holds a text. The comparison is quick if both texts share their
// memory.
func (j *joiner) continuing(text string) *strings.Builder {
	if j.Builder == nil || j.String() != text {
		j.Builder = new(strings.Builder)
		j.WriteString(text)
	}
	return j.Builder
}

func (t *Tokenizer) put(a *action, object *attribute.Attribute, c *captures) (stored []Stored, err error) {
	for _, entry := range a.entries {
		key, err := t.key(entry, object, c)
		if err != nil {
			return nil, err
		}
		text, set, err := t.text(entry, object, c)
		if err != nil {
			return nil, err
		}
		if err := object.Put(a.field, key, text, set); err != nil {
			return nil, err
		}
		if t.options.Trace != nil {
			stored = append(stored, Stored{Key: key, Text: text, Set: set})
		}
	}
	return stored, nil
}
