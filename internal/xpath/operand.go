package xpath

import (
	"math"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A kind is the type of a value, which an expression has whatever the record is.
type kind uint8

const (
	textKind kind = iota
	numberKind
	truthKind
	nodesKind
)

// An operand is a part of an expression. Its value is a string, a float64, a bool or, of a
// nodeSet, a []item.
type operand interface {
	kind() kind
	evaluate(at *place) any
}

// A nodeSet is an operand that selects nodes.
type nodeSet interface {
	operand
	items(at *place) []item
}

// text returns the value of an operand as a text: of nodes that of the first.
func text(at *place, of operand) string {
	if path, isPath := of.(*path); isPath && path.field != "" {
		if found, exists := path.fieldOf(at); exists {
			return at.text(found)
		}
		return ""
	} else if isPath && path.attribute != "" {
		found, _ := path.attributeOf(at)
		return found
	}
	switch value := of.evaluate(at).(type) {
	case string:
		return value
	case float64:
		return formatNumber(value)
	case bool:
		return strconv.FormatBool(value)
	case []item:
		if len(value) > 0 {
			return at.text(value[0])
		}
	}
	return ""
}

// number returns the value of an operand as a number.
func number(at *place, of operand) float64 {
	switch of.kind() {
	case numberKind:
		return of.evaluate(at).(float64)
	case truthKind:
		return numberOf(truth(at, of))
	}
	return parseNumber(text(at, of))
}

// truth returns the value of an operand as a condition: nodes are true if there are any.
func truth(at *place, of operand) bool {
	if path, isPath := of.(*path); isPath && path.field != "" {
		_, exists := path.fieldOf(at)
		return exists
	} else if isPath && path.attribute != "" {
		_, exists := path.attributeOf(at)
		return exists
	}
	switch value := of.evaluate(at).(type) {
	case string:
		return value != ""
	case float64:
		return value != 0 && !math.IsNaN(value)
	case []item:
		return len(value) > 0
	case bool:
		return value
	}
	return false
}

func numberOf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

// numberInText matches the numbers of XPath, and those of JSON with an exponent.
var numberInText = lazyregexp.New(`^-?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$`)

// parseNumber returns the number in a text, or NaN.
func parseNumber(text string) float64 {
	text = strings.Trim(text, blanks)
	if !numberInText.MatchString(text) {
		return math.NaN()
	}
	value, _ := strconv.ParseFloat(text, 64) // infinite if it is too large
	return value
}

// blanks are the characters that XML takes for white space.
const blanks = " \t\r\n"

// formatNumber writes a number as XPath does.
func formatNumber(number float64) string {
	switch {
	case math.IsNaN(number):
		return "NaN"
	case math.IsInf(number, 1):
		return "Infinity"
	case math.IsInf(number, -1):
		return "-Infinity"
	case number == 0:
		return "0" // not -0
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
}

// A literal is a text or a number in an expression.
type literal struct{ value any }

func (l literal) kind() kind {
	if _, isNumber := l.value.(float64); isNumber {
		return numberKind
	}
	return textKind
}

func (l literal) evaluate(*place) any { return l.value }

// A condition is two operands with "and" or "or".
type condition struct {
	isOr        bool
	left, right operand
}

func (condition) kind() kind { return truthKind }

func (c condition) evaluate(at *place) any {
	if truth(at, c.left) == c.isOr {
		return c.isOr
	}
	return truth(at, c.right)
}

// A calculation is two numbers with an operator.
type calculation struct {
	operator    string
	left, right operand
}

func (calculation) kind() kind { return numberKind }

func (c calculation) evaluate(at *place) any {
	left, right := number(at, c.left), number(at, c.right)
	switch c.operator {
	case "+":
		return left + right
	case "-":
		return left - right
	case "*":
		return left * right
	case "div":
		return left / right
	}
	return math.Mod(left, right)
}

// A negation is a number with the other sign.
type negation struct{ of operand }

func (negation) kind() kind { return numberKind }

func (n negation) evaluate(at *place) any { return -number(at, n.of) }

// A union is what either of two expressions selects.
type union struct{ left, right nodeSet }

func (union) kind() kind { return nodesKind }

func (u union) evaluate(at *place) any { return u.items(at) }

func (u union) items(at *place) []item {
	return at.inOrder(append(u.left.items(at), u.right.items(at)...))
}
