package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newProcesses(a *app) *cobra.Command {
	var output int
	c := &cobra.Command{
		Use:   "processes JOB",
		Short: "Show the processes of a parallel job",
		Long: `processes shows the ranks of a job that was started by rmctl run -t openmpi or
-t mpich: the node and process id of each, its state, its exit code or the signal
that ended it, and the last line that it printed, where that is kept apart. It
works while the job runs and afterwards.

--output RANK prints the end of what one of them printed.`,
		Example: `  rmctl processes 4f1c2a7e-5b0f-4a8e-9c1d-2f6d1e0b7a33
  rmctl processes --output 3 4f1c2a7e-5b0f-4a8e-9c1d-2f6d1e0b7a33`,
		Args:              exactly(1, "a job"),
		ValidArgsFunction: a.completeOneJob(parallelJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			store, err := a.openStore(c.Context())
			if err != nil {
				return err
			}
			job, err := a.recordedJob(c.Context(), arguments[0])
			if errors.Is(err, jobstore.ErrNotFound) {
				return fmt.Errorf("%w\nonly of jobs that were submitted through rmctl are processes known", err)
			}
			if err != nil {
				return err
			}
			processes, err := store.Processes(c.Context(), job.Tag)
			if err != nil {
				return err
			}
			if c.Flags().Changed("output") {
				return a.printProcessOutput(job, processes, output)
			}
			return a.printProcesses(processes)
		},
	}
	c.Flags().IntVar(&output, "output", 0, "print the end of what the process of this `RANK` printed")
	return c
}

func (a *app) printProcesses(processes []job.Process) error {
	if a.json {
		for _, p := range processes {
			if err := terminal.JSON(a.stdout, p); err != nil {
				return err
			}
		}
		return nil
	}
	rows := make([][]string, 0, len(processes))
	for _, p := range processes {
		pid := ""
		if p.PID != 0 {
			pid = strconv.Itoa(p.PID)
		}
		rows = append(rows, []string{strconv.Itoa(p.Rank), terminal.OrDash(p.Node), terminal.OrDash(pid), terminal.OrDash(string(p.State)), terminal.OrDash(knownNumber(p.ExitCode)), terminal.OrDash(knownNumber(p.Signal)), terminal.OrDash(lastLine(p.Output))})
	}
	return terminal.Table(a.stdout, []string{"RANK", "NODE", "PID", "STATE", "EXIT", "SIGNAL", "LAST OUTPUT"}, rows)
}

func knownNumber(known *int) string {
	if known == nil {
		return ""
	}
	return strconv.Itoa(*known)
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (a *app) printProcessOutput(job job.Job, processes []job.Process, rank int) error {
	for _, p := range processes {
		if p.Rank != rank {
			continue
		}
		if a.json {
			return terminal.JSON(a.stdout, p)
		}
		_, err := fmt.Fprint(a.stdout, p.Output)
		return err
	}
	return fmt.Errorf("job %s has no process of rank %d that is known", oneLine(job.ID), rank)
}

// withProcesses is a job as JSON with its processes; what each printed is left to
// rmctl processes.
func (a *app) withProcesses(ctx context.Context, known job.Job) (job.Document, error) {
	printed := known.Document()
	if !known.Interactive || known.Tag == "" {
		return printed, nil
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return printed, err
	}
	processes, err := store.Processes(ctx, known.Tag)
	for i := range processes {
		processes[i].Output = ""
	}
	printed.Processes = processes
	return printed, err
}
