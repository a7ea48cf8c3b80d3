package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// recentJobs is how many jobs are listed without --all.
const recentJobs = 20

func newJobs(a *app) *cobra.Command {
	var all, export, everyone, isWatched bool
	var prune string
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List jobs submitted with rmctl, or the jobs of all users",
		Long: `jobs lists the jobs submitted with rmctl, newest first, in their last known state. It
does not query a scheduler. Without --all it lists the last 20, without refused submissions.

--everyone queries the target's scheduler for the jobs of all users that it shows.
` + servedHelp + `

` + watchHelp + `
Without --everyone it queries the jobs that have not ended.`,
		Example: `  rmctl jobs
  rmctl jobs --all --json -t slurm
  rmctl jobs --everyone -t slurm
  rmctl jobs --watch
  rmctl jobs --export >jobs.jsonl
  rmctl jobs --prune 90d`,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := a.client().Store(c.Context())
			if err != nil {
				return err
			}
			err = errors.Join(excludes(c, "prune", "all", "export", "everyone", "watch"), excludes(c, "export", "all", "everyone", "watch"), excludes(c, "everyone", "all"))
			if err != nil {
				return err
			}
			if err := a.finder().KnowsTarget(c.Context(), store); err != nil {
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
			return a.printRecorded(c.Context(), store, all, a.listing(""))
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list all jobs, also refused submissions")
	c.Flags().BoolVar(&export, "export", false, "print the whole record: a JSON object per job, with its submission and history")
	c.Flags().StringVar(&prune, "prune", "", "forget jobs that have ended and are older than `AGE`, such as 12h or 90d")
	c.Flags().BoolVar(&everyone, "everyone", false, "query the scheduler for the jobs of all users")
	addWatch(c, &isWatched)
	return c
}

// printRecorded prints the jobs on record.
func (a *app) printRecorded(ctx context.Context, store *jobstore.Store, all bool, output listings.Output) error {
	filter := jobstore.Filter{Target: a.target, All: true}
	if !all {
		filter.Limit = recentJobs
	}
	jobs, isEmpty := listings.RecordedJobs(output.Seen).Printer(output), true
	err := store.EachListed(ctx, filter, func(j *job.Job) error {
		if !all && j.Phase == job.PhaseRejected {
			return nil
		}
		isEmpty = false
		return jobs.Print(j)
	})
	if err == nil && isEmpty {
		a.sayNone("no job is on record; rmctl jobs --everyone lists what a scheduler has")
	}
	return errors.Join(err, jobs.Flush(), store.Damaged())
}

// printSubmissions prints jobs with the time of their submission.
func (a *app) printSubmissions(all []job.Job) error {
	jobs := listings.RecordedJobs("").Printer(a.listing(""))
	for i := range all {
		if err := jobs.Print(&all[i]); err != nil {
			return err
		}
	}
	return jobs.Flush()
}

// watchJobs prints the jobs on record repeatedly. Meanwhile it queries those that have not
// ended, as often as their definitions allow.
func (a *app) watchJobs(ctx context.Context, store *jobstore.Store, all bool) error {
	return a.watchListing(ctx, "jobs", askPace, func(ctx context.Context) (listings.Listed, error) {
		open, err := store.List(ctx, jobstore.Filter{Target: a.target})
		if err != nil {
			return listings.Listed{}, err
		}
		jobs, err := a.finder().WithControllers(ctx, open)
		if err == nil {
			err = selection.Refresh(ctx, jobs, false)
		}
		return listings.Listed{Print: func(output listings.Output) error { return a.printRecorded(ctx, store, all, output) }}, unlessStale(err)
	})
}

// printJobsOfEveryone prints the jobs that the target's scheduler lists, once or repeatedly.
func (a *app) printJobsOfEveryone(ctx context.Context, isWatched bool) error {
	return listingOf[job.Document]{
		what: "jobs", kind: config.ListJobs, print: listings.PrintJobsOfEveryone, of: elements.JobsOf,
		served: func(client *api.Client, ctx context.Context, target settings.Target) ([]job.Document, time.Time, error) {
			jobs, wrong, at, err := client.Jobs(ctx, target)
			if err == nil {
				a.warnOfListing()(config.ListJobs, wrong)
			}
			return jobs, at, err
		},
	}.run(ctx, a, isWatched)
}

// pruneJobs forgets jobs that have ended and are older than an age.
func (a *app) pruneJobs(ctx context.Context, store *jobstore.Store, text string) error {
	age, err := parseAge(text)
	if err != nil {
		return err
	}
	count, err := store.Prune(ctx, time.Now().Add(-age), a.target)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%d forgotten\n", count)
	return err
}

// parseAge parses a duration, which may be in days.
func parseAge(text string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		number, err := strconv.Atoi(days)
		if err != nil || number < 0 || number > 100*365 {
			return 0, usage("--prune %q: write a number of days, such as 90d", text)
		}
		return time.Duration(number) * 24 * time.Hour, nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, usage("--prune %q: write a length of time, such as 12h or 90d", text)
	}
	return age, nil
}

// exportedJob is a job with everything on record about it.
type exportedJob struct {
	job.Document
	Definition string         `json:"definition"`
	Connection string         `json:"connection"`
	Directory  string         `json:"directory,omitempty"`
	Arguments  []string       `json:"arguments,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
	Script     string         `json:"script,omitempty"`
	Request    string         `json:"request,omitempty"`
	History    []job.Event    `json:"history"`
}

// exportJobs prints the whole record, oldest job first. What cannot be read is left out, and an
// error.
func (a *app) exportJobs(ctx context.Context, store *jobstore.Store) error {
	jobs, err := store.List(ctx, jobstore.Filter{Target: a.target, All: true})
	if err != nil {
		return err
	}
	var unreadable []error
	for i := len(jobs) - 1; i >= 0; i-- {
		j, err := store.ByTag(ctx, jobs[i].Tag)
		if err != nil {
			unreadable = append(unreadable, err)
		}
		if j.Tag == "" {
			continue
		}
		exported := exportedJob{
			Document: j.Document(), Definition: j.Definition, Connection: j.Connection, Directory: j.Directory,
			Arguments: j.Arguments, Attributes: j.Attributes, Script: j.Script, Request: j.Request, History: []job.Event{},
		}
		err = store.History(ctx, j.Tag, func(event job.Event) error {
			exported.History = append(exported.History, event)
			return nil
		})
		if err != nil {
			unreadable = append(unreadable, err)
		}
		if err := terminal.JSON(a.stdout, exported); err != nil {
			return err
		}
	}
	return errors.Join(append(unreadable, store.Damaged())...)
}
