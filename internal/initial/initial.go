// Package initial reads and writes the attributes with which a recorded command starts.
package initial

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/rmctl/rmctl/attribute"
)

// An Environment holds the attributes defined before a command runs, with its job and parser.
type Environment struct {
	Selector      string // names a command and its parser; empty for none
	Job           string // replaces @jobId; empty for none
	UseDefinition bool   // the definition's own attributes come first
	Attributes    []Attribute
}

// An Attribute is an attribute and the key of its variable.
type Attribute struct {
	Key string
	*attribute.Attribute
}

// UnmarshalJSON reads an attribute with its member key, which is its name where absent.
func (a *Attribute) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return fmt.Errorf("reading an attribute: %w", err)
	}
	var key *string
	if member, present := members["key"]; present {
		if err := json.Unmarshal(member, &key); err != nil {
			return fmt.Errorf("reading the key of an attribute: %w", err)
		}
		delete(members, "key")
	}
	others, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("reading an attribute: %w", err)
	}
	a.Attribute = &attribute.Attribute{}
	if err := a.Attribute.UnmarshalJSON(others); err != nil {
		return err
	}
	a.Key = a.Name()
	if key != nil {
		a.Key = *key
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads: the attribute, with a member key
// where the key is not the name.
func (a Attribute) MarshalJSON() ([]byte, error) {
	object, err := a.Attribute.MarshalJSON()
	if err != nil || a.Key == a.Name() && a.Field(attribute.FieldName) != nil {
		return object, err
	}
	var keyed bytes.Buffer
	encoder := json.NewEncoder(&keyed)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]string{"key": a.Key}); err != nil {
		return nil, err
	}
	keyed.Truncate(keyed.Len() - len("}\n"))
	if len(object) > len("{}") {
		keyed.WriteByte(',')
	}
	keyed.Write(object[1:])
	return keyed.Bytes(), nil
}

type document struct {
	Selector      string      `json:"selector,omitempty"`
	Job           *string     `json:"uuid"`
	UseDefinition bool        `json:"useXmlAttributes,omitempty"`
	Attributes    []Attribute `json:"attributes"`
}

// UnmarshalJSON reads {"uuid": …, "attributes": […]}, with "selector" and
// "useXmlAttributes" where a case of its own has them.
func (e *Environment) UnmarshalJSON(text []byte) error {
	var read document
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return fmt.Errorf("reading an initial environment: %w", err)
	}
	*e = Environment{Selector: read.Selector, UseDefinition: read.UseDefinition, Attributes: read.Attributes}
	if read.Job != nil {
		e.Job = *read.Job
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (e Environment) MarshalJSON() ([]byte, error) {
	written := document{Selector: e.Selector, UseDefinition: e.UseDefinition, Attributes: e.Attributes}
	if written.Attributes == nil {
		written.Attributes = []Attribute{}
	}
	if e.Job != "" {
		written.Job = &e.Job
	}
	return json.Marshal(written)
}

// Define stores the attributes as variables, and replaces those of the same key.
func (e Environment) Define(in *attribute.Environment) {
	for _, one := range e.Attributes {
		in.Define(one.Key, one.Attribute.Clone())
	}
}
