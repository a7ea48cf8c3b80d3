package attribute

import (
	"sync"

	"github.com/rmctl/rmctl/javaregex"
)

// A Pattern is an expression in Java's syntax. It is compiled when it is first
// matched with a text: a definition has dozens of validators, and a command
// uses few of them. If it cannot be compiled, every check of a value fails. It is safe for
// concurrent use.
type Pattern struct {
	Text  string
	Flags javaregex.Flags

	once     sync.Once
	compiled *javaregex.Regexp
	err      error
}

// matches reports whether the expression matches all of a text.
func (p *Pattern) matches(text string) (bool, error) {
	p.once.Do(func() { p.compiled, p.err = javaregex.Compile(p.Text, p.Flags) })
	if p.err != nil {
		return false, p.err
	}
	_, matched, err := p.compiled.Match(nil, []byte(text))
	return matched, err
}
