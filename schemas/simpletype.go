package schemas

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A simpleType is a set of texts: a built-in one, a list of items, or a
// restriction of another one.
type simpleType struct {
	builtIn     string // string, boolean, int or long; empty for derived types
	item        *simpleType
	base        *simpleType
	enumeration []string
	patterns    []*regexp.Regexp // one must match
	least, most *int64
	minLength   int    // in characters, of lists in items
	expectation string // what a value must be, as a phrase
}

// builtInTypes are those of XSD that the schemas use, with what a value must be.
var builtInTypes = map[string]string{
	"string": "a text", "boolean": "true or false", "long": "a whole number",
	"int": "a whole number from -2147483648 to 2147483647",
}

// accepts reports whether a text as it stands in a document belongs to the type.
func (t *simpleType) accepts(value string) bool {
	switch {
	case t.item != nil:
		for item := range fields(value) {
			if !t.item.accepts(item) {
				return false
			}
		}
		return true
	case t.base == nil:
		return t.builtInAccepts(strings.Trim(value, blanks))
	}
	if !t.base.accepts(value) {
		return false
	}
	if t.isList() {
		return len(slices.Collect(fields(value))) >= t.minLength
	}
	if t.primitive() != "string" {
		value = strings.Trim(value, blanks)
	}
	return t.facetsAccept(value)
}

func (t *simpleType) builtInAccepts(value string) bool {
	switch t.builtIn {
	case "boolean":
		return value == "true" || value == "false" || value == "1" || value == "0"
	case "int", "long":
		size := 32
		if t.builtIn == "long" {
			size = 64
		}
		_, err := strconv.ParseInt(value, 10, size)
		return err == nil
	}
	return true
}

func (t *simpleType) facetsAccept(value string) bool {
	if len(t.enumeration) > 0 && !slices.Contains(t.enumeration, value) {
		return false
	}
	if len(t.patterns) > 0 && !slices.ContainsFunc(t.patterns, func(pattern *regexp.Regexp) bool { return pattern.MatchString(value) }) {
		return false
	}
	if t.least != nil || t.most != nil {
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil || t.least != nil && number < *t.least || t.most != nil && number > *t.most {
			return false
		}
	}
	return t.minLength == 0 || utf8.RuneCountInString(value) >= t.minLength
}

func (t *simpleType) isList() bool {
	return t.item != nil || t.base != nil && t.base.isList()
}

func (t *simpleType) primitive() string {
	for t.base != nil {
		t = t.base
	}
	return t.builtIn
}

// choices returns the values to choose from, where there is a fixed set.
func (t *simpleType) choices() []string {
	for ; t != nil; t = t.base {
		switch {
		case len(t.enumeration) > 0:
			return t.enumeration
		case t.item != nil:
			return t.item.choices()
		case t.builtIn == "boolean":
			return []string{"true", "false"}
		}
	}
	return nil
}

// expects says what a value must be, as a phrase without a full stop.
func (t *simpleType) expects() string {
	for ; t != nil; t = t.base {
		if t.expectation != "" {
			return t.expectation
		}
		if len(t.enumeration) > 0 {
			return "one of " + strings.Join(t.enumeration, ", ")
		}
		if t.item != nil {
			return "a list, separated by blanks, each " + t.item.expects()
		}
	}
	return "a value"
}

// outsideBothSyntaxes finds what means something else in an XSD pattern than it
// does in Go, or does not exist in one of them.
var outsideBothSyntaxes = lazyregexp.New(`[\^$&]|\\[^.\\]|-\[|\(\?|[*+?}]\?`)

func compilePattern(pattern string) (*regexp.Regexp, error) {
	if found := outsideBothSyntaxes.FindString(pattern); found != "" {
		return nil, fmt.Errorf("%q in the pattern %q is not known", found, pattern)
	}
	compiled, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("compile the pattern %q: %w", pattern, err)
	}
	return compiled, nil
}

const blanks = " \t\r\n"

// fields yields the parts of a text between blanks as XML knows them.
func fields(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(blanks, r) })
}
