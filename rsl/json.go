package rsl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// EncodeJSON returns a specification as JSON, without positions. A boolean is {"&": [...]}, a
// relation {"rel": [NAME, OPERATOR, [VALUES]]}, a literal a string, a sequence an array, a reference
// {"var": [NAME]} or {"var": [NAME, DEFAULT]}, and a concatenation {"cat": [LEFT, RIGHT]}, where RIGHT
// may be one again. JSON cannot hold bytes that are not UTF-8: they become U+FFFD.
func EncodeJSON(spec Spec) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(specAsJSON(spec)); err != nil {
		return nil, fmt.Errorf("encoding RSL as JSON: %w", err)
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
}

func specAsJSON(spec Spec) any {
	switch s := spec.(type) {
	case *Boolean:
		children := make([]any, len(s.Specs))
		for i, child := range s.Specs {
			children[i] = specAsJSON(child)
		}
		return map[string]any{string(s.Operator): children}
	case *Relation:
		return map[string]any{"rel": []any{s.Name, string(s.Operator), valuesAsJSON(s.Values)}}
	}
	return nil
}

func valuesAsJSON(values []Value) []any {
	converted := make([]any, len(values))
	for i, value := range values {
		converted[i] = valueAsJSON(value)
	}
	return converted
}

func valueAsJSON(value Value) any {
	switch v := value.(type) {
	case *Literal:
		return v.Text
	case *Sequence:
		return valuesAsJSON(v.Values)
	case *Reference:
		name := []any{valueAsJSON(v.Name)}
		if v.Default != nil {
			name = append(name, valueAsJSON(v.Default))
		}
		return map[string]any{"var": name}
	case *Concatenation:
		last := len(v.Parts) - 1
		joined := valueAsJSON(v.Parts[last])
		for i := last - 1; i >= 0; i-- {
			joined = map[string]any{"cat": []any{valueAsJSON(v.Parts[i]), joined}}
		}
		return joined
	}
	return nil
}

// DecodeJSON reads what [EncodeJSON] writes.
func DecodeJSON(document []byte) (Spec, error) {
	if len(document) > 8*MaxSize {
		return nil, errors.New("reading RSL as JSON: the document is too long")
	}
	spec, err := specOfJSON(document, 1)
	if err != nil {
		return nil, fmt.Errorf("reading RSL as JSON: %w", err)
	}
	return spec, nil
}

var errDepth = fmt.Errorf("it is nested more than %d deep", MaxDepth)

// pairOf returns the name and the elements of an object with one name and an array.
func pairOf(document []byte) (name string, elements []json.RawMessage, err error) {
	var object map[string][]json.RawMessage
	if err := json.Unmarshal(document, &object); err != nil {
		return "", nil, err
	}
	if len(object) != 1 {
		return "", nil, fmt.Errorf("an object has %d names instead of one", len(object))
	}
	for name, elements = range object {
		if len(elements) == 0 {
			return "", nil, fmt.Errorf("%s has no elements", quote(name))
		}
	}
	return name, elements, nil
}

func specOfJSON(document []byte, depth int) (Spec, error) {
	if depth > MaxDepth {
		return nil, errDepth
	}
	name, elements, err := pairOf(document)
	if err != nil {
		return nil, err
	}
	switch Operator(name) {
	case And, Or, Multi:
		boolean := &Boolean{Operator: Operator(name)}
		for _, element := range elements {
			child, err := specOfJSON(element, depth+1)
			if err != nil {
				return nil, err
			}
			boolean.Specs = append(boolean.Specs, child)
		}
		return boolean, nil
	case "rel":
		return relationOfJSON(elements, depth)
	}
	return nil, fmt.Errorf("%s is neither an operator nor rel", quote(name))
}

func relationOfJSON(elements []json.RawMessage, depth int) (Spec, error) {
	if len(elements) != 3 {
		return nil, fmt.Errorf("rel has %d elements instead of three", len(elements))
	}
	relation := &Relation{}
	var values []json.RawMessage
	err := errors.Join(json.Unmarshal(elements[0], &relation.Name), json.Unmarshal(elements[1], &relation.Operator), json.Unmarshal(elements[2], &values))
	if err != nil {
		return nil, err
	}
	switch relation.Operator {
	case Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual:
	default:
		return nil, fmt.Errorf("%s is no operator of a relation", quote(string(relation.Operator)))
	}
	relation.Values, err = valuesOfJSON(values, depth)
	if err != nil {
		return nil, err
	}
	return relation, nil
}

func valuesOfJSON(elements []json.RawMessage, depth int) ([]Value, error) {
	if len(elements) == 0 {
		return nil, errors.New("a list of values is empty")
	}
	values := make([]Value, len(elements))
	for i, element := range elements {
		var err error
		if values[i], err = valueOfJSON(element, depth+1); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func valueOfJSON(document []byte, depth int) (Value, error) {
	if depth > MaxDepth {
		return nil, errDepth
	}
	switch document = bytes.TrimLeft(document, " \t\r\n"); document[0] {
	case '"':
		literal := &Literal{}
		return literal, json.Unmarshal(document, &literal.Text)
	case '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(document, &elements); err != nil {
			return nil, err
		}
		values, err := valuesOfJSON(elements, depth)
		return &Sequence{Values: values}, err
	}
	name, elements, err := pairOf(document)
	if err != nil {
		return nil, err
	}
	switch {
	case name == "var" && len(elements) <= 2:
		values, err := simpleOfJSON(elements, depth)
		if err != nil {
			return nil, err
		}
		reference := &Reference{Name: values[0]}
		if len(values) == 2 {
			reference.Default = values[1]
		}
		return reference, nil
	case name == "cat" && len(elements) == 2:
		return concatenationOfJSON(elements, depth)
	}
	return nil, fmt.Errorf("%s is no value, or has the wrong number of elements", quote(name))
}

// simpleOfJSON reads values that cannot be sequences.
func simpleOfJSON(elements []json.RawMessage, depth int) ([]Value, error) {
	values, err := valuesOfJSON(elements, depth)
	if err != nil {
		return nil, err
	}
	for _, value := range values {
		if _, isSequence := value.(*Sequence); isSequence {
			return nil, errors.New("a sequence is within a reference or a concatenation")
		}
	}
	return values, nil
}

// concatenationOfJSON reads a chain whose right sides are concatenations. Its length is bounded
// by the depth that package json reads.
func concatenationOfJSON(elements []json.RawMessage, depth int) (Value, error) {
	concatenation := &Concatenation{}
	for {
		parts, err := simpleOfJSON(elements[:1], depth)
		if err != nil {
			return nil, err
		}
		concatenation.Parts = append(concatenation.Parts, parts...)
		if name, right, err := pairOf(elements[1]); err == nil && name == "cat" && len(right) == 2 {
			elements = right
			continue
		}
		parts, err = simpleOfJSON(elements[1:], depth)
		if err != nil {
			return nil, err
		}
		concatenation.Parts = append(concatenation.Parts, parts...)
		return concatenation, nil
	}
}
