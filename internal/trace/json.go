package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
)

// The names of events and of their members are a contract, which
// docs/reference/definition-json.md describes.

// An event is an event of a trace in JSON. Members that a kind of event does not have are
// omitted; members that it always has are pointers if their value may be zero.
type event struct {
	Event   string `json:"event"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Cut     bool   `json:"cut,omitempty"`
	Escaped bool   `json:"escaped,omitempty"`

	Number int64   `json:"number,omitempty"`
	Text   *string `json:"text,omitempty"`
	Length *int    `json:"length,omitempty"`
	Saved  bool    `json:"saved,omitempty"`

	Target   string       `json:"target,omitempty"`
	Near     *nearJSON    `json:"near,omitempty"`
	Leading  *leadingJSON `json:"leading,omitempty"`
	Captures []*string    `json:"captures,omitzero"`
	Consumed *int         `json:"consumed,omitempty"`
	Name     string       `json:"name,omitempty"`
	Acted    *bool        `json:"acted,omitempty"`

	Kind      config.ActionKind  `json:"kind,omitempty"`
	Attribute *string            `json:"attribute,omitempty"`
	Field     string             `json:"field,omitempty"`
	Value     *any               `json:"value,omitempty"`
	Added     []string           `json:"added,omitempty"`
	Put       map[string]*string `json:"put,omitempty"`
	Operator  config.Operator    `json:"operator,omitempty"`
	Operands  []any              `json:"operands,omitempty"`
	Outcome   *bool              `json:"outcome,omitempty"`
	Depth     *int               `json:"depth,omitempty"`

	Expression *string `json:"expression,omitempty"`
	Message    *string `json:"message,omitempty"`
	Segment    string  `json:"segment,omitempty"`
	Thrown     bool    `json:"thrown,omitempty"`
}

type nearJSON struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

type leadingJSON struct {
	Expression string `json:"expression"`
	End        int    `json:"end"`
	Rest       string `json:"rest"`
}

// eventOf returns an event for JSON. Since JSON cannot represent arbitrary bytes, all
// texts of an event with invalid ones are escaped.
func eventOf(traced tokenizer.TraceEvent) event {
	var texts traceTexts
	object := texts.event(traced)
	if texts.invalid {
		texts.escaping = true
		object = texts.event(traced)
	}
	object.Cut, object.Escaped = texts.cut, texts.escaping
	return object
}

// longestJSONText limits texts in events, in bytes, and longestJSONList the elements of
// lists and maps.
const (
	longestJSONText = 4096
	longestJSONList = 100
)

// traceTexts prepares the texts of one event for JSON.
type traceTexts struct {
	escaping bool
	invalid  bool // a text had invalid UTF-8
	cut      bool // a text or a list was too long
}

func (t *traceTexts) text(text string) string {
	if len(text) > longestJSONText {
		text, t.cut = cutText(text, longestJSONText), true
	}
	t.invalid = t.invalid || !utf8.ValidString(text)
	if !t.escaping {
		return text
	}
	var escaped strings.Builder
	for len(text) > 0 {
		character, size := utf8.DecodeRuneInString(text)
		switch {
		case character == utf8.RuneError && size == 1:
			fmt.Fprintf(&escaped, `\x%02x`, text[0])
		case character == '\\':
			escaped.WriteString(`\\`)
		default:
			escaped.WriteString(text[:size])
		}
		text = text[size:]
	}
	return escaped.String()
}

func (t *traceTexts) bytes(text []byte) string {
	t.cut = t.cut || len(text) > longestJSONText
	return t.text(string(cutText(text, longestJSONText)))
}

func (t *traceTexts) value(value attribute.Value) any {
	switch v := value.(type) {
	case string:
		return t.text(v)
	case []string:
		texts := []string{}
		for i, text := range v {
			if i == longestJSONList {
				t.cut = true
				break
			}
			texts = append(texts, t.text(text))
		}
		return texts
	case map[string]string:
		entries := map[string]string{}
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i == longestJSONList {
				t.cut = true
				break
			}
			entries[t.text(key)] = t.text(v[key])
		}
		return entries
	}
	return value
}

// event returns an event but for what all of its texts decide.
func (t *traceTexts) event(e tokenizer.TraceEvent) event {
	object := event{Event: e.Kind, File: t.text(e.Position.File), Line: e.Position.Line, Column: e.Position.Column}
	switch e.Kind {
	case "segment":
		object.Number, object.Text, object.Length, object.Saved = e.Number, new(t.bytes(e.Text)), new(len(e.Text)), e.Saved
	case "miss":
		t.addMiss(&object, e)
	case "match":
		t.addMatch(&object, e)
	case "unmatched":
		object.Number = e.Number
	case "move":
		object.Target = t.text(e.Target.Ref.Text)
	case "action":
		t.addAction(&object, e)
	case "exit":
		object.Expression = new(t.text(e.Expression.Text))
	case "test":
		t.addTest(&object, e)
	case "else":
		object.Target, object.Acted = t.text(e.Target.Ref.Text), &e.Acted
	case "merge":
		object.Name = t.text(e.Name)
	case "discover":
		object.Name = t.text(e.Attribute.Name())
	case "drop":
		object.Value = new(t.value(e.Attribute.Value()))
	case "warning":
		object.Message = new(t.text(e.Warning.Error()))
	case "error":
		object.Message, object.Segment, object.Thrown = new(t.text(e.Err.Reason())), t.text(e.Err.Segment), e.Err.Thrown
	}
	return object
}

func (t *traceTexts) addMatch(object *event, e tokenizer.TraceEvent) {
	object.Target, object.Captures, object.Consumed = t.text(e.Target.Ref.Text), []*string{}, &e.Consumed
	for _, capture := range e.Captures {
		object.Captures = append(object.Captures, optional(t.bytes(capture.Text), capture.Set))
	}
}

func (t *traceTexts) addTest(object *event, e tokenizer.TraceEvent) {
	object.Attribute, object.Operator = new(t.text(e.Attribute.Name())), e.Test.Operator
	object.Outcome, object.Depth = &e.Outcome, &e.Depth
	for _, operand := range e.Operands {
		object.Operands = append(object.Operands, t.value(operand))
	}
}

func (t *traceTexts) addMiss(object *event, e tokenizer.TraceEvent) {
	object.Target = t.text(e.Target.Ref.Text)
	near := e.Explain()
	switch {
	case near.Near:
		object.Near = &nearJSON{Start: near.Start, End: near.End, Text: t.bytes(e.Text[near.Start:near.End])}
	case near.Leading != "":
		object.Leading = &leadingJSON{Expression: t.text(near.Leading), End: near.LeadingEnd, Rest: t.bytes(e.Text[near.LeadingEnd:])}
	}
}

func (t *traceTexts) addAction(object *event, e tokenizer.TraceEvent) {
	object.Kind, object.Attribute, object.Field = e.Action.Kind, new(t.text(e.Attribute.Name())), e.Field.String()
	switch e.Action.Kind {
	case config.Add:
		for _, stored := range e.Stored {
			object.Added = append(object.Added, t.text(stored.Text))
		}
	case config.Put:
		object.Put = map[string]*string{}
		for _, stored := range e.Stored {
			object.Put[t.text(stored.Key)] = optional(t.text(stored.Text), stored.Set)
		}
	default:
		if e.Value != nil {
			object.Value = new(t.value(e.Value))
		}
	}
}

// optional returns nil, JSON's null, for a missing text.
func optional(text string, set bool) *string {
	if !set {
		return nil
	}
	return &text
}
