package javaregex

import "strings"

// A source is the text of an expression with \Q…\E written out, so that the
// parser meets plain escapes only, and with the byte offset of each rune for
// error messages.
type source struct {
	runes   []rune
	offsets []int
	end     int // length of the expression in bytes
}

func newSource(expression string) source {
	return source{runes: make([]rune, 0, len(expression)), offsets: make([]int, 0, len(expression)), end: len(expression)}
}

func (s *source) add(r rune, offset int) {
	s.runes = append(s.runes, r)
	s.offsets = append(s.offsets, offset)
}

// addQuoted adds a rune that stands for itself; first says that it begins its quote.
func (s *source) addQuoted(r rune, offset int, first bool) {
	switch {
	case isASCIIDigit(r) && first:
		// As a hexadecimal escape the digit cannot join what stands before the quote.
		s.add('\\', offset)
		s.add('x', offset)
		s.add('3', offset)
	case r < 0x80 && !isASCIILetter(r) && !isASCIIDigit(r):
		s.add('\\', offset)
	}
	s.add(r, offset)
}

// runeAt returns the rune at an index, 0 beyond the end.
func (s *source) runeAt(index int) rune {
	if index < 0 || index >= len(s.runes) {
		return 0
	}
	return s.runes[index]
}

func (s *source) offset(index int) int {
	if index >= len(s.offsets) {
		return s.end
	}
	return s.offsets[max(index, 0)]
}

// readSource writes \Q…\E out: the quoting is undone before anything else is
// looked at, in Java too, so a quote may begin or end anywhere, even in a
// class, and a quantifier after \E takes the last quoted rune alone.
// A quote that is not closed runs to the end.
func readSource(expression string) source {
	plain := newSource(expression)
	for offset, r := range expression {
		plain.add(r, offset)
	}
	if !strings.Contains(expression, `\Q`) {
		return plain
	}
	result := newSource(expression)
	quoted, first := false, false
	for i := 0; i < len(plain.runes); i++ {
		r, offset := plain.runes[i], plain.offsets[i]
		switch {
		case quoted && r == '\\' && plain.runeAt(i+1) == 'E':
			quoted = false
			i++
		case quoted:
			result.addQuoted(r, offset, first)
			first = false
		case r == '\\' && plain.runeAt(i+1) == 'Q':
			quoted, first = true, true
			i++
		case r == '\\' && i+1 < len(plain.runes):
			result.add(r, offset)
			i++
			result.add(plain.runes[i], plain.offsets[i])
		default:
			result.add(r, offset)
		}
	}
	return result
}

func isASCIIDigit(r rune) bool { return '0' <= r && r <= '9' }

func isASCIILetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isOctalDigit(r rune) bool { return '0' <= r && r <= '7' }

func hexValue(r rune) (rune, bool) {
	switch {
	case isASCIIDigit(r):
		return r - '0', true
	case 'a' <= r && r <= 'f':
		return r - 'a' + 10, true
	case 'A' <= r && r <= 'F':
		return r - 'A' + 10, true
	}
	return 0, false
}
