package schemas

import (
	"strings"
	"unicode/utf8"
)

// ValueWithin returns where a byte of an attribute's value stands in the
// document, both from 1, the column in bytes. A value is shorter than what
// stands there where it was written with references such as &lt;.
func (e *Element) ValueWithin(a Attribute, index int) (line, column int) {
	if e.document == nil {
		return a.ValueLine, a.ValueColumn
	}
	walk := sourceWalk{source: *e.document, at: a.valueOffset}
	for walk.read < index && walk.character() {
	}
	return walk.place(a.valueOffset, a.ValueLine, a.ValueColumn)
}

// TextWithin returns where a byte of the element's text stands in the document,
// as [Element.ValueWithin] does. Comments and the beginnings and ends of
// sections of character data are not part of the text. Of a text that goes on
// after a child element only what stands before that is found.
func (e *Element) TextWithin(index int) (line, column int) {
	if e.document == nil || e.TextLine == 0 {
		return e.TextLine, e.TextColumn
	}
	walk := sourceWalk{source: *e.document, at: e.textOffset}
	walk.inSection = strings.HasSuffix(walk.source[:walk.at], sectionBegin)
	for walk.skipMarkup() && walk.read < index && walk.character() {
	}
	return walk.place(e.textOffset, e.TextLine, e.TextColumn)
}

// A sourceWalk goes over a document that was read before, and counts the bytes
// that a text has of it.
type sourceWalk struct {
	source    string
	at        int // offset in source
	read      int // bytes of the text so far
	inSection bool
}

// character goes over the next character of the text and reports whether there is one.
func (w *sourceWalk) character() bool {
	rest := w.source[w.at:]
	switch {
	case rest == "":
		return false
	case rest[0] == '&' && !w.inSection:
		reader := documentReader{source: w.source}
		character, after, err := reader.reference(w.at, len(w.source))
		if err != nil {
			return false
		}
		w.at = after
		w.read += utf8.RuneLen(character)
	case strings.HasPrefix(rest, "\r\n"):
		w.at += len("\r\n")
		w.read++
	default:
		w.at++
		w.read++
	}
	return true
}

// skipMarkup goes over what is no text, and reports whether text may follow.
func (w *sourceWalk) skipMarkup() bool {
	for {
		rest := w.source[w.at:]
		switch {
		case w.inSection && strings.HasPrefix(rest, sectionEnd):
			w.at += len(sectionEnd)
			w.inSection = false
		case w.inSection || !strings.HasPrefix(rest, "<"):
			return rest != ""
		case strings.HasPrefix(rest, sectionBegin):
			w.at += len(sectionBegin)
			w.inSection = true
		case strings.HasPrefix(rest, commentBegin):
			w.skipPast("-->")
		case strings.HasPrefix(rest, "<?"):
			w.skipPast("?>")
		default:
			return false // a tag
		}
	}
}

func (w *sourceWalk) skipPast(end string) {
	length := strings.Index(w.source[w.at:], end)
	if length < 0 {
		w.at = len(w.source)
		return
	}
	w.at += length + len(end)
}

// place returns line and column, counted on from those of an earlier offset.
func (w *sourceWalk) place(from, line, column int) (int, int) {
	passed := w.source[from:w.at]
	if breaks := strings.Count(passed, "\n"); breaks > 0 {
		return line + breaks, len(passed) - strings.LastIndexByte(passed, '\n')
	}
	return line, column + len(passed)
}
