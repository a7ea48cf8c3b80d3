package inspect

import "github.com/rmctl/rmctl/config"

// Expressions returns every expression of the definition's parsers,
// outcomes and probes, in document order.
func Expressions(d *config.Definition) []*config.Expression {
	var all []*config.Expression
	add := func(x *config.Expression) {
		if x != nil {
			all = append(all, x)
		}
	}
	var ofCommand func(c *config.Command)
	ofCommand = func(c *config.Command) {
		for _, parser := range c.Parsers() {
			for _, target := range parser.Targets {
				for _, match := range target.Matches {
					add(match.Expression)
				}
			}
			add(parser.ExitOn)
			add(parser.ExitAfter)
		}
		for _, fallback := range c.Fallbacks {
			ofCommand(fallback)
		}
	}
	for _, command := range d.Commands {
		ofCommand(command)
	}
	for _, outcome := range d.Outcomes {
		add(outcome.Expression)
	}
	for _, probe := range d.Probes {
		add(probe.Version)
	}
	return all
}
