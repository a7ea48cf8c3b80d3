// Package html builds HTML with a function for each element. It escapes texts and values of
// attributes.
//
// Names are those of maragu.dev/gomponents. Nodes are values instead of functions, which saves
// 1.7 MB of the binary.
package html

import (
	"html"
	"strings"
)

// A Node is an element, an attribute, a text, or a group of these. A nil node is nothing.
type Node interface {
	attribute(to *strings.Builder) // writes what belongs into the tag around it
	content(to *strings.Builder)   // writes what belongs after that tag
}

// HTML is what a node was rendered to. It is a node itself, and the only one that is
// not escaped: what is converted to it must be a constant.
type HTML string

func (HTML) attribute(*strings.Builder)    {}
func (s HTML) content(to *strings.Builder) { to.WriteString(string(s)) }

// Render writes a node as HTML.
func Render(n Node) HTML {
	var to strings.Builder
	Group{n}.content(&to)
	return HTML(to.String())
}

type text string

func (text) attribute(*strings.Builder)    {}
func (t text) content(to *strings.Builder) { to.WriteString(html.EscapeString(string(t))) }

// Text returns a text of a page.
//
//go:noinline
func Text(content string) Node { return text(content) }

type attribute struct {
	name, value string
	isFlag      bool
}

func (a attribute) content(*strings.Builder) {}

func (a attribute) attribute(to *strings.Builder) {
	to.WriteByte(' ')
	to.WriteString(a.name)
	if a.isFlag {
		return
	}
	to.WriteString(`="`)
	to.WriteString(html.EscapeString(a.value))
	to.WriteByte('"')
}

// Attr returns an attribute. Its name must be a constant.
//
//go:noinline
func Attr(name, value string) Node { return attribute{name: name, value: value} }

// Flag returns an attribute without a value. Its name must be a constant.
//
//go:noinline
func Flag(name string) Node { return attribute{name: name, isFlag: true} }

type element struct {
	name     string
	children Group
}

func (element) attribute(*strings.Builder) {}

func (e element) content(to *strings.Builder) {
	to.WriteByte('<')
	to.WriteString(e.name)
	e.children.attribute(to)
	to.WriteByte('>')
	switch e.name {
	case "input", "link", "meta":
		return // elements that have no content, nor an end
	}
	e.children.content(to)
	to.WriteString("</")
	to.WriteString(e.name)
	to.WriteByte('>')
}

// El returns an element. Its name must be a constant.
//
//go:noinline
func El(name string, children ...Node) Node { return element{name, children} }

// A Group are nodes that stand where one may.
type Group []Node

func (g Group) attribute(to *strings.Builder) {
	for _, n := range g {
		if n != nil {
			n.attribute(to)
		}
	}
}

func (g Group) content(to *strings.Builder) {
	for _, n := range g {
		if n != nil {
			n.content(to)
		}
	}
}

// Map returns what a function makes of each element of a list.
func Map[T any](list []T, draw func(T) Node) Group {
	nodes := make(Group, len(list))
	for i, one := range list {
		nodes[i] = draw(one)
	}
	return nodes
}

// If returns a node where a condition holds, else none.
func If(condition bool, n Node) Node {
	if condition {
		return n
	}
	return nil
}

// Iff returns what a function makes, which is called only where a condition holds.
func Iff(condition bool, make func() Node) Node {
	if condition {
		return make()
	}
	return nil
}

// Join puts a text between nodes.
func Join(separator string, nodes Group) Group {
	var all Group
	for i, n := range nodes {
		if i > 0 {
			all = append(all, Text(separator))
		}
		all = append(all, n)
	}
	return all
}
