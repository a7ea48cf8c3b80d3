package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Excerpt returns the problem with the line of the definition that it stands in, marked
// where it stands, and what to do. Characters of the line that a terminal would
// not show as one or two columns are replaced.
func (d Diagnostic) Excerpt() string {
	var text strings.Builder
	text.WriteString(d.String())
	if line, ok := d.SourceLine(); ok {
		line, at := nearby(line, d.Column-1)
		shown, marks := excerptOf(line, at, len(d.Replaces))
		number := fmt.Sprintf("%5d", d.Line)
		fmt.Fprintf(&text, "\n%s | %s\n%s | %s", number, shown, strings.Repeat(" ", len(number)), marks)
	}
	if advice := d.Advice(); advice != "" {
		text.WriteString("\n        " + advice)
	}
	return text.String()
}

// Advice returns what to do about the problem as a sentence for people; empty
// if nothing is known.
func (d Diagnostic) Advice() string {
	switch {
	case d.Suggestion == "":
		return ""
	case d.Replaces != "":
		return fmt.Sprintf("did you mean %q?", d.Suggestion)
	default:
		return "try: " + d.Suggestion
	}
}

// SourceLine returns the line that the problem stands in.
func (d Diagnostic) SourceLine() (line string, ok bool) {
	if d.Line < 1 {
		return "", false
	}
	source := strings.TrimPrefix(d.source, "\ufeff") // positions do not count it
	for range d.Line - 1 {
		_, source, ok = strings.Cut(source, "\n")
		if !ok {
			return "", false
		}
	}
	found, _, _ := strings.Cut(source, "\n")
	return strings.TrimSuffix(found, "\r"), true
}

// nearby returns the part of a line that an excerpt can be of, and where in it
// an offset is: lines may have megabytes, with thousands of problems.
func nearby(line string, at int) (string, int) {
	const far = 16 << 10 // combining characters take bytes and no columns
	at = min(max(at, 0), len(line))
	begin, end := max(at-far, 0), min(at+far, len(line))
	for begin > 0 && begin < at && !utf8.RuneStart(line[begin]) {
		begin++
	}
	return line[begin:end], at - begin
}

// The part of a long line that is shown, in columns of a terminal.
const (
	shownBefore = 60 // at most, left of what is marked
	shownWidth  = 110
)

// excerptOf returns the part of a line around what is marked, and the marks that
// stand below it: ^ under the first character and ~ under the others.
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

// startOfExcerpt returns where a line is cut at its beginning, so that not too
// much stands left of an offset.
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

// shownAs returns what is shown in the place of a character, and how many
// columns that takes.
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
