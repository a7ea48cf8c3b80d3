package config

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A documentPrinter records what merging does, and makes a [Merged] of the tree that it has left.
type documentPrinter struct {
	merged    *Merged
	overrides map[*xmltree.Element][]mergedOverride // by elements of the merged tree
	parts     map[*xmltree.Element]mergedPart
	text      strings.Builder
}

// document prints the tree of a definition as a separate document.
func (p *documentPrinter) document(root *xmltree.Element) {
	p.text.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--\n")
	fmt.Fprintf(&p.text, "  Made of %s.\n", xmltree.CommentText(strings.Join(p.merged.Files, ", which extends ")))
	for _, gone := range p.merged.Gone {
		how := "removed"
		if gone.Effect == replaces {
			how = "replaced"
		}
		fmt.Fprintf(&p.text, "  %s: %s\n", how, xmltree.CommentText(fmt.Sprintf("%s of %s, by %s", gone.Element, gone.Position, gone.By)))
	}
	p.text.WriteString("-->\n")
	p.element(root, 0, "", false)
}

const xsiNamespace = "http://www.w3.org/2001/XMLSchema-instance"

// element prints an element. Elements of the format get its present namespace,
// except in what belongs to another program (foreign): there no namespace is one, too.
func (p *documentPrinter) element(e *xmltree.Element, depth int, defaultSpace string, foreign bool) {
	indent := strings.Repeat("  ", depth)
	p.text.WriteString(indent)
	name, space := e.Name, e.Space
	switch {
	case space == xmltree.ExtensionNamespace:
		name, space = "x:"+name, defaultSpace
	case !foreign && xmltree.IsCore(space):
		space = xmltree.CoreNamespace
	}
	p.text.WriteString("<" + name)
	if space != defaultSpace {
		fmt.Fprintf(&p.text, " xmlns=\"%s\"", xmltree.Escape(space))
	}
	if depth == 0 {
		fmt.Fprintf(&p.text, " xmlns:x=\"%s\"", xmltree.ExtensionNamespace)
	}
	p.attributes(e, foreign)
	switch {
	case len(e.Children) == 0 && e.Text == "":
		p.text.WriteString("/>")
		p.origin(e)
	case len(e.Children) == 0:
		p.text.WriteString(">" + textEscapes.Replace(e.Text) + "</" + name + ">")
		p.origin(e)
	default:
		p.text.WriteString(">")
		p.origin(e)
		if strings.TrimSpace(e.Text) != "" {
			p.text.WriteString(textEscapes.Replace(e.Text))
		}
		p.text.WriteString("\n")
		for _, child := range e.Children {
			p.element(child, depth+1, space, foreign || e.Name == "layout" && depth == 2)
		}
		p.text.WriteString(indent + "</" + name + ">")
	}
	p.text.WriteString("\n")
}

func (p *documentPrinter) attributes(e *xmltree.Element, foreign bool) {
	prefixes := 0
	for _, attribute := range e.Attributes {
		name := attribute.Name
		switch {
		case attribute.Space == "" || !foreign && xmltree.IsCore(attribute.Space):
		case attribute.Space == xmltree.ExtensionNamespace:
			name = "x:" + name
		case attribute.Space == xmltree.XMLNamespace:
			name = "xml:" + name
		case attribute.Space == xsiNamespace:
			continue
		default:
			prefixes++
			fmt.Fprintf(&p.text, " xmlns:n%d=\"%s\"", prefixes, xmltree.Escape(attribute.Space))
			name = fmt.Sprintf("n%d:%s", prefixes, name)
		}
		fmt.Fprintf(&p.text, " %s=\"%s\"", name, xmltree.Escape(attribute.Value))
	}
}

// origin prints where a part comes from.
func (p *documentPrinter) origin(e *xmltree.Element) {
	part, ok := p.parts[e]
	if !ok || len(p.merged.Files) == 1 {
		return
	}
	text := part.Position
	if len(part.Sets) > 0 {
		text += ", sets " + strings.Join(part.Sets, ", ")
	}
	for _, one := range part.Overrides {
		text += fmt.Sprintf(", %s %s", one.Effect, one.Position)
	}
	p.text.WriteString(" <!-- " + xmltree.CommentText(text) + " -->")
}

// textEscapes are for what the reader would change in a text when it normalises line ends.
var textEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
