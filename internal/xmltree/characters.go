package xmltree

import (
	"strings"
	"unicode/utf8"
)

const blanks = " \t\r\n"

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// skipBlanks returns the offset of the first character from an offset on that is
// not blank.
func skipBlanks(text string, at int) int {
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	return at
}

func isBlank(text string) bool { return skipBlanks(text, 0) == len(text) }

// isCharacter reports whether a character is valid in XML.
func isCharacter(r rune) bool {
	return r >= ' ' && r <= 0xd7ff || r == '\n' || r == '\t' || r == '\r' || r >= 0xe000 && r <= 0xfffd || r >= 0x10000
}

// checkCharacters refuses blank texts, bytes that are not UTF-8, and characters that are invalid in XML.
func (d *Document) checkCharacters() error {
	text := d.Text
	if isBlank(text) {
		return d.failure(0, "xml-syntax", "the file is empty")
	}
	if !utf8.ValidString(text) {
		return d.failure(invalidUTF8(text), "xml-encoding", "the file is not valid UTF-8").withHelp("save it as UTF-8")
	}
	for i := range len(text) {
		if !suspicious[text[i]] {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[i:]); !isCharacter(r) {
			return d.failure(i, "xml-syntax", "the character %U is not allowed in XML", r)
		}
	}
	return nil
}

// suspicious marks the first bytes of characters that are invalid in XML: control characters, U+FFFE and
// U+FFFF.
var suspicious = func() (marked [256]bool) {
	for c := range ' ' {
		marked[c] = !isCharacter(c)
	}
	marked["\ufffe"[0]] = true
	return marked
}()

// invalidUTF8 returns the offset of the first byte that is not UTF-8.
func invalidUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return i
		}
	}
	return len(text)
}
