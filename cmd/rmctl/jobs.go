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
	"github.com/rmctl/rmctl/internal/jobwatch"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// recentJobs is how many jobs are listed without --all and --limit.
const recentJobs = 20

// A jobsListing is the flags of the command jobs.
type jobsListing struct {
	app     *app
	chosen  selectionFlags
	choices listings.Choices

	ensemble string
	filter   selection.Filter
}

func newJobs(a *app) *cobra.Command {
	l := &jobsListing{app: a}
	var export, everyone, isWatched bool
	var prune string
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List jobs on record, or the jobs of all users",
		Long: `List jobs submitted with rmctl, newest first, in their last known state.

Without --all, rmctl lists 20 jobs, and no refused submissions. It queries no scheduler
unless you add --watch or --everyone. --everyone lists the jobs that the scheduler shows,
of all users.

` + listings.OutputHelp + `

` + servedHelp + `

` + watchHelp,
		Example: `  rmctl jobs
  rmctl jobs --state failed --name 'run*' --sort name --limit 5
  rmctl jobs --all --json -t slurm
  rmctl jobs -o table=job,state,nodes,ended
  rmctl output $(rmctl jobs -q --state failed --limit 1)
  rmctl jobs --everyone -t slurm
  rmctl jobs --watch
  rmctl jobs --export >jobs.jsonl
  rmctl jobs --prune 90d`,
		RunE: func(c *cobra.Command, _ []string) error {
			listing := []string{"everyone", "watch", "state", "name", "output", "quiet", "sort", "limit", "format", "ensemble"}
			err := errors.Join(excludes(c, "prune", append(listing, "all", "export")...), excludes(c, "export", append(listing, "all")...), excludes(c, "everyone", "all", "ensemble"), excludes(c, "all", "limit"))
			if err != nil {
				return err
			}
			if l.filter, err = l.chosen.filter(); err != nil {
				return err
			}
			store, err := a.client().Store(c.Context())
			if err == nil {
				err = a.finder().KnowsTarget(c.Context(), store)
			}
			if err != nil {
				return err
			}
			switch {
			case prune != "":
				return a.pruneJobs(c.Context(), store, prune)
			case export:
				return listings.Export(c.Context(), a.stdout, store, a.target)
			case everyone:
				return l.printEveryone(c.Context(), isWatched)
			}
			return l.run(c.Context(), store, isWatched)
		},
	}
	l.chosen.add(c, "list all jobs and refused submissions")
	c.Flags().StringVar(&l.ensemble, "ensemble", "", "jobs of the ensemble `ID`")
	completeFlag(c, "ensemble", cobra.NoFileCompletions)
	c.Flags().BoolVar(&export, "export", false, "print the whole record as JSON, one job per line, with submissions and histories")
	c.Flags().StringVar(&prune, "prune", "", "remove jobs from the record that ended more than `AGE` ago, such as 12h or 90d")
	c.Flags().BoolVar(&everyone, "everyone", false, "query the scheduler for the jobs of all users")
	addListing(c, &l.choices)
	addWatch(c, &isWatched)
	return c
}

// run prints the jobs on record, once or repeatedly.
func (l *jobsListing) run(ctx context.Context, store *jobstore.Store, isWatched bool) error {
	output, err := l.app.chosen(&l.choices)
	if err == nil {
		err = listings.RecordedJobs().Check(output)
	}
	if err != nil {
		return err
	}
	if !l.chosen.all {
		output = output.WithLimit(recentJobs)
	}
	if isWatched {
		return l.watch(ctx, store, output)
	}
	return l.print(ctx, store, output)
}

// errEnough ends a listing that is complete.
var errEnough = errors.New("enough jobs are listed")

// print prints the jobs on record.
func (l *jobsListing) print(ctx context.Context, store *jobstore.Store, output listings.Output) error {
	jobs, err := listings.RecordedJobs().Printer(output)
	if err != nil {
		return err
	}
	isEmpty := true
	err = store.EachListed(ctx, jobstore.Filter{Target: l.app.target, Ensemble: l.ensemble, All: true}, func(j *job.Job) error {
		switch {
		case !l.chosen.all && j.Phase == job.PhaseRejected || !l.filter.Matches(j):
			return nil
		case jobs.IsFull():
			return errEnough
		}
		isEmpty = false
		return jobs.Print(j)
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err == nil && isEmpty {
		l.app.sayNone(l.none())
	}
	return errors.Join(err, jobs.Flush(), store.Damaged())
}

// none returns why no job is listed.
func (l *jobsListing) none() string {
	if l.filter.IsAll() && l.ensemble == "" {
		return "no jobs on record\nrun rmctl jobs --everyone to list the jobs of the scheduler"
	}
	return "no jobs on record match"
}

// printSubmissions prints jobs with the time of their submission.
func (a *app) printSubmissions(all []job.Job) error {
	jobs := make([]*job.Job, len(all))
	for i := range all {
		jobs[i] = &all[i]
	}
	return listings.RecordedJobs().PrintAll(a.listing(), jobs, "")
}

// watch prints the jobs on record repeatedly. Meanwhile it queries those that have not
// ended, as often as their definitions allow.
func (l *jobsListing) watch(ctx context.Context, store *jobstore.Store, output listings.Output) error {
	return l.app.watchListing(ctx, "jobs", jobwatch.AskPace, output, func(ctx context.Context) (listings.Listed, error) {
		open, err := store.List(ctx, jobstore.Filter{Target: l.app.target})
		if err != nil {
			return listings.Listed{}, err
		}
		jobs, err := l.app.finder().WithControllers(ctx, open)
		if err == nil {
			err = selection.Refresh(ctx, jobs, false)
		}
		return listings.Listed{Print: func(output listings.Output) error { return l.print(ctx, store, output) }}, jobwatch.UnlessStale(err)
	})
}

// printEveryone prints the jobs that the target's scheduler lists, once or repeatedly.
func (l *jobsListing) printEveryone(ctx context.Context, isWatched bool) error {
	return listingOf[job.Document]{
		what: "jobs", command: config.ListJobs, kind: listings.JobsOfEveryone(), none: "the scheduler lists no jobs",
		of: elements.JobsOf, print: l.printListed,
		served: func(client *api.Client, ctx context.Context, target settings.Target) ([]job.Document, time.Time, error) {
			jobs, wrong, at, err := client.Jobs(ctx, target)
			if err == nil {
				l.app.warnOfListing()(config.ListJobs, wrong)
			}
			return jobs, at, err
		},
	}.run(ctx, l.app, &l.choices, isWatched)
}

// printListed prints those of the listed jobs that the filter chooses.
func (l *jobsListing) printListed(output listings.Output, jobs []job.Document, none string) error {
	chosen := make([]job.Document, 0, len(jobs))
	for _, j := range jobs {
		if l.filter.Matches(&job.Job{Observation: job.Observation{Detail: job.Detail(j.Detail), Name: j.Name}}) {
			chosen = append(chosen, j)
		}
	}
	return listings.JobsOfEveryone().PrintAll(output, chosen, none)
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
	_, err = fmt.Fprintf(a.stdout, "removed %d jobs from the record\n", count)
	return err
}

// parseAge parses a duration, which may be in days.
func parseAge(text string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		number, err := strconv.Atoi(days)
		if err != nil || number < 0 || number > 100*365 {
			return 0, usage("--prune %q: enter a number of days such as 90d", text)
		}
		return time.Duration(number) * 24 * time.Hour, nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, usage("--prune %q: enter a duration such as 12h or 90d", text)
	}
	return age, nil
}
