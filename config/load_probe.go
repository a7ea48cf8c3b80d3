package config

import (
	"strings"

	"github.com/rmctl/rmctl/javaregex"
)

// probe reads an x:probe; the schema reports versions that are none.
func (l *loader) probe(e element) *Probe {
	p := &Probe{
		Command:  l.command(e, ProbeCommand),
		AtLeast:  strings.TrimSpace(e.text("at-least")),
		Required: e.boolean("required", true),
		Effect:   e.text("effect"),
		Mend:     e.text("mend"),
	}
	if text := e.optional("version"); text.Set {
		flags, _ := javaregex.ParseFlags("")
		p.Version = &Expression{Position: e.valuePosition("version"), Text: text.Text, Flags: flags}
		l.checkExpression(p.Version, func(offset int) Position { return e.valueWithin("version", offset) })
	}
	if l.check {
		l.checkProbe(e, p)
	}
	return p
}

// checkProbe reports a version that is demanded and cannot be read.
func (l *loader) checkProbe(e element, p *Probe) {
	if p.AtLeast == "" {
		return
	}
	if p.Version == nil {
		l.report(e.valuePosition("at-least"), Error, "missing-attribute", `"at-least" needs "version", which tells where the output has the version`, `add version="…"`)
		return
	}
	if l.expressions.groups(p.Version) == 0 {
		l.report(p.Version.Position, Error, "no-such-group", `"at-least" is compared with the first group of "version", which has none`, "put parentheses around the version")
	}
}
