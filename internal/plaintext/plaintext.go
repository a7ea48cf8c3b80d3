// Package plaintext makes texts of other programs safe to print.
package plaintext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns a text with blanks in place of control characters, at most so many
// characters of it, in valid UTF-8.
func Clean(text string, longest int) string {
	if isPlain(text, longest) {
		return text
	}
	var cleaned strings.Builder
	count := 0
	for _, r := range text {
		if count++; count > longest {
			break
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			r = ' '
		}
		cleaned.WriteRune(r)
	}
	return strings.TrimSpace(cleaned.String())
}

// End returns at most so many bytes of the end of a text, without the rest of a character in which
// they begin.
func End(text string, bytes int) string {
	text = text[max(0, len(text)-bytes):]
	for range utf8.UTFMax - 1 {
		if text == "" || utf8.RuneStart(text[0]) {
			break
		}
		text = text[1:]
	}
	return text
}

// isPlain reports whether a text is short and printable ASCII, so that it is clean.
func isPlain(text string, longest int) bool {
	if len(text) > longest {
		return false
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= utf8.RuneSelf || text[i] == 0x7f {
			return false
		}
	}
	return !strings.HasPrefix(text, " ") && !strings.HasSuffix(text, " ")
}
