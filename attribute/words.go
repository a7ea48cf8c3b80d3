package attribute

import "strings"

// Words splits an argument into words by the quoting rules of the reference
// engine: white space separates; "…" keeps everything but \" literally; '…'
// keeps everything; a backslash outside quotes keeps the next character, with
// a newline both vanish. An unterminated quote runs to the end, but an empty
// word that only such a quote makes is dropped.
func Words(text string) []string {
	var words []string
	var word strings.Builder
	inWord := false
	finish := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r', '\f', '\v':
			finish()
		case '\'', '"':
			end, content, closed := quoted(text, i)
			if closed || content != "" {
				inWord = true
			}
			word.WriteString(content)
			i = end
		case '\\':
			i++
			if i < len(text) && text[i] != '\n' {
				inWord = true
				word.WriteByte(text[i])
			}
		default:
			inWord = true
			word.WriteByte(c)
		}
	}
	finish()
	return words
}

// quoted reads the quoted text that starts at start and returns the index of
// its closing quote, or of the last character if nothing closes it.
func quoted(text string, start int) (end int, content string, closed bool) {
	quote := text[start]
	var literal strings.Builder
	for i := start + 1; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return i, literal.String(), true
		case quote == '"' && text[i] == '\\' && i+1 < len(text) && text[i+1] == '"':
			i++
			literal.WriteByte('"')
		default:
			literal.WriteByte(text[i])
		}
	}
	return len(text) - 1, literal.String(), false
}
