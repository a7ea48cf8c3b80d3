package tree

import (
	"strings"
	"unicode"
)

// OneLine makes outside text one bounded line that is safe to print, without control characters, invalid UTF-8
// and invisible characters.
func OneLine(text string) string {
	if len(text) > mostProblemBytes {
		text = text[:mostProblemBytes]
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text))
}
