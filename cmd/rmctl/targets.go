package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/describe"
	"github.com/rmctl/rmctl/internal/facts"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/rms"
)

func newTargets(a *app) *cobra.Command {
	definitions := false
	c := &cobra.Command{
		Use:   "targets",
		Short: "List the targets",
		Long: `targets lists where jobs can go: each shipped definition on this machine, and what
targets.toml in the configuration folder describes. The default is marked. With --definitions
it lists the shipped definitions instead, with what each was proven against.`,
		Example: "  rmctl targets\n  rmctl targets --json\n  rmctl targets --definitions",
		Args:    exactly(0, ""),
		RunE: func(_ *cobra.Command, _ []string) error {
			if definitions {
				return a.printShippedDefinitions()
			}
			targets, err := a.loadTargets()
			if err != nil {
				return err
			}
			return a.printTargets(targets)
		},
	}
	c.Flags().BoolVar(&definitions, "definitions", false, "list the shipped definitions and what each was proven against")
	return c
}

func (a *app) printTargets(targets *settings.Targets) error {
	var rows [][]string
	for _, name := range targets.Names() {
		target, err := targets.Find(name)
		if err != nil {
			return err
		}
		r := facts.OfTarget(target, name == targets.Default)
		if a.json {
			if err := terminal.JSON(a.stdout, r); err != nil {
				return err
			}
			continue
		}
		mark := ""
		if r.Default {
			mark = "default"
		}
		rows = append(rows, []string{r.Name, r.Definition, strings.TrimSuffix(r.Transport+":"+r.Host, ":"), mark})
	}
	if a.json {
		return nil
	}
	return terminal.Table(a.stdout, []string{"TARGET", "DEFINITION", "CONNECTION", ""}, rows)
}

// shippedJSON is how a shipped definition is printed as JSON; the names are a contract.
type shippedJSON struct {
	Name          string           `json:"name"`
	Mode          string           `json:"mode"` // batch, interactive or none
	SchedulerType string           `json:"schedulerType,omitempty"`
	Proven        []describe.Proof `json:"proven"`
}

func (a *app) printShippedDefinitions() error {
	var rows [][]string
	for _, name := range rms.Names() {
		definition, _, err := control.UsableDefinition(name)
		if err != nil {
			return err
		}
		described := describe.Of(definition)
		shown := shippedJSON{name, described.Mode, described.SchedulerType, described.Proven}
		if a.json {
			if err := terminal.JSON(a.stdout, shown); err != nil {
				return err
			}
			continue
		}
		first := []string{name, shown.Mode}
		for _, proof := range shown.Proven {
			rows = append(rows, append(first, proof.By, oneLine(proof.Of)))
			first = []string{"", ""}
		}
		if len(shown.Proven) == 0 {
			rows = append(rows, append(first, "nothing", ""))
		}
	}
	if a.json {
		return nil
	}
	return terminal.Table(a.stdout, []string{"DEFINITION", "JOBS", "PROVEN BY", "OF"}, rows)
}
