package model

import (
	"errors"
	"fmt"
	"maps"
	"unicode"
	"unicode/utf8"
)

// A Definition describes an attribute and its valid values. Do not change it once it is in use.
type Definition struct {
	ID          string
	Type        Type
	Name        string   // label in views
	Description string   // shown on request
	Default     []string // value of elements without one; any number of texts for an array, otherwise one
	Display     bool     // whether views show the attribute by default
	Values      []string // valid values of an ENUMERATED attribute
	Limited     bool     // whether Min and Max bound an INTEGER or DOUBLE attribute
	Min, Max    float64  // both inclusive
}

// labels replace names that only readers of the protocol understand.
var labels = map[string]string{"queueId": "Queue", "launchedByPTP": "Through rmctl"}

// Label returns the label of the attribute in views: its name with a capital letter, or its id if it has
// no name.
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

// errDefinition is wrapped by every error about an invalid definition.
var errDefinition = errors.New("invalid attribute definition")

// validate checks the definition, including its default.
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
		return nil // a date may have no default: no time means "unknown"
	}
	if _, err := d.check(d.Default...); err != nil {
		return fmt.Errorf("%w %s: its default: %w", errDefinition, quoted(d.ID), err)
	}
	return nil
}

// defaultValue returns the value of elements without one.
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

// adHoc is the definition of an undefined attribute: text, labeled with its id.
func adHoc(id string) *Definition {
	return &Definition{ID: id, Type: String, Name: id, Description: id, Default: []string{""}, Display: true}
}
