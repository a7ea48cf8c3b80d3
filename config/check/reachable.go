package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/javaregex"
)

// checkReachable reports matches whose segments earlier expressions always take.
func (c *checker) checkReachable(command *config.Command, parser *config.Parser) {
	texts := segments(parser)
	isOfLines := texts.Delimiter == '\n' && !command.AllocatePTY
	var ofParser []earlier // expressions that take segments from all later targets
	if parser.ExitOn != nil && !parser.ExitOn.Split {
		exits := c.appendEarlier(nil, parser.ExitOn, "exit-on", parser.ExitOn.Position)
		ofParser = append(ofParser, exits...)
	}
	moves := false
	for _, target := range parser.Targets {
		for _, match := range target.Matches {
			moves = moves || match.MoveToTop
		}
	}
	for index, target := range parser.Targets {
		if parser.ApplyToAll && index > 0 {
			// Later targets see the text that earlier ones leave.
			ofParser = nil
			texts.NotEmpty = false
		}
		ofTarget := append([]earlier(nil), ofParser...)
		for _, match := range target.Matches {
			c.checkShadowed(match, ofTarget, texts, isOfLines)
			if !target.MatchAll {
				ofTarget = c.appendEarlier(ofTarget, match.Expression, "match", match.Position)
			}
		}
		if !moves {
			ofParser = ofTarget
		}
	}
}

// earlier is an expression that takes segments from later ones.
type earlier struct {
	what   string
	at     config.Position
	regexp *javaregex.Regexp // nil takes everything
}

// help returns the hint for a match that is never reached.
func (e earlier) help(unreached *javaregex.Regexp) string {
	switch {
	case e.what != "match":
		return ""
	case e.regexp == unreached:
		return "merge their actions: the expressions are the same"
	}
	return "put the more specific match first"
}

// appendEarlier leaves out expressions with references.
func (c *checker) appendEarlier(all []earlier, x *config.Expression, what string, at config.Position) []earlier {
	if x == nil || x.Split {
		return append(all, earlier{what, at, nil})
	}
	if compiled := c.expressions.regexp(x); compiled != nil {
		return append(all, earlier{what, at, compiled})
	}
	return all
}

// maxEarlier bounds how many expressions before a match it is compared with, as
// the time grows with their product. Definitions in the field have some ten.
const maxEarlier = 200

// checkShadowed reports a match that those before it shadow. With isOfLines the
// segments are lines that do not come from a terminal, which would end them with
// a carriage return.
func (c *checker) checkShadowed(match *config.Match, before []earlier, texts javaregex.Texts, isOfLines bool) {
	before = before[:min(len(before), maxEarlier)]
	if len(before) == 0 || len(match.Actions) == 0 {
		return // nothing is lost with a match that does nothing
	}
	var wanted *javaregex.Regexp
	if x := match.Expression; x != nil && !x.Split {
		wanted = c.expressions.regexp(x)
	}
	if wanted != nil && c.inspector.Impossible(wanted, texts) {
		return // reported elsewhere
	}
	covering := make([]*javaregex.Regexp, 0, len(before))
	for _, one := range before {
		covering = append(covering, one.regexp)
	}
	unless, breaks := "", []*javaregex.Regexp(nil)
	if !c.inspector.Covered(wanted, covering, texts) {
		if breaks = c.lineBreaks(); !isOfLines || !c.isForLines(match, wanted, breaks, texts) ||
			!c.inspector.Covered(wanted, slices.Concat(covering, breaks), texts) {
			return
		}
		unless = ", unless a carriage return is in it"
	}
	at := match.Position
	if match.Expression != nil {
		at = match.Expression.Position
	}
	for i, one := range before {
		if c.inspector.Covered(wanted, slices.Concat(covering[i:i+1], breaks), texts) {
			c.report(at, config.Warning, "unreachable-match",
				fmt.Sprintf("the match is never reached: the %s at line %d takes every segment that fits it%s", one.what, one.at.Line, unless), one.help(wanted))
			return
		}
	}
	c.report(at, config.Warning, "unreachable-match", "the match is never reached: earlier matches together take every segment that fits it"+unless, "")
}

// lineBreaks returns an expression for texts with characters that the dot of Java
// does not match. Programs do not print them within a line, so [.].+ in effect
// takes everything that [.].+\s takes, too.
func (c *checker) lineBreaks() []*javaregex.Regexp {
	breaks, err := c.expressions.compile(`(?s).*[\r\x{85}\x{2028}\x{2029}].*`, 0)
	if err != nil {
		return nil
	}
	return []*javaregex.Regexp{breaks}
}

// isForLines reports whether an expression is meant for lines without breaks
// inside: it names none, and fits some.
func (c *checker) isForLines(match *config.Match, wanted *javaregex.Regexp, breaks []*javaregex.Regexp, texts javaregex.Texts) bool {
	return wanted != nil && !strings.Contains(match.Expression.Text, `\r`) && !c.inspector.Covered(wanted, breaks, texts)
}
