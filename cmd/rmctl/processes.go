package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newProcesses(a *app) *cobra.Command {
	var flags selectionFlags
	var rank int
	c := &cobra.Command{
		Use:   "processes [JOB...]",
		Short: "Show the processes of parallel jobs",
		Long: `Show the processes of parallel jobs, during and after the run: rank, node, process id,
state, exit code or signal, and the last line of output.

rmctl knows the processes of jobs submitted with --track, of rmctl run -t openmpi or
-t mpich, and of agents that report processes.

` + selectionHelp,
		Example: `  rmctl processes last
  rmctl processes --show 3 4f1c2a7e-5b0f-4a8e-9c1d-2f6d1e0b7a33`,
		ValidArgsFunction: a.completeJobs(parallelJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			store, err := a.client().Store(c.Context())
			if err != nil {
				return err
			}
			choice, err := flags.choice(c, arguments)
			if err != nil {
				return err
			}
			targets, err := a.client().Targets()
			if err != nil {
				return err
			}
			hasAgent := func(j *job.Job) bool {
				target, err := targets.Find(j.Target)
				return err == nil && target.Agent != nil
			}
			tracked, err := store.Polls().TrackedTags(c.Context())
			if err != nil {
				return err
			}
			choice.Suits = func(j *job.Job) bool { return j.Interactive || hasAgent(j) || tracked[j.Tag] }
			jobs, err := a.chosenRecorded(c, a.finder(), choice, "have known processes")
			if err != nil {
				return err
			}
			a.refreshTracked(c.Context(), jobs, tracked)
			return a.eachUnderHeading(jobs, func(job job.Job) error {
				processes, err := store.Processes(c.Context(), job.Tag)
				if err == nil && hasAgent(&job) {
					processes, err = a.processesAtAgent(c.Context(), job, processes)
				}
				if err != nil {
					return err
				}
				if len(jobs) == 1 {
					job.Tag = ""
				}
				if c.Flags().Changed("show") {
					return a.printProcessOutput(job, processes, rank)
				}
				return a.printProcesses(job.Tag, processes)
			})
		},
	}
	flags.add(c, "choose all jobs on record with known processes")
	c.Flags().IntVar(&rank, "show", 0, "print the last output of the process with `RANK`")
	return c
}

// refreshTracked queries the tracked jobs, which also records their processes. If that fails, it
// warns, and the recorded processes count.
func (a *app) refreshTracked(ctx context.Context, jobs []job.Job, tracked map[string]bool) {
	open := slices.DeleteFunc(slices.Clone(jobs), func(j job.Job) bool { return !tracked[j.Tag] || j.Interactive || j.Detail.Ended() })
	handles, err := a.finder().WithControllers(ctx, open)
	if err = errors.Join(err, selection.Refresh(ctx, handles, false)); err != nil {
		a.say("cannot refresh the processes: %v", err)
	}
}

// processesAtAgent returns the processes of a job that the agent of its target has, else those known here.
func (a *app) processesAtAgent(ctx context.Context, j job.Job, known []job.Process) ([]job.Process, error) {
	controller, err := a.controller(ctx, j.Target)
	if err != nil {
		return nil, err
	}
	processes, err := bridge.Processes(ctx, controller.Connection, j.ID)
	if len(processes[j.ID]) > 0 {
		known = processes[j.ID]
	}
	return known, err
}

// A processDocument is a line of processes --json.
type processDocument struct {
	job.Process
	Tag string `json:"tag,omitempty"` // of the job
	Job string `json:"job,omitempty"` // the old name of tag, for one release
}

func (a *app) printProcesses(tag string, processes []job.Process) error {
	if len(processes) == 0 {
		a.sayNone("no known processes")
	}
	document := func(p job.Process) any { return processDocument{p, tag, tag} }
	return printAll(a, processes, document, []string{"RANK", "NODE", "PID", "STATE", "EXIT", "SIGNAL", "LAST OUTPUT"}, func(p job.Process) []string {
		pid := "-"
		if p.PID != 0 {
			pid = strconv.Itoa(p.PID)
		}
		return []string{strconv.Itoa(p.Rank), terminal.OrDash(p.Node), pid, terminal.OrDash(string(p.State)), listings.Number(p.ExitCode), listings.Number(p.Signal), terminal.OrDash(cmp.Or(lastLine(p.Output), lastLine(p.ErrorOutput)))}
	})
}

func (a *app) printProcessOutput(job job.Job, processes []job.Process, rank int) error {
	for _, p := range processes {
		if p.Rank != rank {
			continue
		}
		if a.json {
			return terminal.JSON(a.stdout, processDocument{p, job.Tag, job.Tag})
		}
		_, err := fmt.Fprint(a.stdout, p.Output)
		_, errorsErr := fmt.Fprint(a.stderr, p.ErrorOutput)
		return errors.Join(err, errorsErr)
	}
	return fmt.Errorf("job %s has no known process with rank %d", oneLine(job.ID), rank)
}

// withProcesses returns a job for JSON, with its processes but without their output.
func (a *app) withProcesses(ctx context.Context, store *jobstore.Store, known job.Job, tracked map[string]bool) (job.Document, error) {
	printed := known.Document()
	if !known.Interactive && !tracked[known.Tag] || known.Tag == "" {
		return printed, nil
	}
	processes, err := store.Processes(ctx, known.Tag)
	for i := range processes {
		processes[i].Output, processes[i].ErrorOutput = "", ""
	}
	printed.Processes = processes
	return printed, err
}
