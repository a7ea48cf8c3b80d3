package xpath

import (
	"errors"
	"slices"
)

// errTooMuchWork is the error of an expression that visits too many nodes.
var errTooMuchWork = errors.New("the expression visits too many nodes")

// mostMoves bounds the nodes that one evaluation visits. Nothing else can stop it.
const mostMoves = 1_000_000

// An Expression is a compiled expression: XPath 1.0, or a list of field names, where the first field with
// a value counts.
type Expression struct {
	names      []string // of a list of fields; nil for XPath
	compiled   operand  // nil for a list of fields
	fields     []string
	attributes []string
}

// A Lookup returns the text of an attribute of the definition, written @name in expressions.
type Lookup func(name string) (value string, exists bool)

// Compile compiles an expression. It checks the number of arguments of functions, arguments that must be
// nodes, and that the pattern of matches or replace is literal, so that an evaluation fails only if it
// visits too many nodes.
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
	e.compiled, err = parse(tokens)
	return e, err
}

// Fields returns the names of fields in the expression.
func (e *Expression) Fields() []string { return e.fields }

// Attributes returns the names after @ in the expression.
func (e *Expression) Attributes() []string { return e.attributes }

// FieldName returns the name of the field if the expression consists of a single one.
func (e *Expression) FieldName() (string, bool) {
	if len(e.names) != 1 {
		return "", false
	}
	return e.names[0], true
}

// Text returns the value for a record as a text; of several nodes that of the first.
func (e *Expression) Text(record *Node, attribute Lookup) (value string, err error) {
	if e.compiled == nil {
		return e.firstField(record), nil
	}
	defer limited(&err)
	return text(e.place(record, attribute), e.compiled), nil
}

// Texts returns the values of all selected nodes that are not empty, or the one value of an
// expression that is a text, a number or a condition.
func (e *Expression) Texts(record *Node, attribute Lookup) (all []string, err error) {
	if e.compiled == nil || e.compiled.kind() != nodesKind {
		value, err := e.Text(record, attribute)
		return withoutEmpty(value), err
	}
	defer limited(&err)
	return withoutEmpty(texts(e.place(record, attribute), e.compiled)...), nil
}

func withoutEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
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
	defer limited(&err)
	return truth(e.place(record, attribute), e.compiled), nil
}

// place returns the record as the context of an evaluation.
func (e *Expression) place(record *Node, attribute Lookup) *place {
	begins := &struct {
		walk
		place
	}{walk: walk{root: record, names: e.attributes, lookup: attribute}}
	begins.place = place{walk: &begins.walk, item: item{record, noAttribute}, position: 1, size: 1}
	return &begins.place
}

// limited returns an error for an evaluation that visits too many nodes.
func limited(err *error) {
	switch failed := recover().(type) {
	case nil:
	case tooMuchWork:
		*err = errTooMuchWork
	default:
		panic(failed)
	}
}
