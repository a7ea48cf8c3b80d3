package schemas

import (
	"strings"
	"unicode/utf8"
)

// Places finds where bytes of one text stand in the document. Those that are
// sought in ascending order cost one pass over the text, all together.
type Places struct {
	known          bool // whether the document is at hand; without it all have one place
	isValue        bool // of an attribute, not the text of an element
	begin, walk    sourceWalk
	first, reached placeInSource
}

// placeInSource is an offset with its line and column, both from 1.
type placeInSource struct{ offset, line, column int }

// ValuePlaces finds where bytes of an attribute's value stand. A value is shorter
// than what stands there where it was written with references such as &lt;.
func (e *Element) ValuePlaces(a Attribute) *Places {
	p := &Places{isValue: true, first: placeInSource{a.valueOffset, a.ValueLine, a.ValueColumn}}
	return p.from(e.document)
}

// TextPlaces finds where bytes of the element's text stand. Comments and the
// beginnings and ends of sections of character data are not part of the text. Of
// a text that goes on after a child element only what stands before that is found.
func (e *Element) TextPlaces() *Places {
	p := &Places{first: placeInSource{e.textOffset, e.TextLine, e.TextColumn}}
	if e.TextLine == 0 {
		return p.from(nil)
	}
	return p.from(e.document)
}

func (p *Places) from(document *string) *Places {
	p.reached = p.first
	if document == nil {
		return p
	}
	p.known = true
	p.begin = sourceWalk{source: *document, at: p.first.offset}
	p.begin.inSection = !p.isValue && strings.HasSuffix(p.begin.source[:p.begin.at], sectionBegin)
	p.walk = p.begin
	return p
}

// Of returns where a byte of the text stands, both from 1, the column in bytes.
func (p *Places) Of(index int) (line, column int) {
	if !p.known {
		return p.first.line, p.first.column
	}
	if index < p.walk.read {
		p.walk, p.reached = p.begin, p.first
	}
	for (p.isValue || p.walk.skipMarkup()) && p.walk.read < index && p.walk.character() {
	}
	p.reached = p.walk.place(p.reached)
	return p.reached.line, p.reached.column
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
