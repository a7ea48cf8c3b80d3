package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/doctor"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

func newDoctor(a *app) *cobra.Command {
	callback := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what jobs on a target need",
		Long: `Check everything that jobs on a target need, and print how to fix each problem.

rmctl checks targets.toml, the definition, the state directory, the connection, programs
and their versions, PATH, the locale, output of login scripts, the clock, the staging
directory, and whatever else the definition probes. It submits no job and writes no file
unless you add --callback. It exits with 0 if jobs can run, 1 if they cannot, and 5 if it
cannot connect.

With --callback, rmctl submits a small job, tests whether nodes reach the target and
whether rmctl reaches the nodes, and suggests a value for relay_address. One of the two
directions must work for rmctl stacks.`,
		Example: `  rmctl doctor
  rmctl doctor -t slurm
  rmctl doctor -t slurm --json
  rmctl doctor -t slurm --callback`,
		RunE: func(c *cobra.Command, _ []string) error {
			findings, err := a.examine(c.Context())
			if callback && err == nil && doctor.CanRun(findings) {
				var there []doctor.Finding
				there, err = a.examineNodes(c.Context())
				findings = append(findings, there...)
			}
			if len(findings) > 0 {
				err = errors.Join(a.printFindings(findings), err)
			}
			if err == nil && !doctor.CanRun(findings) {
				err = &exitError{code: exitFailed}
			}
			return err
		},
	}
	c.Flags().BoolVar(&callback, "callback", false, "also submit a small job that tests the network between target and nodes")
	return c
}

// examineNodes submits a small job to the chosen target, and examines its nodes.
func (a *app) examineNodes(ctx context.Context) ([]doctor.Finding, error) {
	controller, err := a.controller(ctx, "")
	if err != nil {
		return nil, err
	}
	targets, err := a.client().Targets()
	if err != nil {
		return nil, err
	}
	target, err := targets.Find(controller.Target)
	if err != nil {
		return nil, err
	}
	if target.Agent != nil {
		return nil, usage("target %s has an agent: the proxy protocol cannot start processes on nodes", target.Name)
	}
	directory, err := nodesDirectory(controller, target)
	if err != nil {
		return nil, err
	}
	return doctor.ExamineNodes(ctx, doctor.NodesOptions{
		Controller: controller, Directory: directory, Defaults: target.Defaults(), RelayAddress: target.RelayAddress,
		Reach: func(ctx context.Context, j job.Job) (*onnodes.Reachable, error) {
			return newNodesJob(ctx, j, nil, controller, target)
		},
	}), nil
}

// examine examines everything that the chosen target needs. The error is that of an unknown
// target or of the connection.
func (a *app) examine(ctx context.Context) ([]doctor.Finding, error) {
	folders, err := a.folders()
	if err != nil {
		return nil, err
	}
	site, err := settings.InspectSite(folders.Site)
	if err != nil {
		return []doctor.Finding{doctor.ExamineSite("", nil, nil, err)}, nil // the targets are unknown
	}
	targets, err := a.client().Targets()
	if err != nil {
		return nil, err
	}
	var findings []doctor.Finding
	if site != nil {
		findings = append(findings, doctor.ExamineSite(site.File, site.Locked, targets.Refused(), nil))
	}
	target, err := targets.Find(a.target)
	if err != nil {
		return findings, err
	}
	state, err := a.client().StateFolder()
	if err != nil {
		return findings, err
	}
	connection, definition, found, err := a.examineTarget(ctx, target)
	findings = append(findings, found, doctor.ExamineState(state))
	if definition == nil || err != nil {
		return findings, err // they say what else to examine
	}
	options := control.Options{Target: target.Name, Definition: inspect.WithEnvironment(definition, target.Environment), Connection: connection, Log: a.log(), LeastInterval: target.LeastInterval(), SharedAnswers: target.SharedAnswers()}
	if place, err := jobstore.Inspect(state); err == nil && place.HasStore { // doctor creates none
		if options.Store, err = a.client().Store(ctx); err != nil {
			return findings, err
		}
	}
	options.Defaults = target.Defaults()
	there, err := doctor.Examine(ctx, options)
	return append(findings, there...), err
}

// examineTarget examines the definition of a target or its agent, and connects to it.
func (a *app) examineTarget(ctx context.Context, target settings.Target) (remote.Connection, *config.Definition, doctor.Finding, error) {
	var definition *config.Definition
	var finding doctor.Finding
	if target.Agent == nil {
		if definition, finding = doctor.ExamineDefinition(target.Definition); definition == nil {
			return nil, nil, finding, nil
		}
	}
	connection, err := a.client().Connection(ctx, target)
	if err == nil && target.Agent != nil {
		definition, err = bridge.Definition(ctx, connection, target.Name)
		finding = doctor.ExamineAgent(target.Agent, definition, err)
		err = nil
	}
	return connection, definition, finding, err
}

func (a *app) printFindings(findings []doctor.Finding) error {
	err := printAll(a, findings, itself, []string{"", "CHECK", "SEEN"}, func(finding doctor.Finding) []string {
		return []string{string(finding.Verdict), oneLine(finding.Name), oneLine(finding.Seen)}
	})
	if err != nil || a.json {
		return err
	}
	for _, finding := range findings {
		if err := printFix(a.stdout, finding); err != nil {
			return err
		}
	}
	return nil
}

// printFix prints the impact of a finding that is not "ok", and what to do.
func printFix(w io.Writer, finding doctor.Finding) error {
	if finding.Verdict == doctor.Fine {
		return nil
	}
	text := fmt.Sprintf("\n%s: %s: %s\n", finding.Verdict, oneLine(finding.Name), oneLine(finding.Seen))
	if finding.Impact != "" {
		text += "  impact: " + oneLine(finding.Impact) + "\n"
	}
	if finding.Fix != "" {
		text += "  fix:    " + oneLine(finding.Fix) + "\n"
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
