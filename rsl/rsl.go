// Package rsl reads, prints, evaluates and edits requests in RSL v1.0, the Resource Specification
// Language of the Globus Toolkit. It knows the language but not what attributes mean.
//
// [Parse] makes a tree of a text, [Evaluate] replaces references to variables by their values, and
// [Print] returns the canonical text of a tree. docs/reference/rsl.md describes the language and where this
// package differs from other implementations.
package rsl

// Bounds on what the package reads.
const (
	MaxSize  = 1 << 20 // bytes of a text
	MaxDepth = 256     // groups, sequences and references inside one another
)

// A Position is a place in a text. It is the zero value in nodes that no text has.
type Position struct {
	Offset int // in bytes, from 0
	Line   int // from 1
	Column int // in characters, from 1
}

// Pos returns the position.
func (p Position) Pos() Position { return p }

// A Spec is a specification: a [*Boolean] or a [*Relation].
type Spec interface {
	Pos() Position
	isSpec()
}

// A Boolean combines specifications by one operator.
type Boolean struct {
	Position
	Operator Operator // And, Or or Multi
	Specs    []Spec
}

// A Relation gives an attribute its values. Name is as the text spells it; compare names by
// [CanonicalName].
type Relation struct {
	Position
	Name     string
	Operator Operator // Equal to GreaterOrEqual
	Values   []Value
}

func (*Boolean) isSpec()  {}
func (*Relation) isSpec() {}

// An Operator is an operator as the text spells it.
type Operator string

// The operators of booleans and of relations.
const (
	And            Operator = "&"
	Or             Operator = "|"
	Multi          Operator = "+" // each component is a request of its own
	Equal          Operator = "="
	NotEqual       Operator = "!="
	Less           Operator = "<"
	LessOrEqual    Operator = "<="
	Greater        Operator = ">"
	GreaterOrEqual Operator = ">="
)

// A Value is a [*Literal], [*Sequence], [*Reference] or [*Concatenation].
type Value interface {
	Pos() Position
	isValue()
}

// A Literal is text.
type Literal struct {
	Position
	Text string
}

// A Sequence is a list of values in parentheses.
type Sequence struct {
	Position
	Values []Value
}

// A Reference has the value of a variable, or Default if the variable is undefined. Default is nil
// or a value that is no sequence.
type Reference struct {
	Position
	Name    string
	Default Value
}

// A Concatenation joins literals and references, at least two, to one text.
type Concatenation struct {
	Position
	Parts []Value
}

func (*Literal) isValue()       {}
func (*Sequence) isValue()      {}
func (*Reference) isValue()     {}
func (*Concatenation) isValue() {}

// CanonicalName returns the name of an attribute in lower case without underscores. Names
// that agree in this form mean the same attribute.
func CanonicalName(name string) string {
	canonical := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_':
		case c >= 'A' && c <= 'Z':
			canonical = append(canonical, c+'a'-'A')
		default:
			canonical = append(canonical, c) // other letters have one case, as in the C library
		}
	}
	return string(canonical)
}
