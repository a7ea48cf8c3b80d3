package main

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/jobstore"
)

// recentJobs is how many jobs are listed without --all.
const recentJobs = 20

func newJobs(a *app) *cobra.Command {
	var all, export bool
	var prune string
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List the jobs that were submitted through rmctl",
		Long: `jobs lists what was submitted through rmctl, newest first, as it was last seen:
it asks no scheduler. Without --all it shows the last 20, and no submission
that was refused.`,
		Example: `  rmctl jobs
  rmctl jobs --all --json -t slurm
  rmctl jobs --export >jobs.jsonl
  rmctl jobs --prune 90d`,
		Args: exactly(0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := a.openStore(c.Context())
			if err != nil {
				return err
			}
			if err := errors.Join(excludes(c, "prune", "all", "export"), excludes(c, "export", "all")); err != nil {
				return err
			}
			switch {
			case prune != "":
				return a.pruneJobs(c.Context(), store, prune)
			case export:
				return a.exportJobs(c.Context(), store)
			}
			filter := jobstore.Filter{Target: a.target, All: true}
			if !all {
				filter.Limit = recentJobs
			}
			jobs, err := store.List(c.Context(), filter)
			if err != nil {
				return err
			}
			if !all {
				jobs = slices.DeleteFunc(jobs, func(job jobstore.Job) bool { return job.Phase == jobstore.Rejected })
			}
			return a.printJobs(jobs, []string{"JOB", "TARGET", "DETAIL", "SUBMITTED", "NAME", ""}, submittedRow)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list all, also submissions that were refused")
	c.Flags().BoolVar(&export, "export", false, "print everything on record: each job with its submission and its history, as JSON on a line")
	c.Flags().StringVar(&prune, "prune", "", "forget the jobs that have ended and are older than this `AGE`, such as 12h or 90d")
	return c
}

func submittedRow(job jobstore.Job, now time.Time) []string {
	return []string{
		orDash(job.ID), orDash(job.Target), string(detailOf(job)), age(job.Created, now) + " ago",
		orDash(job.Name), remark(job),
	}
}
