package attribute

import (
	"sync"

	"github.com/rmctl/rmctl/javaregex"
)

// A Pattern is an expression that is compiled when a text is first held against
// it: a definition has dozens of validators, of which a command uses few. It is
// safe for concurrent use.
type Pattern struct {
	expression string
	compiled   func() (*javaregex.Regexp, error)
}

// NewPattern returns a pattern of an expression in Java's syntax, which was
// checked before or else makes every check of a value fail.
func NewPattern(expression string, flags javaregex.Flags) *Pattern {
	return &Pattern{
		expression: expression,
		compiled:   sync.OnceValues(func() (*javaregex.Regexp, error) { return javaregex.Compile(expression, flags) }),
	}
}

// String returns the expression as it was given.
func (p *Pattern) String() string { return p.expression }

// matches reports whether the expression matches all of a text.
func (p *Pattern) matches(text string) (bool, error) {
	compiled, err := p.compiled()
	if err != nil {
		return false, err
	}
	_, matched, err := compiled.Match(nil, []byte(text))
	return matched, err
}
