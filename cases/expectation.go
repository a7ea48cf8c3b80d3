package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// An Expectation is what a definition makes of a recorded command.
type Expectation struct {
	Status     Status             `json:"status"`
	Job        *JobState          `json:"job,omitempty"`
	Processes  []string           `json:"processes,omitempty"`  // of x:on-nodes: variables of the job's processes
	Over       string             `json:"over,omitempty"`       // of x:on-nodes: how rmctl itself starts the process
	NoSignals  bool               `json:"noSignals,omitempty"`  // of x:on-nodes: the process ends only with its input
	Absence    string             `json:"absence,omitempty"`    // what x:absent concludes if the output lacks the job
	Attributes map[string]Changed `json:"attributes,omitempty"` // those that changed, by their keys
	Discovered map[string]Changed `json:"discovered,omitempty"` // those that parsers constructed
}

// The states of a command.
const (
	statusOK    = "OK"
	statusError = "ERROR"
)

// A Status is the result of the command.
type Status struct {
	State   string             `json:"state"`             // OK or ERROR
	Failure command.Failure    `json:"failure,omitempty"` // for ERROR: kind of failure
	Outcome config.OutcomeKind `json:"outcome,omitempty"` // by the definition
	// Message must be a part of the error's text. Without one, any text passes.
	Message string `json:"message,omitempty"`
}

// A JobState is the state of the job after the command.
type JobState struct {
	ID      string     `json:"id,omitempty"`      // if the command found one
	ShortID string     `json:"shortId,omitempty"` // the same
	State   job.Detail `json:"state,omitempty"`   // empty if the command gave none
	Detail  job.Detail `json:"detail,omitempty"`
	Word    string     `json:"word,omitempty"` // a text that is not a state
}

// Changed is a change of an attribute. In JSON it is the new value, or an object of fields
// if other fields changed or the value is an object. A field without a value is null.
type Changed struct{ any }

// MarshalJSON encodes the change without escapes for HTML.
func (c Changed) MarshalJSON() ([]byte, error) { return marshal(c.any) }

// UnmarshalJSON decodes the output of MarshalJSON.
func (c *Changed) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(&c.any)
}

// Value returns the attribute's value after the command: a string, a bool, an int, or a
// list or map of them; nil if it was unset or did not change. After decoding, an int is a
// json.Number, and lists and maps contain values of type any.
func (c Changed) Value() any {
	if fields, isObject := c.any.(map[string]any); isObject {
		return fields[attribute.FieldValue.String()]
	}
	return c.any
}

// changes returns what differs between two environments.
func changes(before, after *attribute.Environment, job string) (attributes, discovered map[string]Changed, err error) {
	for _, key := range after.Variables() {
		if key == job {
			continue // it is in the Job
		}
		if err := addChange(&attributes, key, before.Variable(key), after.Variable(key)); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range after.Discovered() {
		if err := addChange(&discovered, name, before.DiscoveredAttribute(name), after.DiscoveredAttribute(name)); err != nil {
			return nil, nil, err
		}
	}
	return attributes, discovered, nil
}

func addChange(to *map[string]Changed, key string, before, after *attribute.Attribute) error {
	isNew := before == nil
	if isNew {
		before = attribute.New(key)
		if after.Field(attribute.FieldVisible) == false {
			_ = before.Set(attribute.FieldVisible, false) // a variable of the engine; the field takes booleans
		}
	}
	var fields map[string]any
	for field := attribute.FieldName; field <= attribute.FieldValidator; field++ {
		if now := after.Field(field); !same(before.Field(field), now) {
			if fields == nil {
				fields = map[string]any{}
			}
			fields[field.String()] = now
		}
	}
	if fields == nil && !isNew {
		return nil
	}
	if *to == nil {
		*to = map[string]Changed{}
	}
	value, changed := fields[attribute.FieldValue.String()]
	if _, isMap := value.(map[string]string); isMap {
		var err error
		if value, err = mapOf(after); err != nil {
			return err
		}
		fields[attribute.FieldValue.String()] = value
	} else if changed && len(fields) == 1 {
		(*to)[key] = Changed{value}
		return nil
	}
	if fields == nil {
		fields = map[string]any{} // null would mean that a value was taken away
	}
	(*to)[key] = Changed{fields}
	return nil
}

// same compares two values of a field, the usual ones without reflection: there
// are some hundred attributes to each of thousands of cases.
func same(a, b attribute.Value) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		text, isText := b.(string)
		return isText && a == text
	case bool:
		truth, isTruth := b.(bool)
		return isTruth && a == truth
	}
	return reflect.DeepEqual(a, b)
}

// mapOf returns the value of an attribute that holds a map as JSON has it, with
// null for keys that stand for nothing.
func mapOf(a *attribute.Attribute) (any, error) {
	text, err := a.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var fields Changed
	if err := fields.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("reading attribute %q: %w", a.Name(), err)
	}
	return fields.Value(), nil
}

// jobOf returns what a command left of its job.
func jobOf(before, after *attribute.Attribute) *JobState {
	var j JobState
	if before.Name() != after.Name() {
		j.ID = after.Name()
	}
	if short := after.Text(attribute.FieldDefault); short != before.Text(attribute.FieldDefault) {
		j.ShortID = short
	}
	text := attribute.Text(after.Value())
	if detail, known := job.ParseDetail(text); known {
		j.State, j.Detail = detail.Primary(), detail
	} else {
		j.Word = text
	}
	if j == (JobState{}) {
		return nil
	}
	return &j
}

// Reduced returns e with its message reduced to the expected one, if that is a part of it.
func (e Expectation) Reduced(expected *Expectation) Expectation {
	switch {
	case expected == nil, expected.Status.Message == "":
		e.Status.Message = ""
	case strings.Contains(e.Status.Message, expected.Status.Message):
		e.Status.Message = expected.Status.Message
	}
	return e
}

// marshal writes JSON as it is stored: stable in order, and with < > & as they are.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
