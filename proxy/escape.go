package proxy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestExcerpt bounds what an error quotes.
const longestExcerpt = 400

// excerpt returns the beginning of a text in printable form.
func excerpt(text string) string {
	if len(text) <= longestExcerpt {
		return string(appendPrintable(nil, text))
	}
	return string(appendPrintable(nil, strings.ToValidUTF8(text[:longestExcerpt], ""))) + "…"
}

// appendPrintable appends a text with escapes for line breaks, control characters, backslashes,
// and bytes that are no UTF-8.
func appendPrintable(to []byte, text string) []byte {
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\\':
			to = append(to, `\\`...)
		case r == '\n':
			to = append(to, `\n`...)
		case r == '\r':
			to = append(to, `\r`...)
		case r == '\t':
			to = append(to, `\t`...)
		case r == utf8.RuneError && width == 1, !unicode.IsPrint(r):
			for _, octet := range []byte(text[i : i+width]) {
				to = append(to, '\\', 'x', hexDigits[octet>>4], hexDigits[octet&0xf])
			}
		default:
			to = append(to, text[i:i+width]...)
		}
		i += width
	}
	return to
}

// unescape reverses appendPrintable; false for a text with an escape that it does not write.
func unescape(text string) (string, bool) {
	if !strings.Contains(text, `\`) {
		return text, true
	}
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			plain.WriteByte(text[i])
			continue
		}
		octet, width := escaped(text[i+1:])
		if width == 0 {
			return "", false
		}
		plain.WriteByte(octet)
		i += width
	}
	return plain.String(), true
}

// escaped returns the byte that the escape after a backslash means, and the escape's width; 0 for an unknown one.
func escaped(text string) (octet byte, width int) {
	if text == "" {
		return 0, 0
	}
	switch text[0] {
	case '\\':
		return '\\', 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'x':
		if len(text) >= 3 {
			if number, isHex := parseHex(text[1:3]); isHex {
				return byte(number), 3
			}
		}
	}
	return 0, 0
}
