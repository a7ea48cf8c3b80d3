package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newRecover(a *app) *cobra.Command {
	r := &recovery{app: a}
	c := &cobra.Command{
		Use:   "recover",
		Short: "Find out what became of submissions that were cut off, and find lost jobs again",
		Long: `recover asks the schedulers for every submission whose outcome is not known: since
rmctl was killed, a connection broke, or a submit command took too long. A job
that is there is adopted; where there certainly is none the submission is recorded
as not made, and its files are removed. Then it lists the jobs of the target, and adopts those that were
submitted through rmctl and are not on record. It never submits anything.

--dismiss is for what nobody can find out: a submission whose scheduler cannot be
asked is recorded as not made, and a job that its scheduler has forgotten, or whose
terminal is gone, is shown by rmctl status no more. What was seen of it last stays on
record. A job that may be running is not dismissed.`,
		Example: `  rmctl recover
  rmctl recover -t slurm --rebuild
  rmctl recover --dismiss 2f1c…
  rmctl recover --dismiss slurm/4711`,
		Args: exactly(0, ""),
		RunE: func(c *cobra.Command, _ []string) error { return r.run(c.Context()) },
	}
	c.Flags().BoolVar(&r.rebuild, "rebuild", false, "put the record of jobs aside, damaged as it may be, and begin a new one")
	c.Flags().StringVar(&r.dismiss, "dismiss", "", "put aside a submission without an outcome, or a `JOB` whose end nobody will see, by its tag or id")
	completeFlag(c, "dismiss", a.completeJobs(openJob))
	return c
}

type recovery struct {
	app     *app
	rebuild bool
	dismiss string
}

func (r *recovery) run(ctx context.Context) error {
	if r.rebuild {
		if err := r.setAside(); err != nil {
			return err
		}
	}
	store, err := r.app.client().Store(ctx)
	if err != nil {
		return err
	}
	if r.dismiss != "" {
		return r.putAside(ctx, store)
	}
	found, looked, err := r.unresolved(ctx, store)
	listed, listErr := r.listed(ctx)
	r.tidy(ctx, append(looked, r.app.target))
	printErr := r.app.printSubmissions(append(found, listed...), "")
	return errors.Join(err, listErr, printErr)
}

// putAside dismisses what is named by a tag or by what a job is called.
func (r *recovery) putAside(ctx context.Context, store *jobstore.Store) error {
	job, err := r.app.recordedJob(ctx, r.dismiss)
	if err != nil {
		return err
	}
	job, err = control.Dismiss(ctx, store, job)
	if err == nil {
		r.app.say("%s: %s", cmp.Or(job.ID, job.Tag), job.Error)
	}
	return err
}

func (r *recovery) setAside() error {
	directory, err := r.app.client().StateFolder()
	if err != nil {
		return err
	}
	aside, err := jobstore.SetAside(directory)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		fmt.Fprintf(r.app.stderr, "the record of jobs is now %s\n", printable(aside))
	}
	return err
}

// unresolved looks up the submissions without an outcome, and those again that were
// found not to have become jobs, of which only what has changed is told. It also
// returns the targets of all of them.
func (r *recovery) unresolved(ctx context.Context, store *jobstore.Store) (told []job.Job, targets []string, err error) {
	open, err := store.Unresolved(ctx, r.app.target)
	if err != nil {
		return nil, nil, err
	}
	late, err := store.Unseen(ctx, time.Now().Add(-control.LastLateLook), r.app.target)
	if err != nil {
		return nil, nil, err
	}
	var problems []error
	for _, before := range append(open, late...) {
		j := before
		controller, err := r.app.controller(ctx, j.Target)
		if err == nil {
			j, err = controller.Recover(ctx, j)
		}
		if before.Phase != job.PhaseRejected || j.Phase != before.Phase {
			told = append(told, j)
		}
		problems = append(problems, err)
		targets = append(targets, j.Target)
	}
	return told, targets, errors.Join(problems...)
}

// tidy removes what submissions that were cut off have left on targets; the chosen
// target has an empty name.
func (r *recovery) tidy(ctx context.Context, targets []string) {
	tidied := map[*control.Controller]bool{}
	for _, target := range targets {
		controller, err := r.app.controller(ctx, target)
		if err != nil || tidied[controller] {
			continue // what is wrong with the target was told when it was asked
		}
		tidied[controller] = true
		if err := controller.Tidy(ctx); err != nil {
			r.app.say("files of submissions are still there: %v", err)
		}
	}
}

// listed finds the jobs of the target that are not on record. Only who names a
// target, or rebuilds, misses them where the definition cannot list jobs.
func (r *recovery) listed(ctx context.Context) ([]job.Job, error) {
	controller, err := r.app.controller(ctx, "")
	if err != nil {
		return nil, err
	}
	jobs, err := controller.Rediscover(ctx)
	if isA[*control.UnsupportedError](err) && r.app.target == "" && !r.rebuild {
		err = nil
	}
	return jobs, err
}
