// Package excerpt shortens output of programs to one line.
package excerpt

import (
	"strings"
	"unicode"
)

// longest limits an excerpt, in characters.
const longest = 200

// Line returns a text as one line of at most 200 characters and an ellipsis.
func Line(text string) string {
	line := []rune(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " "))
	if len(line) > longest {
		line = append(line[:longest], '…')
	}
	return string(line)
}

// First returns the first line that is not blank, shortened like [Line].
func First(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return Line(line)
		}
	}
	return ""
}
