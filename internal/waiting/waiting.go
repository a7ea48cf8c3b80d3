// Package waiting waits for jobs and prints their changes.
package waiting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/hooks"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// A Waiter waits for jobs.
type Waiter struct {
	Finder   *selection.Finder
	Messages io.Writer     // gets progress, and the output of commands at the end of jobs
	Show     func(job.Job) // shows a job that has changed
}

// A TimeoutError reports that a wait timed out. It names the open jobs.
type TimeoutError struct{ open error }

func (e *TimeoutError) Error() string { return e.open.Error() }
func (e *TimeoutError) Unwrap() error { return e.open }

// Reached reports whether a job in a state has reached another one.
func Reached(now, until job.Detail) bool {
	return until != "" && slices.Contains([]string{now.Word(), string(now), string(now.Primary())}, string(until))
}

// Wait waits until jobs have ended or have reached a state, at most for a time unless that is
// zero, and runs a command for each job that has ended.
func (w *Waiter) Wait(ctx context.Context, jobs []Awaited, until job.Detail, timeout time.Duration, onEnd string) error {
	if err := w.show(ctx, jobs, until); err != nil {
		return err
	}
	ends := hooks.AtEnd(ctx, w.Finder.Store, w.Messages, onEnd, len(jobs))
	defer ends.Finish()
	if timeout > 0 {
		// Not a deadline: a query that it cuts off would count as one that the scheduler did not answer.
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		defer time.AfterFunc(timeout, func() { cancel(errTimeIsUp) }).Stop()
	}
	return w.all(ctx, jobs, until, ends)
}

// errTimeIsUp is why a wait with a timeout ends early.
var errTimeIsUp = errors.New("the time is up")

// shownAtFirst is the maximum number of jobs whose states are printed when a wait begins.
const shownAtFirst = 10

// show prints the states of jobs on a terminal when a wait begins: the next change may
// be hours away.
func (w *Waiter) show(ctx context.Context, jobs []Awaited, until job.Detail) error {
	if !terminal.Is(w.Messages) || len(jobs) > shownAtFirst {
		return nil
	}
	return w.Each(ctx, jobs, func(job job.Job) error {
		if !job.Detail.Ended() && job.ID != "" && !Reached(job.DetailOrUndetermined(), until) {
			w.Show(job)
		}
		return nil
	})
}

// all waits for jobs of any targets.
func (w *Waiter) all(ctx context.Context, jobs []Awaited, until job.Detail, ends *hooks.Ends) error {
	report := &report{waiter: w, until: until, ends: ends}
	if terminal.CountsInLine(w.Messages) && len(jobs) > shownAtFirst {
		report.counts(len(jobs))
		defer report.progress.Stop()
	}
	if !ends.IsEmpty() || report.progress != nil {
		// Even if the time is up: stillOpen needs the jobs.
		if err := w.Each(context.WithoutCancel(ctx), jobs, report.observe); err != nil {
			return err
		}
	}
	var group errgroup.Group
	for controller, these := range awaitedBy(jobs) {
		group.Go(func() error { return waitFor(ctx, controller, these, until, report.changed) })
	}
	err := group.Wait()
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errTimeIsUp):
		return w.stillOpen(context.WithoutCancel(ctx), jobs, until)
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("waiting for jobs, which keep running: %w", ctx.Err())
	}
	return err
}

// waitFor waits for jobs of one target.
func waitFor(ctx context.Context, controller *control.Controller, jobs []Awaited, until job.Detail, changed func(job.Job)) error {
	var tags []string
	var others []job.Job
	for _, job := range jobs {
		if job.tag != "" {
			tags = append(tags, job.tag)
		} else {
			others = append(others, *job.other)
		}
	}
	var group errgroup.Group
	if len(tags) > 0 {
		group.Go(func() error { return controller.WaitRecorded(ctx, tags, until, changed) })
	}
	if len(others) > 0 {
		group.Go(func() error {
			ended, err := controller.WaitAll(ctx, others, until, changed)
			for _, job := range jobs {
				if job.tag == "" {
					*job.other, ended = ended[0], ended[1:]
				}
			}
			return err
		})
	}
	return group.Wait()
}

// stillOpen returns the error of a wait that timed out, which names the open jobs.
func (w *Waiter) stillOpen(ctx context.Context, jobs []Awaited, until job.Detail) error {
	var open []error
	err := w.Each(ctx, jobs, func(job job.Job) error {
		if !job.Detail.Ended() && !Reached(job.DetailOrUndetermined(), until) {
			open = append(open, fmt.Errorf("job %s is still %s", job.ID, job.Detail.Word()))
		}
		return nil
	})
	return &TimeoutError{errors.Join(append(open, err)...)}
}

// ExitCode returns the exit code of a job that has ended, as a shell would say it. A job that
// failed with an unknown code gives 1.
func ExitCode(j job.Job) int {
	code := 0
	if j.Detail != job.Completed && j.Detail != job.OutputReady {
		code = 1
	}
	if j.ExitCode != nil && *j.ExitCode != 0 {
		code = *j.ExitCode
	}
	if j.Signal != nil && *j.Signal != 0 && (j.ExitCode == nil || *j.ExitCode == 0) {
		code = 128 + *j.Signal
	}
	return code
}

// FirstExit returns the exit code of the first job that failed, 0 if none did.
func (w *Waiter) FirstExit(ctx context.Context, jobs []Awaited, until job.Detail) (int, error) {
	code := 0
	err := w.Each(ctx, jobs, func(job job.Job) error {
		if code == 0 && (until == "" || job.Detail.Ended()) {
			code = ExitCode(job)
		}
		return nil
	})
	return code, err
}

// HookEnd runs the command of the flag --on-end for the job of a submission, if it was made and
// has ended.
func (w *Waiter) HookEnd(ctx context.Context, line, tag string) error {
	if line == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a request to end rmctl also ends the job
	store, err := w.Finder.Store(ctx)
	if err != nil {
		return err
	}
	job, err := store.ByTag(ctx, tag)
	if errors.Is(err, jobstore.ErrNotFound) {
		return nil // the submission failed
	}
	if err != nil {
		return err
	}
	ends := hooks.AtEnd(ctx, w.Finder.Store, w.Messages, line, 1)
	ends.Observe(job)
	ends.Finish()
	return nil
}
