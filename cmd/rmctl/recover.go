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
		Short: "Recover interrupted submissions and lost jobs",
		Long: `recover queries the schedulers for every submission with an unknown outcome: rmctl was
killed, a connection broke, or a submit command timed out. It adopts the job if there is
one; if there certainly is none, it records the submission as not made and removes its
files. Then it lists the jobs of the target, and adopts those that were submitted with
rmctl and are not on record. It never submits anything.

--dismiss gives up a submission or job. A submission whose scheduler cannot be queried is
recorded as not made. A job that its scheduler has forgotten, or whose terminal is gone, is
no longer shown by rmctl status; its last observation stays on record. A job that may be
running cannot be dismissed.`,
		Example: `  rmctl recover
  rmctl recover -t slurm --rebuild
  rmctl recover --dismiss 2f1c…
  rmctl recover --dismiss slurm/4711`,
		RunE: func(c *cobra.Command, _ []string) error { return r.run(c.Context()) },
	}
	c.Flags().BoolVar(&r.rebuild, "rebuild", false, "set the record of jobs aside, even if it is damaged, and begin a new one")
	c.Flags().StringVar(&r.dismiss, "dismiss", "", "give up a submission without an outcome, or a `JOB` whose end cannot be observed, by tag or id")
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
		return r.dismissJob(ctx, store)
	}
	found, looked, err := r.unresolved(ctx, store)
	listed, listErr := r.listed(ctx)
	r.tidy(ctx, append(looked, r.app.target))
	printErr := r.app.printSubmissions(append(found, listed...))
	return errors.Join(err, listErr, printErr)
}

// dismissJob dismisses the submission or job of the flag.
func (r *recovery) dismissJob(ctx context.Context, store *jobstore.Store) error {
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

// unresolved looks up the submissions without an outcome, and again those that are on record
// as not made, of which it returns only those that changed. It also returns the targets of
// all of them.
func (r *recovery) unresolved(ctx context.Context, store *jobstore.Store) (found []job.Job, targets []string, err error) {
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
			found = append(found, j)
		}
		problems = append(problems, err)
		targets = append(targets, j.Target)
	}
	return found, targets, errors.Join(problems...)
}

// tidy removes the files of interrupted submissions on targets; the chosen target has an empty
// name.
func (r *recovery) tidy(ctx context.Context, targets []string) {
	tidied := map[*control.Controller]bool{}
	for _, target := range targets {
		controller, err := r.app.controller(ctx, target)
		if err != nil || tidied[controller] {
			continue // the error was reported before
		}
		tidied[controller] = true
		if err := controller.Tidy(ctx); err != nil {
			r.app.say("files of submissions are still there: %v", err)
		}
	}
}

// listed finds the jobs of the target that are not on record. It is an error if the definition
// cannot list jobs only with -t or --rebuild.
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
