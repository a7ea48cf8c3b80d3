package xmltree

import (
	"strings"
	"unicode/utf8"
)

// within returns where a byte of a text stands whose source begins at an offset: a
// value of an attribute or the text of an element. A text is shorter than its source
// where that has references such as &lt;. Comments and the beginnings and ends of
// sections of character data are not part of it; of a text that goes on after a child
// element only what stands before that is found.
//
// Bytes of one text that are sought in ascending order cost one pass over it, all together.
func (d *Document) within(begin, index int, isValue bool) Position {
	if d.walk.begin != begin || index < d.walk.read {
		inSection := !isValue && strings.HasSuffix(d.Text[:begin], sectionBegin)
		d.walk = sourceWalk{document: d, begin: begin, at: begin, isValue: isValue, inSection: inSection}
	}
	for d.walk.skipMarkup() && d.walk.read < index && d.walk.character() {
	}
	return d.position(d.walk.at)
}

// A sourceWalk goes over a document that was read before, and counts the bytes
// that a text has of it.
type sourceWalk struct {
	document  *Document
	begin     int // offset in the document at which the text begins
	at        int // offset in the document
	read      int // bytes of the text so far
	isValue   bool
	inSection bool
}

// character skips the next character of the text and reports whether there is one.
func (w *sourceWalk) character() bool {
	rest := w.document.Text[w.at:]
	switch {
	case rest == "":
		return false
	case rest[0] == '&' && !w.inSection:
		reader := documentReader{document: w.document, source: w.document.Text}
		character, after, err := reader.reference(w.at, len(reader.source))
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

// skipMarkup skips markup and reports whether text may follow.
func (w *sourceWalk) skipMarkup() bool {
	for {
		rest := w.document.Text[w.at:]
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
	_, after, _ := strings.Cut(w.document.Text[w.at:], end)
	w.at = len(w.document.Text) - len(after)
}
