package config

import (
	"strings"

	"github.com/rmctl/rmctl/internal/tree"
)

// probe reads an x:probe; the schema reports invalid versions.
func (l *loader) probe(e *tree.Element) *Probe {
	p := &Probe{
		Command:  l.command(e, ProbeCommand),
		AtLeast:  strings.TrimSpace(e.Value("at-least")),
		Required: e.Boolean("required", true),
		Effect:   e.Value("effect"),
		Mend:     e.Value("mend"),
	}
	if text := e.Optional("version"); text.Set {
		p.Version = &Expression{Position: e.ValuePosition("version"), Text: text.Text}
	}
	return p
}
