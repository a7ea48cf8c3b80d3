package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newStatus(a *app) *cobra.Command {
	var fresh bool
	var choices listings.Choices
	var tool string
	var chosen selectionFlags
	c := &cobra.Command{
		Use:               "status [JOB...]",
		ValidArgsFunction: a.completeJobs(anyJob),
		Short:             "Show the state of jobs",
		Long: `Show the state of jobs: id, target, state, detail, queue, and age of the last query.

Without JOB, rmctl shows all jobs that have not ended, or those that --state, --name and
--all choose.

` + listings.OutputHelp + `

--fresh queries the scheduler instead of using recent answers. If a query fails, the job
keeps its last known state and is marked stale, and rmctl exits with 3; with --as it exits
with 0, because Snakemake and BatchSpawner must not take a failed query for the end of a
job.`,
		Example: `  rmctl status
  rmctl status slurm/4711 --fresh
  rmctl status --state failed --name 'run*'
  rmctl status --json 4711
  rmctl status --format '{{.State}} {{.ExitCode}}' 4711
  snakemake --executor cluster-generic --cluster-generic-status-cmd 'rmctl status --as snakemake' ...`,
		RunE: func(c *cobra.Command, arguments []string) error {
			if tool != "" {
				if err := excludes(c, "as", "all", "state", "name", "output", "quiet", "sort", "limit", "format", "json"); err != nil {
					return err
				}
				return a.statusAs(c, tool, arguments, fresh)
			}
			output, err := a.chosen(&choices)
			filter, filterErr := chosen.filter()
			if err = errors.Join(err, filterErr); err == nil {
				err = listings.StatusOfJobs().Check(output)
			}
			if err != nil {
				return err
			}
			withEnded := chosen.all || chosen.state != ""
			jobs, err := a.statusJobs(c.Context(), arguments, withEnded)
			queryErr := selection.Refresh(c.Context(), jobs, fresh)
			jobs = slices.DeleteFunc(jobs, func(j selection.Handle) bool {
				isLeftOut := j.Phase == job.PhaseRejected && !chosen.all || j.Detail.Ended() && !withEnded
				return len(arguments) == 0 && isLeftOut || !filter.Matches(&j.Job)
			})
			return errors.Join(a.printStatus(c.Context(), jobs, output), err, queryErr)
		},
	}
	c.Flags().BoolVar(&fresh, "fresh", false, "query the scheduler, even if its last answer is recent")
	c.Flags().StringVar(&tool, "as", "", "print the state of one job for `PROGRAM` snakemake or batchspawner")
	completeFlag(c, "as", cobra.FixedCompletions(listings.Tools(), cobra.ShellCompDirectiveNoFileComp))
	chosen.add(c, "show all jobs on record, including those that have ended")
	addListing(c, &choices)
	return c
}

// statusAs prints the state of a job as another program reads it. Only a job that is not found
// is an error: the program would take any for the end of the job.
func (a *app) statusAs(c *cobra.Command, tool string, arguments []string, fresh bool) error {
	if err := exactly(1, "JOB")(c, arguments); err != nil {
		return err
	}
	if _, err := listings.StatusFor(tool, &job.Job{}); err != nil {
		return err
	}
	jobs, err := a.finder().JobsToShow(c.Context(), arguments)
	if len(jobs) == 0 { // its target may be out of reach
		recorded, unknown := a.finder().Recorded(c.Context(), arguments[0])
		if unknown != nil {
			return err
		}
		jobs = []selection.Handle{{Job: recorded}}
	}
	if len(jobs) > 1 {
		return usage("--as requires a single job, but %q are %d", arguments[0], len(jobs))
	}
	err = errors.Join(err, selection.Refresh(c.Context(), jobs, fresh))
	if err != nil {
		a.say("%v", err)
	}
	state, err := listings.StatusFor(tool, &jobs[0].Job)
	if err == nil {
		_, err = fmt.Fprintln(a.stdout, oneLine(state))
	}
	return err
}

