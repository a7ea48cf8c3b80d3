package xpath

// A comparison compares two values. For nodes it is true if any node matches: a missing field equals
// nothing and differs from nothing.
type comparison struct {
	operator    string
	left, right operand
}

func (comparison) kind() kind { return truthKind }

func (c comparison) evaluate(at *place) any {
	left, right := c.left.kind(), c.right.kind()
	switch {
	case left == truthKind || right == truthKind:
		return c.isRight(c.besideTruth(at, c.left), c.besideTruth(at, c.right))
	case left == nodesKind && right == nodesKind:
		others := texts(at, c.right)
		return anyText(at, c.left, func(text string) bool {
			for _, other := range others {
				at.move(1)
				if c.isRightText(text, other) {
					return true
				}
			}
			return false
		})
	case left == nodesKind && right == numberKind:
		other := number(at, c.right)
		return anyText(at, c.left, func(text string) bool { return c.isRight(parseNumber(text), other) })
	case left == numberKind && right == nodesKind:
		other := number(at, c.left)
		return anyText(at, c.right, func(text string) bool { return c.isRight(other, parseNumber(text)) })
	case left == nodesKind:
		other := text(at, c.right)
		return anyText(at, c.left, func(text string) bool { return c.isRightText(text, other) })
	case right == nodesKind:
		other := text(at, c.left)
		return anyText(at, c.right, func(text string) bool { return c.isRightText(other, text) })
	case left == numberKind || right == numberKind:
		return c.isRight(number(at, c.left), number(at, c.right))
	}
	return c.isRightText(text(at, c.left), text(at, c.right))
}

// besideTruth returns an operand converted for a comparison with a condition: to a condition for
// equality, to a number for order, unless it is nodes.
func (c comparison) besideTruth(at *place, of operand) float64 {
	if c.operator == "=" || c.operator == "!=" || of.kind() == nodesKind {
		return numberOf(truth(at, of))
	}
	return number(at, of)
}

// isRight compares numbers.
func (c comparison) isRight(left, right float64) bool {
	switch c.operator {
	case "=":
		return left == right
	case "!=":
		return left != right
	case "<":
		return left < right
	case "<=":
		return left <= right
	case ">":
		return left > right
	}
	return left >= right
}

// isRightText compares texts; their order is that of their numbers.
func (c comparison) isRightText(left, right string) bool {
	switch c.operator {
	case "=":
		return left == right
	case "!=":
		return left != right
	}
	return c.isRight(parseNumber(left), parseNumber(right))
}

// anyText reports whether the text of any node has a property.
func anyText(at *place, of operand, has func(string) bool) bool {
	if path, isPath := of.(*path); isPath && path.field != "" && at.attribute == noAttribute {
		at.move(len(at.node.Children))
		for _, child := range at.node.Children {
			if child.Name == path.field && has(at.text(item{child, noAttribute})) {
				return true
			}
		}
		return false
	} else if isPath && path.attribute != "" {
		found, exists := path.attributeOf(at)
		return exists && has(found)
	}
	for _, each := range of.(nodeSet).items(at) {
		if has(at.text(each)) {
			return true
		}
	}
	return false
}

// texts returns the texts of all nodes.
func texts(at *place, of operand) []string {
	items := of.(nodeSet).items(at)
	all := make([]string, len(items))
	for i, each := range items {
		all[i] = at.text(each)
	}
	return all
}
