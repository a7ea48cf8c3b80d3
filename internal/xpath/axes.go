package xpath

// A visitor visits the nodes on an axis of a node or attribute, nearest first.
type visitor func(w *walk, from item, use func(item))

// An axis is the direction of a step.
type axis struct {
	visit visitor
	// isLevel says that nodes without descendants among them lead to nodes with the same property, in
	// order; isOrdered says only that they lead to nodes in order.
	isLevel, isOrdered bool
}

// Names of axes with abbreviations.
const (
	attributeAxis        = "attribute"
	childAxis            = "child"
	descendantOrSelfAxis = "descendant-or-self"
	parentAxis           = "parent"
	selfAxis             = "self"
)

var axes = map[string]axis{
	attributeAxis:        {visit: visitAttributes, isLevel: true, isOrdered: true},
	selfAxis:             {visit: visitSelf, isLevel: true, isOrdered: true},
	childAxis:            {visit: visitChildren, isLevel: true, isOrdered: true},
	"descendant":         {visit: visitDescendants, isOrdered: true},
	descendantOrSelfAxis: {visit: both(visitSelf, visitDescendants), isOrdered: true},
	parentAxis:           {visit: visitParent},
	"ancestor":           {visit: visitAncestors},
	"ancestor-or-self":   {visit: both(visitSelf, visitAncestors)},
	"following-sibling":  {visit: visitSiblingsBehind},
	"preceding-sibling":  {visit: visitSiblingsBefore},
	"following":          {visit: visitFollowing},
	"preceding":          {visit: visitPreceding},
}

func both(first, second visitor) visitor {
	return func(w *walk, from item, use func(item)) {
		first(w, from, use)
		second(w, from, use)
	}
}

func visitSelf(_ *walk, from item, use func(item)) { use(from) }

func visitAttributes(w *walk, from item, use func(item)) {
	if from.attribute != noAttribute {
		return
	}
	for i := range w.attributes(from.node) {
		use(item{from.node, i})
	}
}

func visitChildren(_ *walk, from item, use func(item)) {
	if from.attribute != noAttribute {
		return
	}
	for _, child := range from.node.Children {
		use(item{child, noAttribute})
	}
}

func visitDescendants(w *walk, from item, use func(item)) {
	visitChildren(w, from, func(child item) {
		use(child)
		visitDescendants(w, child, use)
	})
}

func visitParent(w *walk, from item, use func(item)) {
	if above, exists := w.parent(from); exists {
		use(above)
	}
}

func visitAncestors(w *walk, from item, use func(item)) {
	for above, exists := w.parent(from); exists; above, exists = w.parent(above) {
		use(above)
	}
}

func visitSiblingsBehind(w *walk, from item, use func(item)) {
	_, behind := w.siblings(from)
	for _, each := range behind {
		use(item{each, noAttribute})
	}
}

func visitSiblingsBefore(w *walk, from item, use func(item)) {
	before, _ := w.siblings(from)
	for at := len(before) - 1; at >= 0; at-- {
		use(item{before[at], noAttribute})
	}
}

// visitFollowing visits all nodes that begin after the end of a node, or after an attribute.
func visitFollowing(w *walk, from item, use func(item)) {
	if from.attribute != noAttribute {
		from = item{from.node, noAttribute}
		visitDescendants(w, from, use)
	}
	both(visitSelf, visitAncestors)(w, from, func(above item) {
		visitSiblingsBehind(w, above, func(each item) { both(visitSelf, visitDescendants)(w, each, use) })
	})
}

// visitPreceding visits all nodes that end before the beginning of a node, last first.
func visitPreceding(w *walk, from item, use func(item)) {
	both(visitSelf, visitAncestors)(w, from, func(above item) {
		visitSiblingsBefore(w, above, func(each item) { visitBackwards(w, each, use) })
	})
}

// visitBackwards visits a node and its descendants, last first.
func visitBackwards(w *walk, from item, use func(item)) {
	for at := len(from.node.Children) - 1; at >= 0; at-- {
		visitBackwards(w, item{from.node.Children[at], noAttribute}, use)
	}
	use(from)
}
