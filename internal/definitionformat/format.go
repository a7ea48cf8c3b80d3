// Package definitionformat lays out the XML of a definition without changing what it means:
// indentation, line breaks between elements and blanks in tags. Texts, comments and the order
// of everything stay.
package definitionformat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/xmltree"
)

const (
	longestLine = 160 // in which an element is kept on one line
	indentation = "  "
)

// Format returns the text of a definition in UTF-8, laid out. It is an error if the file
// cannot be read as XML. Formatting twice changes nothing more.
//
// Line breaks between elements stay where the author has put some. An element without any is
// kept on one line if that is short, and otherwise each of its children gets a line.
func Format(file string, source []byte) ([]byte, error) {
	document, err := xmltree.Read(file, source)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(strings.ReplaceAll(document.Text, "\r\n", "\n"), "\r", "\n")
	if document, err = xmltree.Read(file, []byte(utf8Declared(text))); err != nil {
		return nil, err
	}
	if root := document.Root; root.Name != sections[0] || !xmltree.IsCore(root.Space) {
		return nil, fmt.Errorf("%s: not a definition: the root element is <%s>", file, root.Name)
	}
	p := &printer{}
	p.document(&scanner{text: document.Text}, document.Root)
	formatted := []byte(p.out.String())
	again, err := xmltree.Read(file, formatted)
	if err != nil || !haveSameMeaning(document.Root, again.Root) {
		return nil, errors.New("the file is left as it is: formatting it would change its meaning")
	}
	return formatted, nil
}

// utf8Declared returns a text that is now UTF-8, with a matching declaration.
func utf8Declared(text string) string {
	if !strings.HasPrefix(text, "<?xml ") && !strings.HasPrefix(text, "<?xml\n") && !strings.HasPrefix(text, "<?xml\t") {
		return text
	}
	_, rest, _ := strings.Cut(text, "?>")
	return `<?xml version="1.0" encoding="UTF-8"?>` + rest
}

// textHolders are the elements in which blanks between elements belong to a text, and those
// that belong to other programs.
var textHolders = []string{"arg", "input", "regex", "expression", "exit-on", "exit-after", "layout"}

// sections are the elements that never hold a text.
var sections = []string{"resource-manager-builder", "site-data", "control-data", "monitor-data"}

// isLaidOut reports whether blanks in an element mean nothing.
func isLaidOut(e *xmltree.Element) bool {
	isCore := xmltree.IsCore(e.Space)
	if !isCore && e.Space != xmltree.ExtensionNamespace || isCore && slices.Contains(textHolders, e.Name) {
		return false
	}
	if space, _ := e.Lookup(xmltree.XMLNamespace, "space"); space.Value == "preserve" {
		return false
	}
	_, hasText := e.VisibleText()
	return !hasText && (len(e.Children) > 0 || isCore && slices.Contains(sections, e.Name))
}

// haveSameMeaning reports whether two elements differ in blanks that mean nothing at most.
func haveSameMeaning(a, b *xmltree.Element) bool {
	if a.Space != b.Space || a.Name != b.Name || a.Text != b.Text && !isLaidOut(a) {
		return false
	}
	return slices.EqualFunc(a.Attributes, b.Attributes, func(a, b xmltree.Attribute) bool {
		return a.Space == b.Space && a.Name == b.Name && a.Value == b.Value
	}) && slices.EqualFunc(a.Children, b.Children, haveSameMeaning)
}

// A printer writes nodes.
type printer struct{ out strings.Builder }

// document writes all of a document.
func (p *printer) document(s *scanner, root *xmltree.Element) {
	elements := []*xmltree.Element{root}
	for first := true; ; first = false {
		before := s.blank()
		if s.at == len(s.text) {
			break
		}
		n := s.node(&elements)
		n.before = before
		if !first {
			p.newLine(before, 0)
		}
		p.node(n, 0)
	}
	p.out.WriteByte('\n')
}

// newLine begins a line, after an empty one if there was one or more.
func (p *printer) newLine(written string, depth int) {
	p.out.WriteByte('\n')
	if strings.Count(written, "\n") > 1 {
		p.out.WriteByte('\n')
	}
	p.out.WriteString(strings.Repeat(indentation, depth))
}

// column returns how many characters are on the current line.
func (p *printer) column() int {
	text := p.out.String()
	return utf8.RuneCountInString(text[strings.LastIndexByte(text, '\n')+1:])
}

func (p *printer) node(n *node, depth int) {
	if n.element == nil {
		p.out.WriteString(reindented(n, depth))
		return
	}
	p.startTag(n, depth)
	switch {
	case !n.isClosed:
		return
	case !isLaidOut(n.element):
		p.out.WriteString(n.inside)
	default:
		p.children(n, depth)
	}
	p.out.WriteString("</" + n.name + ">")
}

// reindented returns a comment whose lines keep their indentation relative to its new
// position.
func reindented(n *node, depth int) string {
	_, indent, beginsLine := cutLast(n.before, "\n")
	if !beginsLine || indent == "" {
		return n.source
	}
	return strings.ReplaceAll(n.source, "\n"+indent, "\n"+strings.Repeat(indentation, depth))
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

func (p *printer) startTag(n *node, depth int) {
	p.out.WriteString("<" + n.name)
	for _, each := range n.attributes {
		if each.beginsLine {
			p.newLine("", depth+1)
		} else {
			p.out.WriteByte(' ')
		}
		p.out.WriteString(each.name + "=" + inDoubleQuotes(each.value))
	}
	if n.isClosed {
		p.out.WriteString(">")
	} else {
		p.out.WriteString("/>")
	}
}

// inDoubleQuotes returns a value in double quotes, unless it holds one.
func inDoubleQuotes(value string) string {
	inside := value[1 : len(value)-1]
	if strings.Contains(inside, `"`) {
		return value
	}
	return `"` + inside + `"`
}

// children writes the children of an element and moves to its end tag.
func (p *printer) children(n *node, depth int) {
	isBroken := strings.Contains(n.after, "\n") || slices.ContainsFunc(n.children, func(child *node) bool { return strings.Contains(child.before, "\n") })
	breaksAll := !isBroken && !n.fitsOnLine(longestLine-p.column()-len("</>")-len(n.name))
	for i, child := range n.children {
		switch {
		case breaksAll || strings.Contains(child.before, "\n"):
			p.newLine(child.before, depth+1)
		case child.before != "" && (child.element == nil || i > 0 && n.children[i-1].element == nil):
			p.out.WriteByte(' ') // between a comment and its neighbor
		}
		p.node(child, depth+1)
	}
	if breaksAll || strings.Contains(n.after, "\n") {
		p.newLine(n.after, depth)
	}
}

// fitsOnLine reports whether what is in an element takes no more than some characters, on one
// line.
func (n *node) fitsOnLine(characters int) bool {
	width := 0
	for _, child := range n.children {
		width += utf8.RuneCountInString(child.source) + len(" ")
		if width > characters || strings.Contains(child.source, "\n") {
			return false
		}
	}
	return true
}
