package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Type is the type of an attribute's values.
type Type string

// The types.
const (
	Array      Type = "ARRAY"   // texts in their order
	Boolean    Type = "BOOLEAN" // true or false
	Date       Type = "DATE"    // a time after RFC 3339
	Double     Type = "DOUBLE"  // a finite number
	Enumerated Type = "ENUMERATED"
	Integer    Type = "INTEGER" // 64 bits, with a sign
	String     Type = "STRING"
)

// maxValueBytes bounds one value; of an array, all elements together.
const maxValueBytes = 64 << 10

// errValue is wrapped by errors for invalid values.
var errValue = errors.New("illegal value")

// A Value is a valid value of an attribute. Its zero value is the empty text.
type Value struct {
	valueType Type
	text      string // of an array, each element followed by arrayEnd
}

// arrayEnd ends each element of an array: arguments and environments cannot
// contain it.
const arrayEnd = "\x00"

// Type returns the type of the value.
func (v Value) Type() Type { return v.valueType }

// Text returns the value in the form that [Attribute] takes. For an array it returns the elements
// separated by spaces, for display only.
func (v Value) Text() string {
	if v.valueType == Array {
		return strings.Join(v.Array(), " ")
	}
	return v.text
}

// Array returns the elements of an array, and the text of every other value as the
// only element.
func (v Value) Array() []string {
	if v.valueType != Array {
		return []string{v.text}
	}
	if v.text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(v.text, arrayEnd), arrayEnd)
}

// Boolean returns a BOOLEAN value, and false for every other type.
func (v Value) Boolean() bool { return v.valueType == Boolean && v.text == "true" }

// Integer returns an INTEGER value, and 0 for every other type.
func (v Value) Integer() int64 {
	if v.valueType != Integer {
		return 0
	}
	number, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil {
		return 0 // unreachable for checked values
	}
	return number
}

// Double returns a DOUBLE or INTEGER value, and 0 for every other type.
func (v Value) Double() float64 {
	if v.valueType != Double && v.valueType != Integer {
		return 0
	}
	number, err := strconv.ParseFloat(v.text, 64)
	if err != nil {
		return 0 // unreachable for checked values
	}
	return number
}

// Time returns a DATE value, and the zero time for every other type.
func (v Value) Time() time.Time {
	if v.valueType != Date {
		return time.Time{}
	}
	date, err := time.Parse(time.RFC3339Nano, v.text)
	if err != nil {
		return time.Time{} // unreachable for checked values
	}
	return date
}

// check returns texts as a value of the definition: an array takes any number of texts, every other type
// exactly one. An error wraps errValue, quotes the value and lists the valid values.
func (d *Definition) check(texts ...string) (Value, error) {
	text, err := d.canonical(texts)
	if err != nil {
		return Value{}, err
	}
	return Value{d.Type, text}, nil
}

// canonical returns texts in the canonical form of a [Value].
func (d *Definition) canonical(texts []string) (string, error) {
	if d.Type == Array {
		return d.canonicalArray(texts)
	}
	if len(texts) != 1 {
		return "", fmt.Errorf("attribute %s: %w: expected one value, not %d", d.ID, errValue, len(texts))
	}
	text := texts[0]
	if len(text) > maxValueBytes {
		return "", fmt.Errorf("attribute %s: %w: %d bytes exceed the limit of %d", d.ID, errValue, len(text), maxValueBytes)
	}
	switch d.Type {
	case Boolean:
		return d.canonicalBoolean(text)
	case Integer:
		return d.canonicalInteger(text)
	case Double:
		return d.canonicalDouble(text)
	case Enumerated:
		if slices.Contains(d.Values, text) {
			return text, nil
		}
		return "", d.illegal(text, "one of "+strings.Join(d.Values, ", "))
	case Date:
		date, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return "", d.illegal(text, "a time such as 2026-01-31T12:00:00Z")
		}
		return date.Format(time.RFC3339Nano), nil
	default:
		return strings.ToValidUTF8(text, string(utf8.RuneError)), nil
	}
}

func (d *Definition) canonicalBoolean(text string) (string, error) {
	if lower := strings.ToLower(text); lower == "true" || lower == "false" {
		return lower, nil
	}
	return "", d.illegal(text, "true or false")
}

func (d *Definition) canonicalInteger(text string) (string, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || d.outside(float64(number)) {
		return "", d.illegal(text, d.numbers("a whole number"))
	}
	return strconv.FormatInt(number, 10), nil
}

func (d *Definition) canonicalDouble(text string) (string, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(number) || math.IsInf(number, 0) || d.outside(number) {
		return "", d.illegal(text, d.numbers("a number"))
	}
	return strconv.FormatFloat(number, 'g', -1, 64), nil
}

func (d *Definition) canonicalArray(texts []string) (string, error) {
	var joined strings.Builder
	for _, text := range texts {
		if strings.Contains(text, arrayEnd) {
			return "", d.illegal(text, "text without NUL")
		}
		if joined.Len()+len(text) >= maxValueBytes {
			return "", fmt.Errorf("attribute %s: %w: its %d elements have more than %d bytes", d.ID, errValue, len(texts), maxValueBytes)
		}
		joined.WriteString(strings.ToValidUTF8(text, string(utf8.RuneError)))
		joined.WriteString(arrayEnd)
	}
	return joined.String(), nil
}

func (d *Definition) outside(number float64) bool {
	return d.Limited && (number < d.Min || number > d.Max)
}

func (d *Definition) numbers(what string) string {
	if !d.Limited {
		return what
	}
	return fmt.Sprintf("%s from %g to %g", what, d.Min, d.Max)
}

func (d *Definition) illegal(text, wanted string) error {
	return fmt.Errorf("attribute %s: %w %s: expected %s", d.ID, errValue, quoted(text), wanted)
}

// quotedBytes bounds the part of an invalid text that a message shows.
const quotedBytes = 80

// quoted returns an untrusted text for a message, escaped and truncated.
func quoted(text string) string {
	if len(text) > quotedBytes {
		return strconv.Quote(strings.ToValidUTF8(text[:quotedBytes], "")) + "…"
	}
	return strconv.Quote(text)
}
