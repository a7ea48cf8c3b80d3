package config

import (
	"strings"

	"github.com/rmctl/rmctl/config/internal/tree"
	"github.com/rmctl/rmctl/javaregex"
)

// probe reads an x:probe; the schema reports versions that are none.
func (l *loader) probe(e tree.Element) *Probe {
	p := &Probe{
		Command:  l.command(e, ProbeCommand),
		AtLeast:  strings.TrimSpace(e.Value("at-least")),
		Required: e.Boolean("required", true),
		Effect:   e.Value("effect"),
		Mend:     e.Value("mend"),
	}
	if text := e.Optional("version"); text.Set {
		flags, _ := javaregex.ParseFlags("")
		p.Version = &Expression{Position: e.ValuePosition("version"), Text: text.Text, Flags: flags}
		l.checkExpression(p.Version, func(offset int) Position { return e.ValueWithin("version", offset) })
	}
	if l.check {
		l.checkProbe(e, p)
	}
	return p
}

// checkProbe reports a version that is demanded and cannot be read.
func (l *loader) checkProbe(e tree.Element, p *Probe) {
	if p.AtLeast == "" {
		return
	}
	if p.Version == nil {
		l.report(e.ValuePosition("at-least"), Error, "missing-attribute", `"at-least" needs "version", which tells where the output has the version`, `add version="…"`)
		return
	}
	if l.expressions.groups(p.Version) == 0 {
		l.report(p.Version.Position, Error, "no-such-group", `"at-least" is compared with the first group of "version", which has none`, "put parentheses around the version")
	}
}