// statusJobs returns the named jobs, or all on record that have not ended, and with them those
// that have. These are returned also with an error, if their targets cannot be queried.
func (a *app) statusJobs(ctx context.Context, names []string, withEnded bool) ([]selection.Handle, error) {
	if len(names) > 0 {
		return a.finder().JobsToShow(ctx, names)
	}
	store, err := a.client().Store(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.finder().KnowsTarget(ctx, store); err != nil {
		return nil, err
	}
	listed, err := store.List(ctx, jobstore.Filter{Target: a.target, All: withEnded})
	if err != nil {
		return nil, err
	}
	isEnded := func(j job.Job) bool { return j.Detail.Ended() || j.Phase == job.PhaseRejected }
	jobs, err := a.finder().WithControllers(ctx, slices.DeleteFunc(slices.Clone(listed), isEnded))
	for _, j := range listed {
		if isEnded(j) {
			jobs = append(jobs, selection.Handle{Job: j})
		}
	}
	late, lateErr := a.lateJobs(ctx, store)
	jobs = slices.DeleteFunc(jobs, func(j selection.Handle) bool {
		return slices.ContainsFunc(late, func(other selection.Handle) bool { return other.Tag == j.Tag })
	})
	return append(jobs, late...), errors.Join(err, lateErr, store.Damaged())
}

// lateJobs returns the submissions that are on record as not made but whose jobs may have
// appeared since. It only warns of targets that cannot be queried.
func (a *app) lateJobs(ctx context.Context, store *jobstore.Store) ([]selection.Handle, error) {
	now := time.Now()
	unseen, err := store.Unseen(ctx, now.Add(-recovery.LastLateLook), a.target)
	if err != nil {
		return nil, err
	}
	due := slices.DeleteFunc(unseen, func(job job.Job) bool { return !recovery.IsDue(job, now) })
	late, err := a.finder().WithControllers(ctx, due)
	if err != nil {
		a.say("cannot look for late jobs of submissions: %v", err)
	}
	return slices.DeleteFunc(late, func(job selection.Handle) bool { return job.Controller == nil }), nil
}

func (a *app) printStatus(ctx context.Context, asked []selection.Handle, output listings.Output) error {
	notUnderstood, err := a.warnOfNotUnderstood(ctx, asked)
	if err != nil {
		return err
	}
	store, err := a.client().Store(ctx)
	if err != nil {
		return err
	}
	tracked, err := store.Polls().TrackedTags(ctx)
	if err != nil {
		return err
	}
	lines := make([]*listings.Status, len(asked))
	for i, job := range asked {
		lines[i] = &listings.Status{Job: job.Job}
		if !output.HasDocuments() {
			continue
		}
		printed, err := a.withProcesses(ctx, store, job.Job, tracked)
		if err != nil {
			return err
		}
		lines[i].Document = listings.StatusDocument{Document: printed, NotUnderstood: notUnderstood[job.Controller]}
	}
	return listings.StatusOfJobs().PrintAll(output, lines, "no active jobs on record\nrun rmctl jobs to list ended ones")
}

// warnOfNotUnderstood warns of targets whose definitions did not understand answers of the
// scheduler, and returns the number of such answers.
func (a *app) warnOfNotUnderstood(ctx context.Context, asked []selection.Handle) (map[*control.Controller]int, error) {
	counts := map[*control.Controller]int{}
	for _, of := range selection.ByController(asked, func(job selection.Handle) bool { return job.Controller != nil }) {
		perCommand, err := of.Controller.NotUnderstood(ctx)
		if err != nil {
			return nil, err
		}
		for _, command := range perCommand {
			counts[of.Controller] += command.Count
		}
		if count := counts[of.Controller]; count > 0 {
			target := of.Controller.Target
			a.say("warning: %s: the definition did not understand %s\nrun rmctl doctor -t %s for details", target, counted(count, "answer"), shellescape.Quote(target))
		}
	}
	return counts, nil
}

func newExplain(a *app) *cobra.Command {
	var flags selectionFlags
	var asks bool
	explain := &cobra.Command{
		Use:   "explain [JOB...]",
		Short: "Explain the state of jobs",
		Long: `Explain the state of jobs: what rmctl observed, when, by which command, and in which line
of its output.

rmctl queries no scheduler unless you add --ask. It then prints what the command printed,
the records that the definition reads, the row and the facts that determine the state, and
what it rejects, with the reason.

` + selectionHelp,
		Example: `  rmctl explain 4711
  rmctl explain --json slurm/4711
  rmctl explain last`,
		ValidArgsFunction: a.completeJobs(anyJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			store, err := a.client().Store(c.Context())
			if err != nil {
				return err
			}
			choice, err := flags.choice(c, arguments)
			if err != nil {
				return err
			}
			jobs, err := a.chosenRecorded(c, a.finder(), choice, "have a history")
			if err != nil {
				return err
			}
			return a.eachUnderHeading(jobs, func(job job.Job) error {
				var err error
				if asks {
					job, err = a.explainQuery(c.Context(), job)
				}
				if err != nil {
					return err
				}
				return a.explain(c, store, job)
			})
		},
	}
	flags.add(explain, "choose all jobs on record")
	explain.Flags().BoolVar(&asks, "ask", false, "query the scheduler, and show how the definition reads its answer")
	return explain
}

func (a *app) explain(c *cobra.Command, store *jobstore.Store, j job.Job) error {
	if whole := terminal.PartOf(j.Ensemble, j.Part); whole != "" && !a.json {
		fmt.Fprintln(a.stdout, oneLine(whole))
	}
	events, err := listings.Events().Printer(a.listing())
	if err == nil {
		err = store.History(c.Context(), j.Tag, events.Print)
	}
	if err != nil {
		return err
	}
	return events.Flush()
}
