package xpath

import (
	"cmp"
	"slices"
	"strings"
)

// tooMuchWork ends an evaluation.
type tooMuchWork struct{}

// A walk is one evaluation over a record: what it has visited, and how much more it may.
type walk struct {
	root   *Node
	names  []string // of the attributes of the definition in the expression
	lookup Lookup
	moves  int
	order  map[*Node]int // in the record; nil until an expression needs it
}

// move counts nodes that are visited, and ends the evaluation after too many.
func (w *walk) move(nodes int) {
	if w.moves += nodes; w.moves > mostMoves {
		panic(tooMuchWork{})
	}
}

const noAttribute = -1

// An item is a node of the record, or one of its attributes.
type item struct {
	node      *Node
	attribute int // index in the attributes of the node, or noAttribute
}

// A place is what an expression is evaluated on.
type place struct {
	*walk
	item
	position, size int
}

// attributes returns the attributes of a node, and behind them those of the definition
// that the expression mentions and that the node does not have itself.
func (w *walk) attributes(node *Node) []Attribute {
	if len(w.names) == 0 || w.lookup == nil {
		return node.Attributes
	}
	attributes := slices.Clip(node.Attributes)
	for _, name := range w.names {
		if slices.ContainsFunc(attributes, func(own Attribute) bool { return own.Name == name }) {
			continue
		}
		if value, exists := w.lookup(name); exists {
			attributes = append(attributes, Attribute{name, value})
		}
	}
	return attributes
}

// name returns the name of a node or attribute.
func (w *walk) name(of item) string {
	if of.attribute != noAttribute {
		return w.attributes(of.node)[of.attribute].Name
	}
	return of.node.Name
}

// text returns the text of a node with all below it, or of an attribute.
func (w *walk) text(of item) string {
	w.move(1)
	switch {
	case of.attribute != noAttribute:
		return w.attributes(of.node)[of.attribute].Value
	case len(of.node.Children) == 0:
		return of.node.Text
	}
	var text strings.Builder
	w.write(of.node, &text)
	return text.String()
}

func (w *walk) write(node *Node, text *strings.Builder) {
	w.move(1)
	text.WriteString(node.Text)
	for _, child := range node.Children {
		w.write(child, text)
	}
}

// parent returns what is above: of an attribute its node; nothing above the record.
func (w *walk) parent(of item) (above item, exists bool) {
	switch {
	case of.attribute != noAttribute:
		return item{of.node, noAttribute}, true
	case of.node == w.root || of.node.Parent == nil:
		return item{}, false
	}
	return item{of.node.Parent, noAttribute}, true
}

// siblings returns the nodes before and behind a node below the same parent.
func (w *walk) siblings(of item) (before, behind []*Node) {
	parent, exists := w.parent(of)
	if !exists || of.attribute != noAttribute {
		return nil, nil
	}
	all := parent.node.Children
	at := slices.Index(all, of.node)
	w.move(at)
	return all[:at], all[at+1:]
}

// inOrder sorts items as they stand in the record, and removes duplicates.
func (w *walk) inOrder(items []item) []item {
	if len(items) < 2 {
		return items
	}
	if w.order == nil {
		w.order = map[*Node]int{}
		w.number(w.root)
	}
	w.move(len(items))
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(w.order[a.node], w.order[b.node]), cmp.Compare(a.attribute, b.attribute))
	})
	return slices.Compact(items)
}

func (w *walk) number(node *Node) {
	w.move(1)
	w.order[node] = len(w.order)
	for _, child := range node.Children {
		w.number(child)
	}
}
