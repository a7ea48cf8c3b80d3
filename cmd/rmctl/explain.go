package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain JOB...",
		Short: "Tell how the state of jobs is known",
		Long: `explain prints the history of jobs: what was seen, when, by which command, and the
line of its output that it was read from. It asks no scheduler.`,
		Example: `  rmctl explain 4711
  rmctl explain --json slurm/4711`,
		Args:              atLeast(1, "a job"),
		ValidArgsFunction: a.completeJobs(anyJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			store, err := a.openStore(c.Context())
			if err != nil {
				return err
			}
			for _, name := range arguments {
				job, err := a.recordedJob(c.Context(), name)
				if errors.Is(err, jobstore.ErrNotFound) {
					return fmt.Errorf("%w\nonly jobs that were submitted through rmctl have a history; rmctl status asks for others", err)
				}
				if err != nil {
					return err
				}
				if err := a.explain(c, store, job); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (a *app) explain(c *cobra.Command, store *jobstore.Store, j job.Job) error {
	var rows [][]string
	err := store.History(c.Context(), j.Tag, func(event job.Event) error {
		if a.json {
			return terminal.JSON(a.stdout, event)
		}
		rows = append(rows, []string{terminal.Clock(event.Observed), string(event.Kind), terminal.OrDash(string(event.Detail)), terminal.OrDash(event.Native), terminal.OrDash(event.Source), place(event.Origin), because(event)})
		return nil
	})
	if err != nil || a.json {
		return err
	}
	return terminal.Table(a.stdout, []string{"SEEN", "WHAT", "STATE", "WORD", "BY", "AT", "FROM"}, rows)
}

// place is where in the output of a command a line stands.
func place(origin job.Origin) string {
	if origin.Line == 0 {
		return terminal.OrDash(origin.Stream)
	}
	return fmt.Sprintf("%s:%d", oneLine(origin.Stream), origin.Line)
}

// because is what an event is known from, on one line: the line that was read or,
// where that is not known, the output.
func because(event job.Event) string {
	var parts []string
	for _, part := range []string{event.Reason, cmp.Or(event.Origin.Text, event.Evidence)} {
		if part = oneLine(part); part != "" {
			parts = append(parts, part)
		}
	}
	return terminal.AtMost(strings.Join(parts, " | "), terminal.LongestCell)
}
