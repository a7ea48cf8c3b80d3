package definitionformat

import (
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A node is a part of a document as it is written: an element, a comment or an
// instruction, or blanks between them.
type node struct {
	source     string           // as written, without the blanks around it
	element    *xmltree.Element // nil for comments and instructions
	name       string           // of an element, with its prefix
	attributes []attribute
	inside     string // between the tags of an element, as written
	isClosed   bool   // by an end tag, not by />
	children   []*node
	before     string // the preceding blanks
	after      string // the blanks in front of the end tag
}

// An attribute is an XML attribute as written.
type attribute struct {
	name, value string // the value with its quotes
	beginsLine  bool
}

// A scanner splits the text of a document into nodes. The document is well-formed: it was
// read into a tree before.
type scanner struct {
	text string
	at   int
}

const blanks = " \t\n"

// blank reads blanks.
func (s *scanner) blank() string {
	rest := s.text[s.at:]
	read := rest[:len(rest)-len(strings.TrimLeft(rest, blanks))]
	s.at += len(read)
	return read
}

// through reads up to the end of a text, and that text.
func (s *scanner) through(end string) string {
	begin := s.at
	s.at += strings.Index(s.text[begin:], end) + len(end)
	return s.text[begin:s.at]
}

// startsWith reports whether the rest of the document begins with a text.
func (s *scanner) startsWith(text string) bool { return strings.HasPrefix(s.text[s.at:], text) }

// node reads a comment, an instruction, or the next of some elements with all that is in it.
func (s *scanner) node(elements *[]*xmltree.Element) *node {
	begin := s.at
	switch {
	case s.startsWith("<!--"):
		return &node{source: s.through("-->")}
	case s.startsWith("<?"):
		return &node{source: s.through("?>")}
	}
	n := &node{element: (*elements)[0]}
	*elements = (*elements)[1:]
	n.name, n.attributes, n.isClosed = s.startTag()
	if n.isClosed {
		content := s.at
		s.content(n)
		n.inside = s.text[content:s.at]
		s.through(">")
	}
	n.source = s.text[begin:s.at]
	return n
}

// startTag reads a start tag, and reports whether an end tag follows.
func (s *scanner) startTag() (name string, attributes []attribute, isOpen bool) {
	s.at++
	name = s.word()
	for {
		space := s.blank()
		switch {
		case s.startsWith("/>"):
			s.at += len("/>")
			return name, attributes, false
		case s.startsWith(">"):
			s.at++
			return name, attributes, true
		}
		each := attribute{name: s.word(), beginsLine: strings.Contains(space, "\n")}
		s.through("=")
		s.blank()
		begin := s.at
		s.at++
		s.through(s.text[begin : begin+1])
		each.value = s.text[begin:s.at]
		attributes = append(attributes, each)
	}
}

// word reads a name.
func (s *scanner) word() string {
	begin := s.at
	s.at += strings.IndexAny(s.text[begin:], blanks+"=/>")
	return s.text[begin:s.at]
}

// content reads what is in an element. Its nodes are of use only where no text is between
// them.
func (s *scanner) content(n *node) {
	below := n.element.Children
	for {
		before := s.blank()
		for !s.startsWith("<") || s.startsWith("<![CDATA[") {
			s.skipText()
		}
		if s.startsWith("</") {
			n.after = before
			return
		}
		child := s.node(&below)
		child.before = before
		n.children = append(n.children, child)
	}
}

// skipText skips text up to the next tag or section, or a section.
func (s *scanner) skipText() {
	if s.startsWith("<![CDATA[") {
		s.through("]]>")
		return
	}
	s.at += strings.IndexByte(s.text[s.at:], '<')
}
