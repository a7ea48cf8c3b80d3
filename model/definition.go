package model

import (
	"errors"
	"fmt"
	"maps"
	"unicode"
	"unicode/utf8"
)

// A Definition says what an attribute is and which values it takes. It must not be
// changed once it is in use.
type Definition struct {
	ID          string
	Type        Type
	Name        string   // what a view shows beside the value
	Description string   // what a view shows on request
	Default     []string // the value of an element that was given none; of an array any number of texts, else one
	Display     bool     // whether views show the attribute unasked
	Values      []string // of an ENUMERATED attribute, what it takes
	Limited     bool     // whether Min and Max bound an INTEGER or DOUBLE attribute
	Min, Max    float64  // both inclusive
}

// labels are for names that say nothing to who has not read the protocol.
var labels = map[string]string{"queueId": "Queue", "launchedByPTP": "Through rmctl"}

// Label returns what pages and screens call the attribute: its name with a capital
// letter, or its id, as it is, where it has no name of its own.
func (d *Definition) Label() string {
	if label := labels[d.ID]; label != "" {
		return label
	}
	if d.Name == "" || d.Name == d.ID {
		return d.ID
	}
	first, size := utf8.DecodeRuneInString(d.Name)
	return string(unicode.ToUpper(first)) + d.Name[size:]
}

// maxDefinitions bounds the definitions of one model: unknown attributes get one
// each, and a scheduler could name a new one in every row.
const maxDefinitions = 1000

// maxIDBytes bounds the ids of elements and of definitions.
const maxIDBytes = 1024

// errDefinition is wrapped by every error about a definition that cannot be used.
var errDefinition = errors.New("unusable attribute definition")

// validate checks that the definition can be used, its default included.
func (d *Definition) validate() error {
	if d.ID == "" || len(d.ID) > maxIDBytes {
		return fmt.Errorf("%w %s: its id must have 1 to %d bytes", errDefinition, quoted(d.ID), maxIDBytes)
	}
	switch d.Type {
	case Array, Boolean, Date, Double, Enumerated, Integer, String:
	default:
		return fmt.Errorf("%w %s: unknown type %s", errDefinition, quoted(d.ID), quoted(string(d.Type)))
	}
	if d.Type == Date && len(d.Default) == 0 {
		return nil // a date may have no default: no time stands for "not known"
	}
	if _, err := d.check(d.Default...); err != nil {
		return fmt.Errorf("%w %s: its default: %w", errDefinition, quoted(d.ID), err)
	}
	return nil
}

// defaultValue returns the value of an element that was given none.
func (d *Definition) defaultValue() Value {
	value, err := d.check(d.Default...)
	if err != nil {
		return Value{valueType: d.Type} // a date without a default
	}
	return value
}

// definitions are attribute definitions by their id. They never change.
type definitions map[string]*Definition

// with returns the definitions and one more.
func (d definitions) with(definition *Definition) (definitions, error) {
	if err := definition.validate(); err != nil {
		return nil, err
	}
	if _, defined := d[definition.ID]; defined {
		return nil, fmt.Errorf("%w %s: the attribute is already defined", errDefinition, quoted(definition.ID))
	}
	if len(d) >= maxDefinitions {
		return nil, fmt.Errorf("%w %s: the model already has %d definitions, the maximum", errDefinition, quoted(definition.ID), len(d))
	}
	longer := maps.Clone(d)
	longer[definition.ID] = definition
	return longer, nil
}

// adHoc is the definition of an attribute that nobody defined: text, shown under
// its id.
func adHoc(id string) *Definition {
	return &Definition{ID: id, Type: String, Name: id, Description: id, Default: []string{""}, Display: true}
}
