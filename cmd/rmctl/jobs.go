package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// recentJobs is how many jobs are listed without --all.
const recentJobs = 20

func newJobs(a *app) *cobra.Command {
	var all, export, everyone, isWatched bool
	var prune string
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List the jobs that were submitted through rmctl, or everybody's",
		Long: `jobs lists what was submitted through rmctl, newest first, as it was last seen:
it asks no scheduler. Without --all it shows the last 20, and no submission
that was refused.

--everyone asks the target's scheduler for the jobs of everybody, as far as it shows
them. Where rmctl serve has listed them less than half a minute ago, and the definition
lets no newer listing be made, its listing is printed.

` + watchHelp + `
Without --everyone it has the jobs asked for that have not ended.`,
		Example: `  rmctl jobs
  rmctl jobs --all --json -t slurm
  rmctl jobs --everyone -t slurm
  rmctl jobs --watch
  rmctl jobs --export >jobs.jsonl
  rmctl jobs --prune 90d`,
		Args: exactly(0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := a.openStore(c.Context())
			if err != nil {
				return err
			}
			err = errors.Join(excludes(c, "prune", "all", "export", "everyone", "watch"), excludes(c, "export", "all", "everyone", "watch"), excludes(c, "everyone", "all"))
			if err != nil {
				return err
			}
			if err := a.knowsTarget(c.Context(), store); err != nil {
				return err
			}
			switch {
			case prune != "":
				return a.pruneJobs(c.Context(), store, prune)
			case export:
				return a.exportJobs(c.Context(), store)
			case everyone:
				return a.printJobsOfEveryone(c.Context(), isWatched)
			case isWatched:
				return a.watchJobs(c.Context(), store, all)
			}
			return a.printRecorded(c.Context(), store, all, "")
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list all, also submissions that were refused")
	c.Flags().BoolVar(&export, "export", false, "print everything on record: each job with its submission and its history, as JSON on a line")
	c.Flags().StringVar(&prune, "prune", "", "forget the jobs that have ended and are older than this `AGE`, such as 12h or 90d")
	c.Flags().BoolVar(&everyone, "everyone", false, "ask the scheduler for the jobs of everybody")
	addWatch(c, &isWatched)
	return c
}

// printRecorded prints the jobs on record, as of a time where that is said.
func (a *app) printRecorded(ctx context.Context, store *jobstore.Store, all bool, seen string) error {
	filter := jobstore.Filter{Target: a.target, All: true}
	if !all {
		filter.Limit = recentJobs
	}
	jobs, err := store.List(ctx, filter)
	if err != nil {
		return err
	}
	if !all {
		jobs = slices.DeleteFunc(jobs, func(j job.Job) bool { return j.Phase == job.PhaseRejected })
	}
	if len(jobs) == 0 {
		a.sayNone("no job is on record; rmctl jobs --everyone lists what a scheduler has")
	}
	if a.json && seen != "" {
		for _, each := range jobs {
			document := each.Document()
			document.Seen = seen
			if err := terminal.JSON(a.stdout, document); err != nil {
				return err
			}
		}
		return nil
	}
	return a.printJobs(jobs, []string{"JOB", "TARGET", "DETAIL", "SUBMITTED", "NAME", ""}, submittedRow)
}

// watchJobs prints the jobs on record again and again, and has those asked for
// meanwhile that have not ended, as often as their definitions let it.
func (a *app) watchJobs(ctx context.Context, store *jobstore.Store, all bool) error {
	return a.watchListing(ctx, "jobs", askPace, func(ctx context.Context) (listed, error) {
		open, err := store.List(ctx, jobstore.Filter{Target: a.target})
		if err != nil {
			return listed{}, err
		}
		// What cannot be asked for is shown as stale.
		jobs, err := a.withControllers(ctx, open)
		if err == nil {
			err = a.refresh(ctx, jobs, false)
		}
		var failed *control.QueryError
		if errors.As(err, &failed) || errors.Is(err, control.ErrPaused) || errors.Is(err, remote.ErrUnreachable) {
			err = nil
		}
		return listed{print: func(seen string) error { return a.printRecorded(ctx, store, all, seen) }}, err
	})
}

func submittedRow(job job.Job, now time.Time) []string {
	submitted := "-"
	if at := job.SubmittedAt(); !at.IsZero() {
		submitted = terminal.Age(at, now) + " ago"
	}
	return []string{
		terminal.OrDash(job.ID), terminal.OrDash(job.Target), string(job.DetailOrUndetermined()), submitted,
		terminal.OrDash(job.Name), remark(job),
	}
}
