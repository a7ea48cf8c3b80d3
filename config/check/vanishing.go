package check

import (
	"strings"

	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

var (
	// literalExpression matches expressions that match texts of one length: dots, and
	// characters that stand for themselves.
	literalExpression = lazyregexp.New(`^(?:\\[^\pL\p{Nd}]|[^\\\[\](){}*+?|^$])*$`)
	blanks            = lazyregexp.New(`(\\[^\s\x{85}\pZ])|\\?[\s\x{85}\pZ]`) // or what is escaped and none
	special           = lazyregexp.New(`[\\.*+?()\[\]{}|^$]`)
)

// escaped returns an expression that matches a text.
func escaped(text string) string { return special.ReplaceAllString(text, `\$0`) }

// canMatch reports whether a text can match an expression whatever its
// references stand for. That it cannot is said only of expressions that match
// one text and nothing else. White space does not count, since the engine trims
// what is left where values are empty.
func (c *checker) canMatch(expression, text string) bool {
	if !literalExpression.MatchString(expression) {
		return true
	}
	wanted, err := c.expressions.compile(blanks.ReplaceAllString(expression, "$1"), 0)
	possible, otherErr := c.expressions.compile(textsOf(text), 0)
	return err != nil || otherErr != nil || c.inspector.Overlap(wanted, possible)
}

// textsOf returns an expression for what a text may become, white space left out.
func textsOf(text string) string {
	fixed := strings.Split(reference.Replace(strings.Join(strings.Fields(text), ""), "\x00"), "\x00")
	for i, part := range fixed {
		fixed[i] = escaped(part)
	}
	return strings.Join(fixed, "(?s:.*)")
}
