package schemas

import (
	"strings"
	"unicode/utf8"
)

// placeInSource is an offset with its line and column, both from 1.
type placeInSource struct{ offset, line, column int }

// ValuePlaces returns a function that finds where bytes of an attribute's value stand,
// both from 1, the column in bytes. Those that are sought in ascending order cost one pass
// over the text, all together. A value is shorter than what stands there where it was
// written with references such as &lt;.
func (e *Element) ValuePlaces(a Attribute) func(index int) (line, column int) {
	first := placeInSource{a.valueOffset, a.ValueLine, a.ValueColumn}
	return placesFrom(sourceWalk{source: *e.document, at: first.offset, isValue: true}, first)
}

// TextPlaces does that for bytes of the element's text, which must have some. Comments
// and the beginnings and ends of sections of character data are not part of the text. Of
// a text that goes on after a child element only what stands before that is found.
func (e *Element) TextPlaces() func(index int) (line, column int) {
	first := placeInSource{e.textOffset, e.TextLine, e.TextColumn}
	inSection := strings.HasSuffix((*e.document)[:first.offset], sectionBegin)
	return placesFrom(sourceWalk{source: *e.document, at: first.offset, inSection: inSection}, first)
}

func placesFrom(begin sourceWalk, first placeInSource) func(index int) (line, column int) {
	walk, reached := begin, first
	return func(index int) (line, column int) {
		if index < walk.read {
			walk, reached = begin, first
		}
		for walk.skipMarkup() && walk.read < index && walk.character() {
		}
		reached = walk.place(reached)
		return reached.line, reached.column
	}
}

// A sourceWalk goes over a document that was read before, and counts the bytes
// that a text has of it.
type sourceWalk struct {
	source    string
	at        int  // offset in source
	read      int  // bytes of the text so far
	isValue   bool // of an attribute, not the text of an element
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
		case w.isValue || w.inSection || !strings.HasPrefix(rest, "<"):
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

// place returns where the walk is, counted on from an earlier place.
func (w *sourceWalk) place(from placeInSource) placeInSource {
	passed := w.source[from.offset:w.at]
	here := placeInSource{offset: w.at, line: from.line, column: from.column + len(passed)}
	if breaks := strings.Count(passed, "\n"); breaks > 0 {
		here.line += breaks
		here.column = len(passed) - strings.LastIndexByte(passed, '\n')
	}
	return here
}
