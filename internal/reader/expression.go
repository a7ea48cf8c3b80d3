package reader

import (
	"fmt"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xpath"
)

// An expression is an XPath of a definition, compiled when it is first evaluated: most
// queries need few of a reader's expressions.
type expression struct {
	definition config.XPath
	compiled   *xpath.Expression
}

func newExpression(definition config.XPath) *expression {
	if !definition.IsSet() {
		return nil
	}
	return &expression{definition: definition}
}

func (e *expression) compile() error {
	if e.compiled != nil {
		return nil
	}
	compiled, err := xpath.Compile(e.definition.Text)
	if err != nil {
		return fmt.Errorf("%s: %w", e.definition.Position, err)
	}
	e.compiled = compiled
	return nil
}

// text returns the value for a record; empty without an expression.
func (e *expression) text(on *evaluation) (string, error) {
	if e == nil {
		return "", nil
	}
	if err := e.compile(); err != nil {
		return "", err
	}
	value, err := e.compiled.Text(on.record.Root, on.attribute)
	return value, on.locate(e, err)
}

// texts returns all values for a record; none without an expression.
func (e *expression) texts(on *evaluation) ([]string, error) {
	if e == nil {
		return nil, nil
	}
	if err := e.compile(); err != nil {
		return nil, err
	}
	values, err := e.compiled.Texts(on.record.Root, on.attribute)
	return values, on.locate(e, err)
}

// isTrue reports whether a condition holds. An absent condition does.
func (e *expression) isTrue(on *evaluation) (bool, error) {
	if e == nil {
		return true, nil
	}
	if err := e.compile(); err != nil {
		return false, err
	}
	holds, err := e.compiled.Bool(on.record.Root, on.attribute)
	return holds, on.locate(e, err)
}

// An evaluation is the context in which expressions are evaluated.
type evaluation struct {
	record    *Record
	attribute func(name string) (value string, exists bool)
	location  *time.Location // nil for UTC
}

// locate adds the position of the expression to an error.
func (*evaluation) locate(e *expression, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", e.definition.Position, err)
}
