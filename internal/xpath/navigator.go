package xpath

import (
	"slices"

	"github.com/antchfx/xpath"
)

// tooMuchWork ends an evaluation.
type tooMuchWork struct{}

// A walk is one evaluation: where its navigators move, and how often they may.
type walk struct {
	root   *Node
	names  []string // of the attributes of the definition in the expression
	lookup Lookup
	moves  int
}

// move counts a move, and ends the evaluation after too many.
func (w *walk) move() {
	if w.moves++; w.moves > mostMoves {
		panic(tooMuchWork{})
	}
}

const noAttribute = -1

// A navigator moves over a record. Beside the attributes of an XML element every element
// has the attributes of the definition.
type navigator struct {
	*walk
	node      *Node
	index     int // of the node in its parent, if isIndexed
	isIndexed bool
	attribute int // index in attributes, or noAttribute
}

// NodeType returns what kind of node the navigator is at.
func (n *navigator) NodeType() xpath.NodeType {
	switch {
	case n.attribute != noAttribute:
		return xpath.AttributeNode
	case n.node == n.root:
		return xpath.RootNode
	}
	return xpath.ElementNode
}

// LocalName returns the name of the node.
func (n *navigator) LocalName() string {
	if n.attribute != noAttribute {
		return n.attributes()[n.attribute].Name
	}
	return n.node.Name
}

// Prefix returns nothing: fields have no namespaces.
func (n *navigator) Prefix() string { return "" }

// Value returns the text of the node.
func (n *navigator) Value() string {
	if n.attribute != noAttribute {
		return n.attributes()[n.attribute].Value
	}
	return n.node.Value()
}

// attributes returns the attributes of the node, and behind them those of the definition
// that the expression mentions and that the node does not have itself.
func (n *navigator) attributes() []Attribute {
	if len(n.names) == 0 || n.lookup == nil {
		return n.node.Attributes
	}
	attributes := slices.Clip(n.node.Attributes)
	for _, name := range n.names {
		isOwn := slices.ContainsFunc(n.node.Attributes, func(own Attribute) bool { return own.Name == name })
		if value, exists := n.lookup(name); exists && !isOwn {
			attributes = append(attributes, Attribute{name, value})
		}
	}
	return attributes
}

// Copy returns another navigator at the same node.
func (n *navigator) Copy() xpath.NodeNavigator {
	copied := *n
	return &copied
}

// MoveToRoot moves to the record.
func (n *navigator) MoveToRoot() {
	n.move()
	n.node, n.isIndexed, n.attribute = n.root, false, noAttribute
}

// MoveToParent moves to the node above, of an attribute to its element.
func (n *navigator) MoveToParent() bool {
	n.move()
	if n.attribute != noAttribute {
		n.attribute = noAttribute
		return true
	}
	if n.node == n.root || n.node.Parent == nil {
		return false
	}
	n.node, n.isIndexed = n.node.Parent, false
	return true
}

// MoveToNextAttribute moves to the next attribute, from an element to its first one.
func (n *navigator) MoveToNextAttribute() bool {
	n.move()
	if n.attribute+1 >= len(n.attributes()) {
		return false
	}
	n.attribute++
	return true
}

// MoveToChild moves to the first child.
func (n *navigator) MoveToChild() bool {
	n.move()
	if n.attribute != noAttribute || len(n.node.Children) == 0 {
		return false
	}
	n.node, n.index, n.isIndexed = n.node.Children[0], 0, true
	return true
}

// MoveToFirst moves to the first sibling.
func (n *navigator) MoveToFirst() bool { return n.moveTo(func(int) int { return 0 }) }

// MoveToNext moves to the next sibling.
func (n *navigator) MoveToNext() bool { return n.moveTo(func(index int) int { return index + 1 }) }

// MoveToPrevious moves to the sibling before.
func (n *navigator) MoveToPrevious() bool { return n.moveTo(func(index int) int { return index - 1 }) }

// moveTo moves to another sibling.
func (n *navigator) moveTo(other func(index int) int) bool {
	n.move()
	if n.attribute != noAttribute || n.node == n.root || n.node.Parent == nil {
		return false
	}
	siblings := n.node.Parent.Children
	if !n.isIndexed {
		n.index, n.isIndexed = slices.Index(siblings, n.node), true
		n.moves += n.index
	}
	at := other(n.index)
	if at < 0 || at >= len(siblings) {
		return false
	}
	n.node, n.index = siblings[at], at
	return true
}

// MoveTo moves to the node of another navigator over the same record.
func (n *navigator) MoveTo(to xpath.NodeNavigator) bool {
	other, isOurs := to.(*navigator)
	if !isOurs || other.root != n.root {
		return false
	}
	*n = *other
	return true
}
