package schemas

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// words is what damaged documents are made of.
type words struct {
	elements, attributes []string
	nodes                []*node // to insert
}

func vocabulary(documents []*node) *words {
	w := &words{}
	for _, document := range documents {
		w.collect(document)
	}
	slices.Sort(w.elements)
	slices.Sort(w.attributes)
	w.elements = append(slices.Compact(w.elements), "wibble", "attributes", "Script")
	w.attributes = append(slices.Compact(w.attributes), "wobble", "nam", "Name")
	return w
}

func (w *words) collect(n *node) {
	if !strings.HasPrefix(n.symbol, "x:") && n.symbol != "resource-manager-builder" {
		w.elements = append(w.elements, n.symbol)
		if !n.hasExtensions() && len(w.nodes) < 3000 {
			w.nodes = append(w.nodes, n)
		}
	}
	for _, attribute := range n.attributes {
		w.attributes = append(w.attributes, attribute.name)
	}
	for _, child := range n.children {
		w.collect(child)
	}
}

// A damage is one way to change a document.
type damage int

const (
	drop damage = iota
	duplicate
	swap
	reorder
	rename
	move
	dropAttribute
	changeValue
	addAttribute
	addText
	insert

	damages // how many there are
	noDamage
)

// damage changes one thing about a document and names it. Many changes leave
// the document valid.
func (w *words) damage(root *node, random *rand.Rand) damage {
	parent, at := pick(root, random)
	if parent == nil {
		return noDamage
	}
	n := parent.children[at]
	extension := strings.HasPrefix(n.symbol, "x:")
	kind := damage(random.IntN(int(damages)))
	switch kind {
	case drop:
		parent.children = slices.Delete(parent.children, at, at+1)
	case duplicate:
		if once := []string{"x:extends", "x:find-job", "x:ids", "x:read", "x:for", "x:list-jobs", "x:list-ended", "x:list-nodes", "x:list-queues"}; !slices.Contains(once, n.symbol) {
			parent.children = slices.Insert(parent.children, at, n.clone())
		}
	case swap:
		if at > 0 {
			parent.children[at-1], parent.children[at] = n, parent.children[at-1]
		}
	case reorder:
		other := random.IntN(len(parent.children))
		parent.children[other], parent.children[at] = n, parent.children[other]
	case rename:
		if !n.hasExtensions() {
			n.symbol = w.elements[random.IntN(len(w.elements))]
		}
	case move:
		if !n.hasExtensions() {
			parent.children = slices.Delete(parent.children, at, at+1)
			to, place := pick(root, random)
			if to != nil {
				to.children = slices.Insert(to.children, place, n)
			}
		}
	case dropAttribute:
		if len(n.attributes) > 0 {
			which := random.IntN(len(n.attributes))
			n.attributes = slices.Delete(n.attributes, which, which+1)
		}
	case changeValue:
		if len(n.attributes) > 0 {
			n.attributes[random.IntN(len(n.attributes))].value = sampleValues[random.IntN(len(sampleValues))]
		}
	case addAttribute:
		if !extension || random.IntN(2) == 0 {
			w.addAttribute(n, random)
		}
	case addText:
		n.text += []string{"stray", " x ", "1"}[random.IntN(3)]
	case insert:
		parent.children = slices.Insert(parent.children, at, w.nodes[random.IntN(len(w.nodes))].clone())
	}
	return kind
}

func (w *words) addAttribute(n *node, random *rand.Rand) {
	name := w.attributes[random.IntN(len(w.attributes))]
	legacy := n.symbol == "target" && name == "type"
	present := slices.ContainsFunc(n.attributes, func(a nodeAttribute) bool { return a.name == name })
	if !legacy && !present {
		n.attributes = append(n.attributes, nodeAttribute{name, "30s"})
	}
}

// pick chooses a node below the root, each as likely, or nil.
func pick(root *node, random *rand.Rand) (parent *node, at int) {
	type place struct {
		parent *node
		at     int
	}
	var places []place
	var walk func(*node)
	walk = func(n *node) {
		for i, child := range n.children {
			places = append(places, place{n, i})
			walk(child)
		}
	}
	walk(root)
	if len(places) == 0 {
		return nil, 0
	}
	chosen := places[random.IntN(len(places))]
	return chosen.parent, chosen.at
}
