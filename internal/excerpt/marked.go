package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// nearby returns the part of a line around an offset, and the offset in it. Lines can have
// megabytes, with thousands of problems.
func nearby(line string, at int) (string, int) {
	const far = 16 << 10 // combining characters take bytes and no columns
	at = min(max(at, 0), len(line))
	begin, end := max(at-far, 0), min(at+far, len(line))
	for begin > 0 && begin < at && !utf8.RuneStart(line[begin]) {
		begin++
	}
	return line[begin:end], at - begin
}

// The limits of an excerpt, in columns of a terminal.
const (
	shownBefore = 60 // at most, before the mark
	shownWidth  = 110
)

// Marked returns the part of a line around the marked characters, and a line with ^ below
// the first and ~ below the others. It replaces characters that do not have one or two
// columns.
func Marked(line string, at, length int) (shown, marked string) {
	line, at = nearby(line, at)
	return excerptOf(line, at, length)
}

func excerptOf(line string, at, length int) (shown, marked string) {
	at = min(max(at, 0), len(line))
	end := at + length
	start := startOfExcerpt(line, at)
	var text, marks strings.Builder
	columns := 0
	if start > 0 {
		text.WriteString("…")
		marks.WriteByte(' ')
		columns++
	}
	hasMark := false
	for i, r := range line[start:] {
		r, wide := shownAs(r)
		if columns+wide > shownWidth {
			text.WriteString("…")
			break
		}
		text.WriteRune(r)
		columns += wide
		switch offset := start + i; {
		case offset < at:
			marks.WriteString(strings.Repeat(" ", wide))
		case !hasMark:
			marks.WriteString("^" + strings.Repeat("~", max(wide-1, 0)*min(length, 1)))
			hasMark = true
		case offset < end:
			marks.WriteString(strings.Repeat("~", wide))
		}
	}
	if !hasMark {
		marks.WriteByte('^')
	}
	return text.String(), marks.String()
}

// startOfExcerpt returns the start of the excerpt, to limit what precedes an offset.
func startOfExcerpt(line string, at int) int {
	columns := 0
	for _, r := range line {
		_, wide := shownAs(r)
		columns += wide
	}
	if columns <= shownWidth {
		return 0
	}
	columns = 0
	start := at
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:start])
		_, wide := shownAs(r)
		if columns += wide; columns > shownBefore {
			return start
		}
		start -= size
	}
	return 0
}

// shownAs returns the replacement of a character, and its number of columns.
func shownAs(r rune) (shown rune, columns int) {
	switch {
	case r == '\t':
		return ' ', 1
	case r == utf8.RuneError || !unicode.IsPrint(r):
		return '?', 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return r, 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return r, 2
	}
	return r, 1
}
