package attribute

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// MarshalJSON returns the fields that are set, under their names, as JSON
// strings, booleans, integers, arrays and objects. Bytes that are not UTF-8
// show as U+FFFD. The validator is left out.
func (a *Attribute) MarshalJSON() ([]byte, error) {
	var object bytes.Buffer
	object.WriteByte('{')
	for field, value := range a.fields {
		if value == nil {
			continue
		}
		if object.Len() > 1 {
			object.WriteByte(',')
		}
		fmt.Fprintf(&object, "%q:", fieldNames[field])
		if Field(field) == FieldValue {
			value = a.jsonValue()
		}
		if err := encode(&object, value); err != nil {
			return nil, fmt.Errorf("writing %s of attribute %q: %w", Field(field), a.Name(), err)
		}
	}
	object.WriteByte('}')
	return object.Bytes(), nil
}

// jsonValue returns the value, with null for the entries of a map that have none.
func (a *Attribute) jsonValue() any {
	entries, isMap := a.Value().(map[string]string)
	if !isMap || len(a.unsetKeys) == 0 {
		return a.Value()
	}
	withNull := make(map[string]any, len(entries))
	for key, text := range entries {
		if a.unsetKeys[key] {
			withNull[key] = nil
		} else {
			withNull[key] = text
		}
	}
	return withNull
}

func encode(to *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	to.Truncate(to.Len() - 1) // Encode ends with a line feed
	return nil
}

// UnmarshalJSON reads what MarshalJSON writes. Fields that are null or absent
// are not set; unknown fields and values of a wrong type are errors.
func (a *Attribute) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return fmt.Errorf("reading an attribute: %w", err)
	}
	return a.setMembers(members)
}

func (a *Attribute) setMembers(members map[string]json.RawMessage) error {
	read := Attribute{}
	for name, member := range members {
		field, known := ParseField(name)
		if !known || field.String() != name {
			return fmt.Errorf("reading an attribute: there is no field %q", name)
		}
		if err := read.unmarshalField(field, member); err != nil {
			return fmt.Errorf("reading %s of an attribute: %w", name, err)
		}
	}
	*a = read
	return nil
}

func (a *Attribute) unmarshalField(field Field, text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return err
	}
	switch v := decoded.(type) {
	case nil:
		return nil
	case []any:
		list := make([]string, 0, len(v))
		for _, element := range v {
			text, isText := element.(string)
			if !isText {
				return errors.New("the elements of a list must be strings")
			}
			list = append(list, text)
		}
		return a.Set(field, list)
	case map[string]any:
		if err := a.Set(field, map[string]string{}); err != nil {
			return err
		}
		return a.unmarshalEntries(field, v)
	case json.Number:
		number, err := v.Int64()
		if err != nil || number < math.MinInt32 || number > math.MaxInt32 {
			return fmt.Errorf("%s is not an integer of 32 bits", v)
		}
		return a.Set(field, int(number))
	default:
		return a.Set(field, decoded)
	}
}

func (a *Attribute) unmarshalEntries(field Field, entries map[string]any) error {
	for key, entry := range entries {
		var err error
		switch v := entry.(type) {
		case nil:
			err = a.Put(field, key, "", false)
		case string:
			err = a.Put(field, key, v, true)
		default:
			err = errors.New("the entries of a map must be strings")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON returns {"attributes": …, "discovered": …}: the variables by
// their keys and the discovered attributes by their names.
func (e *Environment) MarshalJSON() ([]byte, error) {
	return json.Marshal(environmentForm{e.variables, e.discovered})
}

type environmentForm struct {
	Attributes map[string]*Attribute `json:"attributes"`
	Discovered map[string]*Attribute `json:"discovered"`
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Environment) UnmarshalJSON(text []byte) error {
	read := environmentForm{map[string]*Attribute{}, map[string]*Attribute{}}
	if err := json.Unmarshal(text, &read); err != nil {
		return fmt.Errorf("reading an environment: %w", err)
	}
	for _, set := range []map[string]*Attribute{read.Attributes, read.Discovered} {
		for key, attribute := range set {
			if attribute == nil {
				return fmt.Errorf("reading an environment: attribute %q is null", key)
			}
		}
	}
	e.variables, e.discovered = read.Attributes, read.Discovered
	return nil
}
