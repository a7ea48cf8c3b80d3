package rsl

import (
	"bytes"
	"encoding/json"
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
		name := []any{v.Name}
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
