package describe

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/tui"
)

// A probeDescription describes an x:probe of rmctl doctor.
type probeDescription struct {
	Name      string                `json:"name"`
	Arguments []argumentDescription `json:"arguments"`
	Version   string                `json:"version,omitempty"` // expression to find in the output; empty to check only the exit code
	AtLeast   string                `json:"atLeast,omitempty"`
	Required  bool                  `json:"required"`
	Impact    string                `json:"impact,omitempty"`
	Fix       string                `json:"fix,omitempty"`
	Timeout   string                `json:"timeout,omitempty"`
	Position  string                `json:"position"`
}

func describeProbe(p *config.Probe) probeDescription {
	d := probeDescription{
		Name: p.Name, Arguments: describeArguments(p.Arguments), AtLeast: p.AtLeast, Required: p.Required, Impact: p.Impact, Fix: p.Fix,
		Position: p.Command.Position.String(),
	}
	if p.Version != nil {
		d.Version = p.Version.Text
	}
	if p.Timeout > 0 {
		d.Timeout = p.Timeout.String()
	}
	return d
}

// Demand describes in words what a probe requires.
func (p probeDescription) Demand() string {
	demand := "must succeed"
	if p.Version != "" {
		demand += " and print " + p.Version
	}
	if p.AtLeast != "" {
		demand += ", at least " + p.AtLeast
	}
	return demand
}

// writeProbes lists the probes.
func (d Description) writeProbes(text *strings.Builder) {
	if len(d.Probes) > 0 {
		text.WriteString("\nProbes of rmctl doctor:\n")
	}
	for _, probe := range d.Probes {
		need := "required"
		if !probe.Required {
			need = "optional"
		}
		fmt.Fprintf(text, "  %-22s %-20s %s\n", tui.OneLine(probe.Name), need, tui.OneLine(line(probe.Arguments)))
		for _, fact := range [][2]string{{"demand", probe.Demand()}, {"impact", probe.Impact}, {"fix", probe.Fix}, {"time", probe.Timeout}, {"at", probe.Position}} {
			if fact[1] != "" {
				fmt.Fprintf(text, "    %s: %s\n", fact[0], tui.OneLine(fact[1]))
			}
		}
	}
}
