package config

import (
	"fmt"

	"github.com/rmctl/rmctl/javaregex"
)

// checkReachable reports matches whose segments are always taken by what
// stands before them.
func (c *checker) checkReachable(parser *Parser) {
	texts := parser.segments()
	var ofParser []earlier // what takes segments away from all targets that follow
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
			// Later targets see what the earlier ones have left.
			ofParser = nil
			texts.NotEmpty = false
		}
		ofTarget := append([]earlier(nil), ofParser...)
		for _, match := range target.Matches {
			c.checkShadowed(match, ofTarget, texts)
			if !target.MatchAll {
				ofTarget = c.appendEarlier(ofTarget, match.Expression, "match", match.Position)
			}
		}
		if !moves {
			ofParser = ofTarget
		}
	}
}

// earlier is an expression that takes segments away from those behind it.
type earlier struct {
	what   string
	at     Position
	regexp *javaregex.Regexp // nil takes everything
}

// help tells what to do about a match that is never reached.
func (e earlier) help(unreached *javaregex.Regexp) string {
	switch {
	case e.what != "match":
		return ""
	case e.regexp == unreached:
		return "their expressions are the same: join their actions"
	}
	return "put the match that is more particular first"
}

// appendEarlier leaves out what is known only when it is used.
func (c *checker) appendEarlier(all []earlier, x *Expression, what string, at Position) []earlier {
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

func (c *checker) checkShadowed(match *Match, before []earlier, texts javaregex.Texts) {
	before = before[:min(len(before), maxEarlier)]
	if len(before) == 0 || len(match.Actions) == 0 {
		return // nothing is lost with a match that does nothing
	}
	var wanted *javaregex.Regexp
	if x := match.Expression; x != nil && !x.Split {
		wanted = c.expressions.regexp(x)
	}
	if wanted != nil && c.inspector.Impossible(wanted, texts) {
		return // reported as such
	}
	covering := make([]*javaregex.Regexp, 0, len(before))
	for _, one := range before {
		covering = append(covering, one.regexp)
	}
	if !c.inspector.Covered(wanted, covering, texts) {
		return
	}
	at := match.Position
	if match.Expression != nil {
		at = match.Expression.Position
	}
	for i, one := range before {
		if c.inspector.Covered(wanted, covering[i:i+1], texts) {
			c.report(at, Warning, "unreachable-match",
				fmt.Sprintf("the match is never reached: the %s at line %d takes every segment that fits it", one.what, one.at.Line), one.help(wanted))
			return
		}
	}
	c.report(at, Warning, "unreachable-match", "the match is never reached: those before it together take every segment that fits it", "")
}
