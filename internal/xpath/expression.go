package xpath

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/antchfx/xpath"
)

// errTooMuchWork is the error of an expression that looks at too many nodes.
var errTooMuchWork = errors.New("the expression takes too much work")

// mostMoves is how many nodes one evaluation may look at. There is no other way to stop it.
const mostMoves = 1_000_000

// An Expression is a compiled expression: XPath 1.0, or a list of names of fields, of
// which the first with a value counts. It is for one goroutine at a time.
type Expression struct {
	names      []string    // of a list of fields; nil for XPath
	compiled   *xpath.Expr // nil for a list of fields
	shortcut   *shortcut   // in place of compiled; nil for most
	fields     []string
	attributes []string
}

// A Lookup returns the text of an attribute of the definition, which expressions write @name.
type Lookup func(name string) (value string, exists bool)

// Compile compiles an expression. It is an error if a pattern of matches or replace is not
// literal.
func Compile(text string) (*Expression, error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	e := &Expression{}
	isList := len(tokens) > 0
	for at, each := range tokens {
		isList = isList && each.kind == nameToken
		switch {
		case each.kind == attributeToken:
			e.attributes = append(e.attributes, each.text)
		case each.kind == nameToken && !isCall(tokens, at) && !isAxis(tokens, at):
			e.fields = append(e.fields, each.text)
		}
	}
	if isList {
		e.names = e.fields
		return e, nil
	}
	if err := checkPatterns(tokens); err != nil {
		return nil, err
	}
	e.shortcut = shortcutOf(tokens)
	e.compiled, err = compile(text)
	return e, err
}

// compile compiles XPath. The library panics on some expressions.
func compile(text string) (compiled *xpath.Expr, err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("%v", failed)
		}
	}()
	return xpath.Compile(text)
}

// Fields returns the names of fields in the expression.
func (e *Expression) Fields() []string { return e.fields }

// Attributes returns the names that the expression has after an @.
func (e *Expression) Attributes() []string { return e.attributes }

// FieldName returns the name of the field that the expression consists of.
func (e *Expression) FieldName() (string, bool) {
	if len(e.names) != 1 {
		return "", false
	}
	return e.names[0], true
}

// Text returns the value for a record as a text; of several nodes that of the first.
func (e *Expression) Text(record *Node, attribute Lookup) (string, error) {
	if e.compiled == nil {
		return e.firstField(record), nil
	}
	if e.shortcut != nil && e.shortcut.isText() {
		return e.shortcut.text(record, attribute), nil
	}
	texts, err := e.evaluate(record, attribute, 1)
	if err != nil || len(texts) == 0 {
		return "", err
	}
	return texts[0], nil
}

// Texts returns the values of all selected nodes that are not empty, or the one value of an
// expression that is a text, a number or a condition.
func (e *Expression) Texts(record *Node, attribute Lookup) ([]string, error) {
	var texts []string
	var err error
	switch {
	case e.compiled == nil:
		texts = []string{e.firstField(record)}
	case e.shortcut != nil && e.shortcut.isText():
		texts = []string{e.shortcut.text(record, attribute)}
	default:
		texts, err = e.evaluate(record, attribute, math.MaxInt)
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" }), err
}

// firstField returns the value of the first field of a list that has one.
func (e *Expression) firstField(record *Node) string {
	for _, name := range e.names {
		if field := record.Child(name); field != nil {
			if value := field.Value(); value != "" {
				return value
			}
		}
	}
	return ""
}

// Bool reports whether a condition holds for a record, as XPath converts values: a list of
// nodes does if there are any.
func (e *Expression) Bool(record *Node, attribute Lookup) (holds bool, err error) {
	if e.compiled == nil {
		return slices.ContainsFunc(e.names, func(name string) bool { return record.Child(name) != nil }), nil
	}
	if e.shortcut != nil && !e.shortcut.isText() {
		return e.shortcut.holds(record, attribute), nil
	}
	err = e.run(record, attribute, func(value any) {
		switch value := value.(type) {
		case bool:
			holds = value
		case float64:
			holds = value != 0 && !math.IsNaN(value)
		case string:
			holds = value != ""
		case *xpath.NodeIterator:
			holds = value.MoveNext()
		}
	})
	return holds, err
}

// evaluate returns the texts of at most some nodes, or that of another value.
func (e *Expression) evaluate(record *Node, attribute Lookup, most int) (texts []string, err error) {
	err = e.run(record, attribute, func(value any) {
		switch value := value.(type) {
		case bool:
			texts = []string{strconv.FormatBool(value)}
		case float64:
			texts = []string{formatNumber(value)}
		case string:
			texts = []string{value}
		case *xpath.NodeIterator:
			for len(texts) < most && value.MoveNext() {
				texts = append(texts, value.Current().Value())
			}
		}
	})
	return texts, err
}

// run evaluates the expression and passes its value on. It ends an evaluation that takes
// too much work, and one that the library gives up.
func (e *Expression) run(record *Node, attribute Lookup, use func(value any)) (err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case tooMuchWork:
			err = errTooMuchWork
		default:
			err = fmt.Errorf("evaluating it: %v", failed)
		}
	}()
	walk := &walk{root: record, names: e.attributes, lookup: attribute}
	use(e.compiled.Evaluate(&navigator{walk: walk, node: record, attribute: noAttribute}))
	return nil
}

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
