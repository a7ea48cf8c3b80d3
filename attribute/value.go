package attribute

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Value is what a field of an attribute holds: nil, a string, a bool, an
// int, a []string or a map[string]string. Lists and maps handed to this
// package belong to it afterwards.
type Value any

// defaultType is the type that an attribute reports when none was set.
const defaultType = "java.lang.String"

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
		return mapText(v, nil)
	default:
		return ""
	}
}

func mapText(entries map[string]string, unset map[string]bool) string {
	pairs := make([]string, 0, len(entries))
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		entry := entries[key]
		if unset[key] {
			entry = "null"
		}
		pairs = append(pairs, key+"="+entry)
	}
	return "{" + strings.Join(pairs, ", ") + "}"
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

// parseInteger accepts what Java's Integer.parseInt accepts: an optional sign,
// then decimal digits of any script with any number of leading zeros, within 32 bits.
func parseInteger(text string) (int, bool) {
	digits := strings.TrimLeft(text, "+-")
	if digits == "" || len(text)-len(digits) > 1 {
		return 0, false
	}
	negative := text[0] == '-'
	number := 0
	for _, character := range digits {
		digit, ok := decimalDigit(character)
		if !ok {
			return 0, false
		}
		number = number*10 + digit
		if number > math.MaxInt32+1 {
			return 0, false
		}
	}
	if negative {
		return -number, true
	}
	return number, number <= math.MaxInt32
}

// decimalDigit returns the value of a digit. Unicode keeps the ten digits of a script in one
// run that starts with its zero; like Java, it only knows those of the basic multilingual
// plane.
func decimalDigit(character rune) (int, bool) {
	if character < utf8.RuneSelf {
		return int(character - '0'), '0' <= character && character <= '9'
	}
	for _, run := range unicode.Nd.R16 {
		if rune(run.Lo) <= character && character <= rune(run.Hi) {
			return int(character-rune(run.Lo)) % 10, true
		}
	}
	return 0, false
}

func cloneValue(value Value) Value {
	switch v := value.(type) {
	case []string:
		return slices.Clone(v)
	case map[string]string:
		return maps.Clone(v)
	default:
		return value
	}
}
