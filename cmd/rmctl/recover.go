package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/doubt"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newRecover(a *app) *cobra.Command {
	r := &recoverCommand{app: a}
	c := &cobra.Command{
		Use:   "recover",
		Short: "Recover interrupted submissions and lost jobs",
		Long: `Find the jobs of interrupted submissions, and jobs missing from the record.

A submission is in doubt if rmctl was killed, the connection broke, or the submit command
timed out. rmctl lists the jobs of the scheduler. It adds those that were submitted with
rmctl and are missing from the record. If a submission certainly created no job, rmctl
records it as not submitted and removes its files. rmctl recover never submits anything.

--adopt assigns a job to a submission in doubt where the scheduler does not identify it.
rmctl refuses a job that is on record, belongs to another user, or is older than the
submission.

--dismiss gives up a submission whose scheduler cannot be queried, or a job that its
scheduler has forgotten. The last observation stays on record. rmctl refuses a job that
may be running.

--rebuild copies all that is readable from a damaged record to a new one. It keeps the
damaged files, and prints what is lost.`,
		Example: `  rmctl recover
  rmctl recover -t slurm --rebuild
  rmctl recover --adopt 4711 --as 2f1c…
  rmctl recover --dismiss 2f1c…
  rmctl recover --dismiss slurm/4711`,
		RunE: func(c *cobra.Command, _ []string) error { return r.run(c.Context()) },
	}
	c.Flags().BoolVar(&r.rebuild, "rebuild", false, "copy all that is readable from a damaged record to a new one")
	c.Flags().StringVar(&r.dismiss, "dismiss", "", "tag or id of the submission or `JOB` to give up")
	completeFlag(c, "dismiss", a.completeJobs(openJob))
	c.Flags().StringVar(&r.adopt, "adopt", "", "`JOB` that a submission in doubt created")
	c.Flags().StringVar(&r.as, "as", "", "`TAG` of that submission, if several are in doubt")
	completeFlag(c, "as", a.completeJobs(doubtfulJob))
	c.MarkFlagsMutuallyExclusive("adopt", "dismiss")
	c.MarkFlagsMutuallyExclusive("adopt", "rebuild")
	return c
}

type recoverCommand struct {
	app     *app
	rebuild bool
	dismiss string
	adopt   string
	as      string
}

func (r *recoverCommand) run(ctx context.Context) error {
	if r.as != "" && r.adopt == "" {
		return usage("--as requires --adopt")
	}
	if r.rebuild {
		if err := r.rebuildRecord(ctx); err != nil {
			return err
		}
	}
	store, err := r.app.client().Store(ctx)
	switch {
	case err != nil:
		return err
	case r.dismiss != "":
		return r.dismissJob(ctx, store)
	case r.adopt != "":
		return r.adoptJob(ctx, store)
	}
	open, err := r.open(ctx, store)
	if err != nil {
		return err
	}
	listed, listErr := r.listed(ctx, targetsOf(open))
	found, inDoubt := r.recover(ctx, open)
	r.tidy(ctx, append(targetsOf(open), r.app.target))
	found = withoutAny(found, listed)
	r.summarize(append(found, listed...), inDoubt.Count())
	printErr := r.app.printSubmissions(append(found, listed...))
	return errors.Join(inDoubt.Err(), listErr, printErr, store.Damaged())
}

// dismissJob dismisses the submission or job of the flag.
func (r *recoverCommand) dismissJob(ctx context.Context, store *jobstore.Store) error {
	job, err := r.app.finder().Recorded(ctx, r.dismiss)
	if err != nil {
		return err
	}
	job, err = recovery.Dismiss(ctx, store, job)
	if err == nil {
		r.app.say("%s: %s", cmp.Or(job.ID, job.Tag), job.Error)
	}
	return err
}

func (r *recoverCommand) rebuildRecord(ctx context.Context) error {
	directory, err := r.app.client().StateFolder()
	if err != nil {
		return err
	}
	aside, report, err := jobstore.Rebuild(ctx, directory)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		r.app.say("the damaged record is now %s", aside)
	}
	for _, line := range report {
		r.app.say("%s", line)
	}
	return err
}

// open returns the submissions without an outcome, and those that are on record as not made,
// but may be accepted late.
func (r *recoverCommand) open(ctx context.Context, store *jobstore.Store) ([]job.Job, error) {
	open, err := store.Unresolved(ctx, r.app.target)
	if err != nil {
		return nil, err
	}
	late, err := store.Unseen(ctx, time.Now().Add(-recovery.LastLateLook), r.app.target)
	return append(open, late...), err
}

