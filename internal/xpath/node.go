// Package xpath evaluates XPath 1.0 over the records of readers.
package xpath

import "strings"

// A Node is an element: a record, whose children are its fields, or what a record of JSON
// or XML has below it.
type Node struct {
	Name       string
	Text       string // its own, without that of its children
	Attributes []Attribute
	Parent     *Node
	Children   []*Node
	Line       int // of the output, from 1; 0 if unknown
}

// An Attribute is an attribute of an XML element.
type Attribute struct{ Name, Value string }

// Add adds a field at the end of the node's children, and returns it.
func (n *Node) Add(name, text string, line int) *Node {
	child := &Node{Name: name, Text: text, Parent: n, Line: line}
	n.Children = append(n.Children, child)
	return child
}

// Child returns the first child with a name, or nil.
func (n *Node) Child(name string) *Node {
	for _, child := range n.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// EachBelow calls do with each child of a node that has none itself, and with the items of
// those that have some. A missing node has no children.
func (n *Node) EachBelow(do func(name, text string, isItem bool)) {
	if n == nil {
		return
	}
	for _, child := range n.Children {
		if len(child.Children) == 0 {
			do(child.Name, child.Text, false)
		}
		for _, item := range child.Children {
			do(child.Name, item.Value(), true)
		}
	}
}

// Clone returns a copy of the node and of all below it, without a parent.
func (n *Node) Clone() *Node {
	copied := *n
	copied.Parent, copied.Children = nil, make([]*Node, len(n.Children))
	for i, child := range n.Children {
		copied.Children[i] = child.Clone()
		copied.Children[i].Parent = &copied
	}
	return &copied
}

// Value returns the text of the node and of all below it.
func (n *Node) Value() string {
	if len(n.Children) == 0 {
		return n.Text
	}
	var text strings.Builder
	n.write(&text)
	return text.String()
}

func (n *Node) write(text *strings.Builder) {
	text.WriteString(n.Text)
	for _, child := range n.Children {
		child.write(text)
	}
}
