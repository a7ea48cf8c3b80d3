package check

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/wording"
)

// An expressionTable holds the expressions of a definition. Each is compiled once,
// even if the definition repeats it.
type expressionTable struct {
	compiled map[expressionKey]compiledExpression
	written  map[config.Position]*writtenExpression // by where they begin
	order    []*config.Expression                   // in the order of the definition
}

type expressionKey struct {
	text  string
	flags javaregex.Flags
}

type compiledExpression struct {
	regexp *javaregex.Regexp
	err    error
}

// A writtenExpression is an expression at its place in the source.
type writtenExpression struct {
	regexp *javaregex.Regexp                // nil if it is invalid, or has references
	groups int                              // or unknownGroups
	at     func(offset int) config.Position // of a byte of the expression
}

func (t *expressionTable) compile(text string, flags javaregex.Flags) (*javaregex.Regexp, error) {
	key := expressionKey{text, flags}
	known, done := t.compiled[key]
	if !done {
		known.regexp, known.err = javaregex.Compile(text, flags)
		t.compiled[key] = known
	}
	return known.regexp, known.err
}

// regexp returns a compiled expression: nil if there is no expression, or if it is
// invalid or has references.
func (t *expressionTable) regexp(x *config.Expression) *javaregex.Regexp {
	if x == nil || t.written[x.Position] == nil {
		return nil
	}
	return t.written[x.Position].regexp
}

// unknownGroups is for expressions whose groups cannot be counted: those with
// references, and those that split.
const unknownGroups = -1

// groups returns how many groups an expression has.
func (t *expressionTable) groups(x *config.Expression) int {
	switch {
	case x == nil:
		return 0
	case x.Split || t.written[x.Position] == nil:
		return unknownGroups
	}
	return t.written[x.Position].groups
}

// checkExpression compiles an expression unless it has references, whose values
// are not known yet. The function at
// returns the position of a byte of the expression.
func (c *checker) checkExpression(x *config.Expression, at func(offset int) config.Position) {
	written := &writtenExpression{groups: unknownGroups, at: at}
	c.expressions.written[x.Position] = written
	c.expressions.order = append(c.expressions.order, x)
	switch {
	case strings.Contains(x.Text, reference.Start+reference.Prefix+":"):
		return
	case strings.Contains(x.Text, attribute.JobPlaceholder):
		// An id has no groups of its own.
		compiled, err := c.expressions.compile(strings.ReplaceAll(x.Text, attribute.JobPlaceholder, strings.Repeat("0", len(attribute.JobPlaceholder))), x.Flags)
		if err != nil {
			c.reportExpression(err, at)
			return
		}
		written.groups = compiled.Groups()
		return
	}
	compiled, err := c.expressions.compile(x.Text, x.Flags)
	if err != nil {
		c.reportExpression(err, at)
		return
	}
	written.regexp, written.groups = compiled, compiled.Groups()
}

// reportExpression reports an expression that does not compile, at the position
// of the mistake.
func (c *checker) reportExpression(err error, at func(offset int) config.Position) {
	var syntax *javaregex.SyntaxError
	if !errors.As(err, &syntax) {
		c.report(at(0), config.Error, "invalid-expression", err.Error(), "")
		return
	}
	c.report(at(syntax.Offset), config.Error, "invalid-expression", syntax.Reason, "")
}

// checkRunaways reports expressions that take exponential time on some texts.
// Those of outcomes and probes are left out: they search, they need not match.
func (c *checker) checkRunaways(inspector *javaregex.Inspector) {
	searched := map[config.Position]bool{}
	for _, outcome := range c.definition.Outcomes {
		if outcome.Expression != nil {
			searched[outcome.Expression.Position] = true
		}
	}
	for _, probe := range c.definition.Probes {
		if probe.Version != nil {
			searched[probe.Version.Position] = true
		}
	}
	for _, x := range c.expressions.order {
		if !searched[x.Position] {
			c.checkRunaway(inspector, x)
		}
	}
}

func (c *checker) checkRunaway(inspector *javaregex.Inspector, x *config.Expression) {
	compiled := c.expressions.regexp(x)
	if compiled == nil {
		return
	}
	before, repeated, after, found := inspector.Runaway(compiled)
	if !found {
		return
	}
	_, reason := compiled.Engine()
	c.report(x.Position, config.Warning, "runaway-expression",
		fmt.Sprintf("matching time doubles with each further %s in a text such as %s: the expression is ambiguous and needs the backtracking engine (%s)",
			wording.Quote(visible(repeated)), wording.Quote(visible(before+strings.Repeat(repeated, 3)+"…"+after)), reason),
		"begin the parts of nested repetitions with different characters, or use (?>…)")
}

// visible escapes unprintable characters.
func visible(text string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return out.String()
}
