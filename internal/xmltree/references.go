package xmltree

import (
	"strconv"
	"strings"
	"unicode"
)

// expanded returns a part of the source with the characters that references in
// it stand for. Every line break becomes the given text, as does, where that is a
// space, every tab: so are values of attributes normalised. What a reference
// stands for is kept.
func (r *documentReader) expanded(begin, end int, lineBreak string) (string, error) {
	var b strings.Builder
	b.Grow(end - begin)
	for at := begin; at < end; {
		c := r.source[at]
		at++
		switch {
		case c == '&':
			character, after, err := r.reference(at-1, end)
			if err != nil {
				return "", err
			}
			b.WriteRune(character)
			at = after
		case c == '\r':
			b.WriteString(lineBreak)
			if at < end && r.source[at] == '\n' {
				at++
			}
		case c == '\n', c == '\t' && lineBreak == " ":
			b.WriteString(lineBreak)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

const knownReferences = "only &lt; &gt; &amp; &quot; &apos; and numeric references are known; write &amp; for a literal &"

var namedReferences = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\''}

// reference returns the character that a reference stands for and the offset
// after it. The text that it must be in ends at end.
func (r *documentReader) reference(begin, end int) (character rune, after int, err error) {
	nameBegin := begin + len("&")
	number := nameBegin < end && r.source[nameBegin] == '#'
	if number {
		nameBegin++
	}
	nameEnd := nameEnd(r.source[:end], nameBegin)
	name, after := r.source[nameBegin:nameEnd], nameEnd+len(";")
	switch {
	case nameEnd == end || r.source[nameEnd] != ';':
		return 0, 0, r.syntaxError(begin, "the & begins no reference").withHelp(knownReferences)
	case number:
		character, ok := numbered(name)
		if !ok {
			return 0, 0, r.syntaxError(begin, "the reference %q is not a character", r.source[begin:after])
		}
		return character, after, nil
	}
	if character, known := namedReferences[name]; known {
		return character, after, nil
	}
	return 0, 0, r.syntaxError(begin, "unknown entity %q", r.source[begin:after]).withHelp(knownReferences)
}

// numbered returns the character of a numeric reference, written in decimal or,
// after an x, in hexadecimal digits.
func numbered(text string) (character rune, ok bool) {
	base := 10
	if hexadecimal, found := strings.CutPrefix(text, "x"); found {
		text, base = hexadecimal, 16
	}
	number, err := strconv.ParseUint(text, base, 32)
	character = rune(number)
	return character, err == nil && number <= unicode.MaxRune && isCharacter(character)
}
