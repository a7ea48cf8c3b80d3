package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ParseJSON parses a document that is one object in JSON.
func ParseJSON(document []byte) (*Table, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	var object json.RawMessage
	if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
		return nil, &Error{Reason: "there is no object"}
	} else if err != nil {
		return nil, &Error{Reason: err.Error()}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, &Error{Reason: "there is more than one object"}
	}
	decoder = json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	parsed, err := parseJSON(decoder, 0)
	if err != nil {
		return nil, &Error{Reason: err.Error()}
	}
	if parsed.kind != kindTable {
		return nil, &Error{Reason: fmt.Sprintf("it is %s, but must be an object", parsed.kind)}
	}
	return parsed.table, nil
}

// parseJSON parses the next value, whose syntax is known to be right.
func parseJSON(decoder *json.Decoder, depth int) (*value, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case string:
		return &value{kind: kindText, text: token}, nil
	case bool:
		return &value{kind: kindBoolean, text: fmt.Sprint(token)}, nil
	case json.Number:
		if strings.ContainsAny(token.String(), ".eE") {
			return &value{kind: kindDecimal, text: token.String()}, nil
		}
		return &value{kind: kindInteger, text: token.String()}, nil
	case json.Delim:
		if depth == maxDepth {
			return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
		}
		if token == '[' {
			return parseJSONList(decoder, depth+1)
		}
		return parseJSONObject(decoder, depth+1)
	}
	return &value{kind: kindNull}, nil
}

func parseJSONList(decoder *json.Decoder, depth int) (*value, error) {
	parsed := &value{kind: kindList}
	for decoder.More() {
		item, err := parseJSON(decoder, depth)
		if err != nil {
			return nil, err
		}
		parsed.items = append(parsed.items, item)
	}
	_, err := decoder.Token()
	return parsed, err
}

func parseJSONObject(decoder *json.Decoder, depth int) (*value, error) {
	parsed := newTable()
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string)
		if _, twice := parsed.entries[key]; twice {
			return nil, fmt.Errorf("duplicate key %.200q", key)
		}
		member, err := parseJSON(decoder, depth)
		if err != nil {
			return nil, err
		}
		parsed.put(key, entry{value: member})
	}
	_, err := decoder.Token()
	return &value{kind: kindTable, table: parsed}, err
}

// EncodeJSON writes settings as an object. It leaves empty ones out.
func EncodeJSON(settings []Setting) ([]byte, error) {
	var object bytes.Buffer
	encoder := json.NewEncoder(&object)
	encoder.SetEscapeHTML(false) // left to the encoder of the whole answer
	separator := byte('{')
	for _, setting := range settings {
		if setting.isEmpty() {
			continue
		}
		object.WriteByte(separator)
		separator = ','
		if err := encoder.Encode(setting.Key); err != nil {
			return nil, err
		}
		object.WriteByte(':')
		if err := encoder.Encode(setting.Value); err != nil {
			return nil, err
		}
	}
	if separator == '{' {
		object.WriteByte('{')
	}
	object.WriteByte('}')
	var compact bytes.Buffer
	err := json.Compact(&compact, object.Bytes())
	return compact.Bytes(), err
}
