package jobstore

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/stored"
)

// Attribute values are recorded as JSON that keeps their types and every byte: each value
// is an object with one field that is named after its type, and a text that is not valid
// UTF-8 is an array of byte values.

// storedText is a text in JSON: a string, or the bytes where it is not valid UTF-8.
type storedText string

// MarshalJSON writes the text.
func (t storedText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	encoded := []byte{'['}
	for i := range len(t) {
		if i > 0 {
			encoded = append(encoded, ',')
		}
		encoded = strconv.AppendUint(encoded, uint64(t[i]), 10)
	}
	return append(encoded, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *storedText) UnmarshalJSON(encoded []byte) error {
	if len(encoded) > 0 && encoded[0] == '[' {
		// Not []byte, which JSON has as base64.
		var values []uint16
		if err := json.Unmarshal(encoded, &values); err != nil {
			return err
		}
		text := make([]byte, len(values))
		for i, value := range values {
			if value > 0xff {
				return fmt.Errorf("%d is not a byte", value)
			}
			text[i] = byte(value)
		}
		*t = storedText(text)
		return nil
	}
	var text string
	if err := json.Unmarshal(encoded, &text); err != nil {
		return err
	}
	*t = storedText(text)
	return nil
}

// storedEntry is one entry of a map; JSON's own objects would merge keys that
// differ in invalid bytes only.
type storedEntry struct {
	Key   storedText `json:"key"`
	Value storedText `json:"value"`
}

// storedValue is an attribute's value. No field is set for nil.
type storedValue struct {
	Name    storedText     `json:"name"`
	Text    *storedText    `json:"text,omitempty"`
	Boolean *bool          `json:"boolean,omitempty"`
	Integer *int           `json:"integer,omitempty"`
	List    *[]storedText  `json:"list,omitempty"`
	Map     *[]storedEntry `json:"map,omitempty"`
}

func encodeAttributes(attributes map[string]any) (string, error) {
	stored := make([]storedValue, 0, len(attributes))
	for name, value := range attributes {
		entry := storedValue{Name: storedText(name)}
		switch v := value.(type) {
		case nil:
		case string:
			text := storedText(v)
			entry.Text = &text
		case bool:
			entry.Boolean = &v
		case int:
			entry.Integer = &v
		case []string:
			list := convert[storedText](v)
			entry.List = &list
		case map[string]string:
			entries := make([]storedEntry, 0, len(v))
			for key, text := range v {
				entries = append(entries, storedEntry{storedText(key), storedText(text)})
			}
			entry.Map = &entries
		default:
			return "", fmt.Errorf("recording attribute %q: a value cannot be a %T", name, value)
		}
		stored = append(stored, entry)
	}
	encoded, err := json.Marshal(stored)
	if err != nil {
		return "", fmt.Errorf("recording the attributes: %w", err)
	}
	return string(encoded), nil
}

func decodeAttributes(encoded string) (map[string]any, error) {
	var entries []storedValue
	if err := json.Unmarshal([]byte(encoded), &entries); err != nil {
		return nil, fmt.Errorf("%w: attributes: %w", stored.ErrDamaged, err)
	}
	if len(entries) == 0 {
		return nil, nil
	}
	attributes := make(map[string]any, len(entries))
	for _, entry := range entries {
		attributes[string(entry.Name)] = entry.value()
	}
	return attributes, nil
}

func (v storedValue) value() any {
	switch {
	case v.Text != nil:
		return string(*v.Text)
	case v.Boolean != nil:
		return *v.Boolean
	case v.Integer != nil:
		return *v.Integer
	case v.List != nil:
		return convert[string](*v.List)
	case v.Map != nil:
		entries := make(map[string]string, len(*v.Map))
		for _, entry := range *v.Map {
			entries[string(entry.Key)] = string(entry.Value)
		}
		return entries
	default:
		return nil
	}
}

func encodeTexts(texts []string) (string, error) {
	encoded, err := json.Marshal(convert[storedText](texts))
	if err != nil {
		return "", fmt.Errorf("recording the arguments: %w", err)
	}
	return string(encoded), nil
}

func decodeTexts(encoded string) ([]string, error) {
	var texts []storedText
	if err := json.Unmarshal([]byte(encoded), &texts); err != nil {
		return nil, fmt.Errorf("%w: arguments: %w", stored.ErrDamaged, err)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	return convert[string](texts), nil
}

// convert converts texts to another type.
func convert[To, From ~string](texts []From) []To {
	converted := make([]To, len(texts))
	for i, text := range texts {
		converted[i] = To(text)
	}
	return converted
}
