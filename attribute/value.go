package attribute

import (
	"sort"
	"strconv"
	"strings"
)

// A Value is what a field of an attribute holds: nil, a string, a bool, an
// int, a []string or a map[string]string. Lists and maps handed to this
// package belong to it afterwards.
type Value any

// DefaultType is the type that an attribute reports when none was set.
const DefaultType = "java.lang.String"

// Text returns the text form of a value as references and arguments show it:
// nil is empty, lists are [a, b], maps {k=v, l=w} with sorted keys.
func Text(value Value) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	case map[string]string:
		return mapText(v)
	default:
		return ""
	}
}

func mapText(entries map[string]string) string {
	keys := make([]string, 0, len(entries))
	for key := range entries {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	var text strings.Builder
	text.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(key)
		text.WriteByte('=')
		text.WriteString(entries[key])
	}
	text.WriteByte('}')
	return text.String()
}

// Literal converts a text as the reference converts literals: true and false
// in any case become booleans, decimal 32-bit integers become integers, all
// else stays text.
func Literal(text string) Value {
	if strings.EqualFold(text, "true") {
		return true
	}
	if strings.EqualFold(text, "false") {
		return false
	}
	if number, ok := parseInteger(text); ok {
		return number
	}
	return text
}

// parseInteger accepts what Java's Integer.parseInt accepts among ASCII
// digits: an optional sign and any number of leading zeros, within 32 bits.
func parseInteger(text string) (int, bool) {
	if text == "" || len(text) > 64 {
		return 0, false
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, false
	}
	return int(number), true
}

func cloneValue(value Value) Value {
	switch v := value.(type) {
	case []string:
		return append([]string(nil), v...)
	case map[string]string:
		copied := make(map[string]string, len(v))
		for key, entry := range v {
			copied[key] = entry
		}
		return copied
	default:
		return value
	}
}
