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

// The names of events and of their members are a contract; docs/definitions.md
// describes them.

// A traceHeader begins every event of a trace in JSON.
type traceHeader struct {
	Event   string `json:"event"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Cut     bool   `json:"cut,omitempty"`
	Escaped bool   `json:"escaped,omitempty"`
}

func (h *traceHeader) fill(header traceHeader) { *h = header }

// A traceEvent is a pointer to one of the types below.
type traceEvent interface{ fill(header traceHeader) }

type (
	unplacedJSON struct{ traceHeader } // for end
	segmentJSON  struct {
		traceHeader
		Number int64  `json:"number"`
		Text   string `json:"text"`
		Length int    `json:"length"`
		Saved  bool   `json:"saved,omitempty"`
	}
	missJSON struct {
		traceHeader
		Target  string       `json:"target,omitempty"`
		Near    *nearJSON    `json:"near,omitempty"`
		Leading *leadingJSON `json:"leading,omitempty"`
	}
	nearJSON struct {
		Start int    `json:"start"`
		End   int    `json:"end"`
		Text  string `json:"text"`
	}
	leadingJSON struct {
		Expression string `json:"expression"`
		End        int    `json:"end"`
		Rest       string `json:"rest"`
	}
	matchJSON struct {
		traceHeader
		Target   string    `json:"target,omitempty"`
		Captures []*string `json:"captures"`
		Consumed int       `json:"consumed"`
	}
	unmatchedJSON struct {
		traceHeader
		Number int64 `json:"number"`
	}
	targetJSON struct { // for move, else, merge and discover
		traceHeader
		Target string `json:"target,omitempty"`
		Name   string `json:"name,omitempty"`
		Acted  *bool  `json:"acted,omitempty"`
	}
	actionJSON struct {
		traceHeader
		Kind      config.ActionKind  `json:"kind"`
		Attribute string             `json:"attribute"`
		Field     string             `json:"field"`
		Value     any                `json:"value,omitempty"`
		Added     []string           `json:"added,omitempty"`
		Put       map[string]*string `json:"put,omitempty"`
	}
	testJSON struct {
		traceHeader
		Attribute string          `json:"attribute"`
		Operator  config.Operator `json:"operator"`
		Operands  []any           `json:"operands,omitempty"`
		Outcome   bool            `json:"outcome"`
		Depth     int             `json:"depth"`
	}
	dropJSON struct {
		traceHeader
		Value any `json:"value"`
	}
	exitJSON struct {
		traceHeader
		Expression string `json:"expression"`
	}
	messageJSON struct { // for warning and error
		traceHeader
		Message string `json:"message"`
		Segment string `json:"segment,omitempty"`
		Thrown  bool   `json:"thrown,omitempty"`
	}
)

// traceObject returns an event as an object for JSON, which knows no bytes
// beside characters: where the event has some, all its texts are escaped.
func traceObject(event tokenizer.TraceEvent) traceEvent {
	var texts traceTexts
	object := texts.object(event)
	if texts.invalid {
		texts.escaping = true
		object = texts.object(event)
	}
	at := event.Position
	object.fill(traceHeader{Event: event.Kind, File: texts.text(at.File), Line: at.Line, Column: at.Column, Cut: texts.cut, Escaped: texts.escaping})
	return object
}

// longestJSONText bounds the texts in events, in bytes, and longestJSONList the
// elements of lists and maps.
const (
	longestJSONText = 4096
	longestJSONList = 100
)

// traceTexts makes the texts of one event fit for JSON.
type traceTexts struct {
	escaping bool
	invalid  bool // a text had bytes that are no characters
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

// object returns the fields of an event.
func (t *traceTexts) object(e tokenizer.TraceEvent) traceEvent {
	switch e.Kind {
	case "segment":
		return &segmentJSON{Number: e.Number, Text: t.bytes(e.Text), Length: len(e.Text), Saved: e.Saved}
	case "miss":
		return t.miss(e)
	case "match":
		return t.match(e)
	case "unmatched":
		return &unmatchedJSON{Number: e.Number}
	case "move":
		return &targetJSON{Target: t.text(e.Target.Ref.Text)}
	case "action":
		return t.action(e)
	case "exit":
		return &exitJSON{Expression: t.text(e.Expression.Text)}
	case "test":
		return t.test(e)
	case "else":
		return &targetJSON{Target: t.text(e.Target.Ref.Text), Acted: &e.Acted}
	case "merge":
		return &targetJSON{Name: t.text(e.Name)}
	case "discover":
		return &targetJSON{Name: t.text(e.Attribute.Name())}
	case "drop":
		return &dropJSON{Value: t.value(e.Attribute.Value())}
	case "warning":
		return &messageJSON{Message: t.text(e.Warning.Error())}
	case "error":
		return &messageJSON{Message: t.text(e.Err.Reason()), Segment: t.text(e.Err.Segment), Thrown: e.Err.Thrown}
	}
	return &unplacedJSON{}
}

func (t *traceTexts) match(e tokenizer.TraceEvent) *matchJSON {
	match := &matchJSON{Target: t.text(e.Target.Ref.Text), Captures: []*string{}, Consumed: e.Consumed}
	for _, capture := range e.Captures {
		match.Captures = append(match.Captures, optional(t.bytes(capture.Text), capture.Set))
	}
	return match
}

func (t *traceTexts) test(e tokenizer.TraceEvent) *testJSON {
	test := &testJSON{Attribute: t.text(e.Attribute.Name()), Operator: e.Test.Operator, Outcome: e.Outcome, Depth: e.Depth}
	for _, operand := range e.Operands {
		test.Operands = append(test.Operands, t.value(operand))
	}
	return test
}

func (t *traceTexts) miss(e tokenizer.TraceEvent) traceEvent {
	miss := &missJSON{Target: t.text(e.Target.Ref.Text)}
	near := e.Explain()
	switch {
	case near.Near:
		miss.Near = &nearJSON{Start: near.Start, End: near.End, Text: t.bytes(e.Text[near.Start:near.End])}
	case near.Leading != "":
		miss.Leading = &leadingJSON{Expression: t.text(near.Leading), End: near.LeadingEnd, Rest: t.bytes(e.Text[near.LeadingEnd:])}
	}
	return miss
}

func (t *traceTexts) action(e tokenizer.TraceEvent) traceEvent {
	action := &actionJSON{Kind: e.Action.Kind, Attribute: t.text(e.Attribute.Name()), Field: e.Field.String()}
	switch e.Action.Kind {
	case config.Add:
		for _, stored := range e.Stored {
			action.Added = append(action.Added, t.text(stored.Text))
		}
	case config.Put:
		action.Put = map[string]*string{}
		for _, stored := range e.Stored {
			action.Put[t.text(stored.Key)] = optional(t.text(stored.Text), stored.Set)
		}
	default:
		action.Value = t.value(e.Value)
	}
	return action
}

// optional returns nil, JSON's null, for a text that is not there.
func optional(text string, set bool) *string {
	if !set {
		return nil
	}
	return &text
}
