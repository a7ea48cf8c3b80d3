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

// An Initial is an environment as a file gives it to a replay: what is defined
// before the run, and for which job and parser.
type Initial struct {
	Selector      string // names a command and its parser, empty if the file does not
	Job           string // stands for @jobId, empty for none
	UseDefinition bool   // the definition's own attributes come first
	Attributes    []Keyed
}

// A Keyed is an attribute and the key of its variable.
type Keyed struct {
	Key string
	*Attribute
}

// UnmarshalJSON reads an attribute with its member key, which is its name where absent.
func (k *Keyed) UnmarshalJSON(text []byte) error {
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
	k.Attribute = &Attribute{}
	if err := k.setMembers(members); err != nil {
		return err
	}
	k.Key = k.Name()
	if key != nil {
		k.Key = *key
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads: the attribute, with a member key
// where the key is not the name.
func (k Keyed) MarshalJSON() ([]byte, error) {
	object, err := k.Attribute.MarshalJSON()
	if err != nil || k.Key == k.Name() && k.Field(FieldName) != nil {
		return object, err
	}
	var keyed bytes.Buffer
	keyed.WriteString(`{"key":`)
	if err := encode(&keyed, k.Key); err != nil {
		return nil, err
	}
	if len(object) > len("{}") {
		keyed.WriteByte(',')
	}
	keyed.Write(object[1:])
	return keyed.Bytes(), nil
}

type initialForm struct {
	Selector      string  `json:"selector,omitempty"`
	Job           *string `json:"uuid"`
	UseDefinition bool    `json:"useXmlAttributes,omitempty"`
	Attributes    []Keyed `json:"attributes"`
}

// UnmarshalJSON reads {"uuid": …, "attributes": […]}, with "selector" and
// "useXmlAttributes" where a case of its own has them.
func (i *Initial) UnmarshalJSON(text []byte) error {
	var form initialForm
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&form); err != nil {
		return fmt.Errorf("reading an initial environment: %w", err)
	}
	*i = Initial{Selector: form.Selector, UseDefinition: form.UseDefinition, Attributes: form.Attributes}
	if form.Job != nil {
		i.Job = *form.Job
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (i Initial) MarshalJSON() ([]byte, error) {
	form := initialForm{Selector: i.Selector, UseDefinition: i.UseDefinition, Attributes: i.Attributes}
	if form.Attributes == nil {
		form.Attributes = []Keyed{}
	}
	if i.Job != "" {
		form.Job = &i.Job
	}
	return json.Marshal(form)
}

// Define stores the attributes as variables, in place of those of the same key.
func (i Initial) Define(e *Environment) {
	for _, one := range i.Attributes {
		e.Define(one.Key, one.Attribute.Clone())
	}
}
