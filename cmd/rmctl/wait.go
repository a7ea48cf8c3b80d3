package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/waiting"
	"github.com/rmctl/rmctl/job"
)

// jobExit returns an error with the exit code of a job, nil for 0.
func jobExit(j job.Job) error { return exitWith(waiting.ExitCode(j)) }

// exitWith returns an error that only has an exit code, nil for 0.
func exitWith(code int) error {
	if code == exitDone {
		return nil
	}
	return &exitError{code: code & 0xff}
}

// waiter returns what waits for jobs.
func (a *app) waiter() *waiting.Waiter {
	return &waiting.Waiter{Finder: a.finder(), Messages: a.stderr, Show: a.showChange}
}

func newWait(a *app) *cobra.Command {
	var flags selectionFlags
	var timeout time.Duration
	var until, onEnd string
	c := &cobra.Command{
		Use:   "wait [JOB...]",
		Short: "Wait until jobs end or reach a state",
		Long: `Wait until all jobs have ended, or have reached the state of --until.

rmctl prints state changes on standard error, and exits with the exit code of the first
job that failed.

` + selectionHelp,
		Example: `  rmctl wait 4711
  rmctl wait --timeout 2h slurm/4711 slurm/4712
  rmctl wait --until RUNNING last
  rmctl wait --all -t slurm
  rmctl wait --on-end 'notify-send "job $RMCTL_JOB_ID: $RMCTL_JOB_STATE"' 4711`,
		ValidArgsFunction: a.completeJobs(openJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			wanted, err := waitedFor(until)
			if err != nil {
				return err
			}
			choice, err := flags.choice(c, arguments)
			if err != nil {
				return err
			}
			choice.Open, choice.Suits = flags.state == "", hasID
			chosen, err := a.choose(c, choice)
			if err != nil || len(chosen) == 0 {
				return err
			}
			jobs, err := a.waiter().Jobs(c.Context(), chosen)
			if err != nil {
				return err
			}
			if err := a.waiter().Wait(c.Context(), jobs, wanted, timeout, onEnd); err != nil {
				return err
			}
			if err := a.printAwaited(c.Context(), jobs); err != nil {
				return err
			}
			return a.exitOfFirst(c.Context(), jobs, wanted)
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 0, "maximum `TIME` to wait, such as 90s or 2h; then exit with 124")
	addOnEnd(c, &onEnd)
	c.Flags().StringVar(&until, "until", "", "`STATE` to wait for instead of the end, such as RUNNING")
	completeFlag(c, "until", completeStates)
	flags.add(c, "choose all jobs on record that have not ended")
	return c
}

// waitedFor returns the state to wait for: a word, a detail or a primary state.
func waitedFor(text string) (job.Detail, error) {
	state := job.Detail(strings.ToUpper(text))
	known := text == "" || slices.ContainsFunc(job.Details(), func(detail job.Detail) bool { return waiting.Reached(detail, state) })
	if !known {
		return "", usage("--until %q: unknown state; use one of %s", text, strings.Join(selection.Words(), ", "))
	}
	return state, nil
}

// printAwaited prints the jobs with --json.
func (a *app) printAwaited(ctx context.Context, jobs []waiting.Awaited) error {
	if !a.json {
		return nil
	}
	return a.waiter().Each(ctx, jobs, func(job job.Job) error { return terminal.JSON(a.stdout, job.Document()) })
}

// exitOfFirst returns an error with the exit code of the first job that failed.
func (a *app) exitOfFirst(ctx context.Context, jobs []waiting.Awaited, until job.Detail) error {
	code, err := a.waiter().FirstExit(ctx, jobs, until)
	return cmp.Or(err, exitWith(code))
}

// addOnEnd adds the flag of commands that wait for the end of jobs.
func addOnEnd(c *cobra.Command, line *string) {
	c.Flags().StringVar(line, "on-end", "", "shell command `CMD` to run when a job ends, with RMCTL_JOB_… variables")
}
