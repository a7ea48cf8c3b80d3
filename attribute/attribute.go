// Package attribute holds typed attributes and resolves references to them, such as
// ${ptp_rm:queue#value}.
//
// An [Attribute] is a set of fields, among them its value. An [Environment] keeps attributes by
// name; [Environment.Resolve] replaces the references of a text. [Attribute.Check] checks a value
// with the attribute's [Validator]. [Words] splits a command line.
package attribute

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// An Attribute is a named set of fields. The zero value has every field unset;
// an unset text is not the same as an empty one.
type Attribute struct {
	fields    [fieldCount]Value
	unsetKeys map[string]bool // keys of the value's map that have no value
	collected int             // size of the value if it is a list or map

	// Validator checks values; nil takes all.
	Validator *Validator
	// Origin is the text that the value was read from; nil if not requested, or if the value
	// was not read from text. It must not be modified.
	Origin *Origin
}

// New returns an attribute with that name and nothing else set.
func New(name string) *Attribute {
	a := &Attribute{}
	a.fields[FieldName] = name
	return a
}

// Clone returns a copy that shares no list or map with a.
func (a *Attribute) Clone() *Attribute {
	copied := *a
	for field, value := range copied.fields {
		copied.fields[field] = cloneValue(value)
	}
	copied.unsetKeys = maps.Clone(a.unsetKeys)
	return &copied
}

// Equal reports whether all fields of two attributes are the same; validators
// are not compared.
func (a *Attribute) Equal(other *Attribute) bool {
	return reflect.DeepEqual(a.fields, other.fields)
}

// Name returns the name, empty while none is set.
func (a *Attribute) Name() string { return Text(a.fields[FieldName]) }

// Value returns the current value, or nil.
func (a *Attribute) Value() Value { return a.fields[FieldValue] }

// SetValue replaces the current value.
func (a *Attribute) SetValue(value Value) {
	a.fields[FieldValue] = value
	a.unsetKeys = nil
	a.collected = sizeOf(value)
}

// Visible reports whether users may edit the attribute; it is true unless set otherwise.
func (a *Attribute) Visible() bool {
	visible, set := a.fields[FieldVisible].(bool)
	return visible || !set
}

// ReadOnly reports whether callers are kept from changing the value.
func (a *Attribute) ReadOnly() bool {
	readOnly, _ := a.fields[FieldReadOnly].(bool)
	return readOnly
}

// Field returns the stored value of a field: nil where it was never set.
func (a *Attribute) Field(field Field) Value {
	if field >= fieldCount {
		return nil
	}
	return a.fields[field]
}

// Effective returns the value of a field as references see it: like Field, but
// with the defaults of type, visible and readOnly where they are not set.
func (a *Attribute) Effective(field Field) Value {
	switch field {
	case FieldVisible:
		return a.Visible()
	case FieldReadOnly:
		return a.ReadOnly()
	case FieldType:
		if a.fields[FieldType] == nil {
			return defaultType
		}
	}
	return a.Field(field)
}

// Text returns the text form of a field's effective value.
func (a *Attribute) Text(field Field) string {
	if entries, isMap := a.Field(field).(map[string]string); isMap {
		return mapText(entries, a.unsetKeys)
	}
	return Text(a.Effective(field))
}

// Set stores a value in a field, converted as the field demands: text fields
// take booleans and integers as text, booleans take texts (true in any case is
// true), integers take decimal texts. Nil unsets. Anything else, and what is
// larger than [LargestValue], is an error that names the attribute and the field.
func (a *Attribute) Set(field Field, value Value) error {
	converted, err := convert(field, value)
	if err != nil {
		return fmt.Errorf("setting %s of attribute %q: %w", field, a.Name(), err)
	}
	size := sizeOf(converted)
	if err := checkSize(a, field, size); err != nil {
		return err
	}
	a.fields[field] = converted
	if field == FieldValue {
		a.unsetKeys, a.collected = nil, size
	}
	return nil
}

func convert(field Field, value Value) (Value, error) {
	if value == nil && field.kind() != closedKind {
		return nil, nil
	}
	switch field.kind() {
	case anyKind:
		return value, nil
	case textKind:
		switch value.(type) {
		case string:
			return value, nil
		case bool, int:
			return Text(value), nil
		}
		return nil, fmt.Errorf("a list or map cannot be stored in a text field")
	case booleanKind:
		switch v := value.(type) {
		case bool:
			return v, nil
		case string:
			return strings.EqualFold(v, "true"), nil
		}
		return nil, fmt.Errorf("%q is not a boolean", Text(value))
	case integerKind:
		switch v := value.(type) {
		case int:
			return v, nil
		case string:
			if number, ok := parseInteger(v); ok {
				return number, nil
			}
		}
		return nil, fmt.Errorf("%q is not an integer", Text(value))
	default:
		return nil, fmt.Errorf("the field cannot be set")
	}
}

// An Origin is the text that the value of an attribute was read from.
type Origin struct {
	Stream string // that was read: stdout, stderr, or output where a command has both in one
	Line   int    // of the stream, counted from 1; 0 if it is not read line by line
	Text   string // the line without its end, shortened if it is long
}
