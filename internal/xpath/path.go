package xpath

// A path selects nodes and attributes in steps: from the record, from the place where it
// is evaluated, or from the nodes of another expression.
type path struct {
	isAbsolute bool
	from       nodeSet // nil for a path from the record or the place
	steps      []step
	field      string // of a path that is only the name of a field
	attribute  string // of a path that is only the name of an attribute
}

// A step leads from each node to others.
type step struct {
	axis       axis
	axisName   string // the name of the axis
	name       string // "*" for any element or attribute; empty for any node
	predicates []operand
	isOrdered  bool // it leads to nodes in the order of the record, without duplicates
}

// A filter selects some nodes of another expression.
type filter struct {
	from       nodeSet
	predicates []operand
}

// newPath returns a path that knows where its nodes have to be sorted.
func newPath(isAbsolute bool, from nodeSet, steps []step) *path {
	p := &path{isAbsolute: isAbsolute, from: from, steps: steps}
	isLevel := from == nil
	for i := range steps {
		steps[i].isOrdered = isLevel && steps[i].axis.isOrdered
		isLevel = isLevel && steps[i].axis.isLevel
	}
	if !isAbsolute && from == nil && len(steps) == 1 {
		p.setName(steps[0])
	}
	return p
}

// setName notes the name that the path consists of, if its only step is no more than that.
func (p *path) setName(only step) {
	switch {
	case len(only.predicates) > 0 || only.name == "*":
	case only.axisName == childAxis:
		p.field = only.name
	case only.axisName == attributeAxis:
		p.attribute = only.name
	}
}

func (*path) kind() kind   { return nodesKind }
func (*filter) kind() kind { return nodesKind }

func (p *path) evaluate(at *place) any   { return p.items(at) }
func (f *filter) evaluate(at *place) any { return f.items(at) }

// items returns what the path selects, in the order of the record.
func (p *path) items(at *place) []item {
	var items []item
	switch {
	case p.from != nil:
		items = p.from.items(at)
	case p.isAbsolute:
		items = []item{{at.root, noAttribute}}
	default:
		items = []item{at.item}
	}
	for i := range p.steps {
		items = p.steps[i].lead(at.walk, items)
	}
	return items
}

// fieldOf returns the first field of a path that is only a name.
func (p *path) fieldOf(at *place) (field item, exists bool) {
	if at.attribute != noAttribute {
		return item{}, false
	}
	for i, child := range at.node.Children {
		if child.Name == p.field {
			at.move(i + 1)
			return item{child, noAttribute}, true
		}
	}
	at.move(len(at.node.Children))
	return item{}, false
}

// attributeOf returns the text of the attribute of a path that is only a name.
func (p *path) attributeOf(at *place) (text string, exists bool) {
	at.move(1)
	if at.item.attribute != noAttribute {
		return "", false
	}
	for _, own := range at.node.Attributes {
		if own.Name == p.attribute {
			return own.Value, true
		}
	}
	if at.lookup == nil {
		return "", false
	}
	return at.lookup(p.attribute)
}

func (f *filter) items(at *place) []item { return keep(at.walk, f.from.items(at), f.predicates) }

// lead returns the nodes that the step leads to.
func (s *step) lead(w *walk, from []item) []item {
	var all []item
	for _, each := range from {
		begin := len(all)
		s.axis.visit(w, each, func(found item) {
			w.move(1)
			if s.isMeant(w, found) {
				all = append(all, found)
			}
		})
		all = append(all[:begin], keep(w, all[begin:], s.predicates)...)
	}
	if s.isOrdered {
		return all
	}
	return w.inOrder(all)
}

// isMeant reports whether a node on the axis has the name of the step.
func (s *step) isMeant(w *walk, found item) bool {
	if s.name == "" {
		return true
	}
	isAttribute := found.attribute != noAttribute
	if isAttribute != (s.axisName == attributeAxis) || !isAttribute && found.node == w.root {
		return false
	}
	return s.name == "*" || s.name == w.name(found)
}

// keep returns the items for which all predicates hold. A number is a position.
func keep(w *walk, items []item, predicates []operand) []item {
	for _, each := range predicates {
		kept := items[:0]
		at := place{walk: w, size: len(items)}
		for i, candidate := range items {
			w.move(1)
			at.item, at.position = candidate, i+1
			if each.kind() == numberKind && number(&at, each) == float64(at.position) || each.kind() != numberKind && truth(&at, each) {
				kept = append(kept, candidate)
			}
		}
		items = kept
	}
	return items
}
