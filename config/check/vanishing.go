package check

import (
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// anyCharacter stands for a dot in what literalOf returns.
const anyCharacter = -1

// literalOf returns the one text that an expression matches, white space left
// out, with anyCharacter for each dot. It is not ok for an expression that can
// match texts of different lengths, or that it does not understand.
func literalOf(expression string) (literal []rune, ok bool) {
	escaped := false
	for _, r := range expression {
		switch {
		case escaped:
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return nil, false
			}
			literal, escaped = append(literal, r), false
		case r == '\\':
			escaped = true
		case r == '.':
			literal = append(literal, anyCharacter)
		case strings.ContainsRune("[](){}*+?|^$", r):
			return nil, false
		case !unicode.IsSpace(r):
			literal = append(literal, r)
		}
	}
	return literal, !escaped
}

// canMatch reports whether a text can match an expression whatever its
// references stand for. That it cannot is said only of expressions that match
// one text and nothing else. White space does not count, since the engine trims
// what is left where values are empty.
func canMatch(expression, text string) bool {
	literal, ok := literalOf(expression)
	if !ok {
		return true
	}
	parts := fixedParts(text)
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return len(first) == len(literal) && hasAt(literal, 0, first)
	}
	if len(first)+len(last) > len(literal) || !hasAt(literal, 0, first) || !hasAt(literal, len(literal)-len(last), last) {
		return false
	}
	at, end := len(first), len(literal)-len(last)
	for _, part := range parts[1 : len(parts)-1] {
		for at+len(part) <= end && !hasAt(literal, at, part) {
			at++
		}
		if at += len(part); at > end {
			return false
		}
	}
	return true
}

func hasAt(literal []rune, at int, part []rune) bool {
	for i, r := range part {
		if wanted := literal[at+i]; wanted != r && wanted != anyCharacter {
			return false
		}
	}
	return true
}

// fixedParts returns what stands before, between and after the references of a
// text, white space left out; there is one part more than references.
func fixedParts(text string) [][]rune {
	parts := [][]rune{nil}
	depth := 0
	for at, r := range text {
		switch {
		case strings.HasPrefix(text[at:], reference.Start+reference.Prefix+":"):
			depth++
			if depth == 1 {
				parts = append(parts, nil)
			}
		case r == '}' && depth > 0:
			depth--
		case depth == 0 && !unicode.IsSpace(r):
			parts[len(parts)-1] = append(parts[len(parts)-1], r)
		}
	}
	return parts
}

var special = lazyregexp.New(`[\\.*+?()\[\]{}|^$]`)

// escaped returns an expression that matches a text.
func escaped(text string) string { return special.ReplaceAllString(text, `\$0`) }