// recover looks up submissions, those of a target together. Of those that are on record as
// not made it returns only the ones that changed.
func (r *recoverCommand) recover(ctx context.Context, open []job.Job) (found []job.Job, inDoubt doubt.Submissions) {
	for _, target := range targetsOf(open) {
		group := slices.DeleteFunc(slices.Clone(open), func(j job.Job) bool { return j.Target != target })
		controller, err := r.app.controller(ctx, target)
		if err != nil {
			inDoubt.Add(job.Job{}, err)
			found = append(found, group...)
			continue
		}
		progress := terminal.StartProgress(r.app.stderr, r.app.verbose > 0, "looking for submissions at "+target, len(group))
		recovered, problems := controller.RecoverEach(ctx, group, progress.Set)
		progress.Stop()
		for i, now := range recovered {
			inDoubt.Add(now, problems[i])
			if group[i].Phase != job.PhaseRejected || now.Phase != job.PhaseRejected {
				found = append(found, now)
			}
		}
	}
	return found, inDoubt
}

// targetsOf returns the targets of jobs, each once.
func targetsOf(jobs []job.Job) []string {
	var targets []string
	for _, j := range jobs {
		if !slices.Contains(targets, j.Target) {
			targets = append(targets, j.Target)
		}
	}
	return targets
}

// withoutAny returns jobs without those that others have.
func withoutAny(jobs, others []job.Job) []job.Job {
	return slices.DeleteFunc(jobs, func(j job.Job) bool {
		return slices.ContainsFunc(others, func(other job.Job) bool { return other.Tag == j.Tag })
	})
}

// tidy removes the files of interrupted submissions on targets; the chosen target has an empty
// name.
func (r *recoverCommand) tidy(ctx context.Context, targets []string) {
	tidied := map[*control.Controller]bool{}
	for _, target := range targets {
		controller, err := r.app.controller(ctx, target)
		if err != nil || tidied[controller] {
			continue // the error was reported before
		}
		tidied[controller] = true
		if err := controller.Tidy(ctx); err != nil {
			r.app.say("cannot remove files of submissions: %v", err)
		}
	}
}

// listed finds the jobs of the chosen target that are not on record, and of other targets that
// have submissions in doubt: one listing may have many of them. It is an error if the definition of the
// chosen one cannot list jobs only with -t.
func (r *recoverCommand) listed(ctx context.Context, others []string) ([]job.Job, error) {
	chosen, err := r.app.controller(ctx, "")
	if err != nil {
		return nil, err
	}
	jobs, err := chosen.Rediscover(ctx)
	if isA[*control.UnsupportedError](err) && r.app.target == "" {
		err = nil
	}
	for _, target := range others {
		other, otherErr := r.app.controller(ctx, target)
		if otherErr != nil || other == chosen {
			continue // looking the submissions up says why
		}
		found, otherErr := other.Rediscover(ctx)
		if jobs = append(jobs, found...); otherErr != nil && !isA[*control.UnsupportedError](otherErr) {
			err = errors.Join(err, otherErr)
		}
	}
	return jobs, err
}

// adoptJob records that a submission without an outcome became the job of the flag.
func (r *recoverCommand) adoptJob(ctx context.Context, store *jobstore.Store) error {
	target, id, err := r.app.finder().Split(r.adopt)
	if err != nil {
		return err
	}
	submission, err := r.submission(ctx, store, target)
	if err != nil {
		return err
	}
	controller, err := r.app.finder().ControllerOf(ctx, job.Job{Target: submission.Target, ID: id})
	if err != nil {
		return err
	}
	adopted, err := controller.Adopt(ctx, submission.Tag, id)
	if err != nil {
		return err
	}
	return r.app.printSubmissions([]job.Job{adopted})
}

// submission returns the one that the flags mean: by its tag, or the only one in doubt.
func (r *recoverCommand) submission(ctx context.Context, store *jobstore.Store, target string) (job.Job, error) {
	if r.as != "" {
		submission, err := r.app.finder().Recorded(ctx, r.as)
		if err == nil && target != "" && submission.Target != target {
			err = usage("submission %s is of target %s, not of %s", submission.Tag, submission.Target, target)
		}
		return submission, err
	}
	open, err := store.Unresolved(ctx, target)
	switch {
	case err != nil:
		return job.Job{}, err
	case len(open) == 0:
		return job.Job{}, fmt.Errorf("no submission is in doubt")
	case len(open) > 1:
		return job.Job{}, usage("%d submissions are in doubt\nadd --as and the tag of one:\n%s", len(open), doubt.List(open))
	}
	return open[0], nil
}

// summarize prints how many submissions were decided, if any were in question.
func (r *recoverCommand) summarize(jobs []job.Job, doubt int) {
	adopted, notMade := 0, 0
	for _, j := range jobs {
		switch {
		case j.ID != "":
			adopted++
		case j.Phase == job.PhaseRejected:
			notMade++
		}
	}
	if len(jobs) > 0 {
		r.app.say("%d adopted, %d not submitted, %d in doubt", adopted, notMade, doubt)
	}
}
