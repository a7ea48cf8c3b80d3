package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/state"
)

// jobExit returns an error that passes a job's own exit code through. A job
// that did not succeed without a code that is known gives 1.
func jobExit(job jobstore.Job) error {
	code := exitDone
	if job.Detail != state.Completed && job.Detail != state.OutputReady {
		code = exitFailed
	}
	if job.ExitCode != nil && *job.ExitCode != 0 {
		code = *job.ExitCode
	}
	if job.Signal != nil && *job.Signal != 0 && (job.ExitCode == nil || *job.ExitCode == 0) {
		code = 128 + *job.Signal // as a shell would say it
	}
	if code == exitDone {
		return nil
	}
	return &exitError{code: code & 0xff}
}

func newWait(a *app) *cobra.Command {
	var timeout time.Duration
	var until, onEnd string
	c := &cobra.Command{
		Use:   "wait JOB...",
		Short: "Wait until jobs have ended, or have reached a state",
		Long: `wait returns when all jobs have ended, or have reached the state of --state, and
exits with the code of the first job that failed. State changes are shown on
standard error.`,
		Example: `  rmctl wait 4711
  rmctl wait --timeout 2h slurm/4711 slurm/4712
  rmctl wait --state RUNNING 4711
  rmctl wait --on-end 'notify-send "job $RMCTL_JOB_ID: $RMCTL_JOB_STATE"' 4711`,
		Args: atLeast(1, "a job"),
		RunE: func(c *cobra.Command, arguments []string) error {
			wanted, err := waitedFor(until)
			if err != nil {
				return err
			}
			jobs, err := a.findJobs(c.Context(), arguments)
			if err != nil {
				return err
			}
			ctx := c.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			hooks := a.hookEnds(c.Context(), onEnd, len(jobs))
			err = a.waitForAll(ctx, jobs, wanted, hooks)
			hooks.finish()
			if err != nil {
				return err
			}
			return a.waited(jobs, wanted)
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 0, "give up after this time, with exit code 124 (such as 90s, 2h)")
	addOnEnd(c, &onEnd)
	c.Flags().StringVar(&until, "state", "", "wait for this state instead of the end: a state or a detail, such as RUNNING")
	return c
}

func waitedFor(text string) (state.Detail, error) {
	if text == "" {
		return "", nil
	}
	detail, known := state.Parse(strings.ToUpper(text))
	if !known {
		var names []string
		for _, each := range state.All() {
			names = append(names, string(each))
		}
		return "", usage("--state %q: states are %s", text, strings.Join(names, ", "))
	}
	return detail, nil
}

func (a *app) waitForAll(ctx context.Context, jobs []found, until state.Detail, hooks *endHooks) error {
	for _, job := range jobs {
		hooks.see(job.Job)
	}
	var lock sync.Mutex
	changed := func(job jobstore.Job) {
		hooks.see(job)
		lock.Lock()
		defer lock.Unlock()
		a.showChange(job)
	}
	var group errgroup.Group
	for _, of := range byController(jobs, func(found) bool { return true }) {
		group.Go(func() error {
			ended, err := of.controller.WaitAll(ctx, of.jobs, until, changed)
			of.put(jobs, ended)
			if errors.Is(err, context.DeadlineExceeded) {
				return &exitError{exitTimeout, stillOpen(ended, until)}
			}
			return err
		})
	}
	return group.Wait()
}

// stillOpen names the jobs that a wait was given up for.
func stillOpen(jobs []jobstore.Job, until state.Detail) error {
	var open []error
	for _, job := range jobs {
		if !job.Detail.Ended() && (until == "" || detailOf(job) != until) {
			open = append(open, fmt.Errorf("job %s is still %s", job.ID, detailOf(job)))
		}
	}
	return errors.Join(open...)
}

// waited returns how the jobs that were waited for tell rmctl to exit.
func (a *app) waited(jobs []found, until state.Detail) error {
	for _, job := range jobs {
		if a.json {
			if err := printJSON(a.stdout, toJSON(job.Job)); err != nil {
				return err
			}
		}
	}
	for _, job := range jobs {
		if until != "" && !job.Detail.Ended() {
			continue
		}
		if err := jobExit(job.Job); err != nil {
			return err
		}
	}
	return nil
}
