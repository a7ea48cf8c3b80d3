package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newStatus(a *app) *cobra.Command {
	var fresh bool
	c := &cobra.Command{
		Use:               "status [JOB...]",
		ValidArgsFunction: a.completeJobs(anyJob),
		Short:             "Show the state of jobs",
		Long: `status shows one line per job: id, target, state, detail, queue, and how old the
evidence is. Without a job it shows all that have not ended.

A state is only changed by evidence: when a query fails the line shows what was
known before, marked stale, and rmctl exits with 3. If the definition did not
understand answers of the scheduler lately, a warning on standard error counts them.`,
		Example: `  rmctl status
  rmctl status slurm/4711 --fresh
  rmctl status --json 4711`,
		RunE: func(c *cobra.Command, arguments []string) error {
			jobs, err := a.statusJobs(c.Context(), arguments)
			queryErr := a.refresh(c.Context(), jobs, fresh)
			jobs = slices.DeleteFunc(jobs, func(j found) bool { return len(arguments) == 0 && j.Phase == job.PhaseRejected })
			if len(jobs) == 0 && err == nil {
				a.sayNone("no job is on record that has not ended; rmctl jobs lists the others")
			}
			return errors.Join(a.printStatus(c.Context(), jobs), err, queryErr)
		},
	}
	c.Flags().BoolVar(&fresh, "fresh", false, "ask the scheduler now, also if it was asked some seconds ago")
	return c
}

// statusJobs returns the jobs that are named, or all that have not ended: these
// also where an error tells that their targets cannot be asked.
func (a *app) statusJobs(ctx context.Context, names []string) ([]found, error) {
	if len(names) > 0 {
		return a.findJobs(ctx, names)
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.knowsTarget(ctx, store); err != nil {
		return nil, err
	}
	listed, err := store.List(ctx, jobstore.Filter{Target: a.target})
	if err != nil {
		return nil, err
	}
	jobs, err := a.withControllers(ctx, listed)
	late, lateErr := a.lateJobs(ctx, store)
	return append(jobs, late...), errors.Join(err, lateErr)
}

// lateJobs returns the submissions that are on record as not made and for whose
// jobs it is time to look again. Whether their targets can be asked troubles nobody.
func (a *app) lateJobs(ctx context.Context, store *jobstore.Store) ([]found, error) {
	now := time.Now()
	unseen, err := store.Unseen(ctx, now.Add(-control.LastLateLook), a.target)
	if err != nil {
		return nil, err
	}
	due := slices.DeleteFunc(unseen, func(job job.Job) bool { return !control.IsLookedForAgain(job, now) })
	late, err := a.withControllers(ctx, due)
	if err != nil {
		a.say("submissions that may have become jobs late were not looked for: %v", err)
	}
	return slices.DeleteFunc(late, func(job found) bool { return job.controller == nil }), nil
}

// refresh asks for the jobs' states, all targets at the same time. It goes on when
// asking for one fails and returns all errors.
func (a *app) refresh(ctx context.Context, jobs []found, fresh bool) error {
	perTarget := byController(jobs, func(job found) bool { return job.Tag != "" && job.controller != nil }) // others were looked up a moment ago
	problems := make([]error, len(perTarget))
	var group errgroup.Group
	for i, of := range perTarget {
		group.Go(func() error {
			updated, err := of.controller.Update(ctx, of.jobs, control.Freshness(fresh))
			of.put(jobs, updated)
			if tooSoon := new(control.TooSoonError); errors.As(err, &tooSoon) {
				a.say("%s: %v", of.controller.Target(), err)
				return nil
			}
			problems[i] = err
			return nil
		})
	}
	_ = group.Wait() // its functions return nil; errors are in problems
	return errors.Join(problems...)
}

// A statusDocument is a line of status --json.
type statusDocument struct {
	job.Document
	NotUnderstood int `json:"notUnderstood,omitempty"` // in answers of the target's scheduler
}

func (a *app) printStatus(ctx context.Context, asked []found) error {
	notUnderstood, err := a.warnOfNotUnderstood(ctx, asked)
	if err != nil {
		return err
	}
	if a.json {
		for _, job := range asked {
			printed, err := a.withProcesses(ctx, job.Job)
			if err == nil {
				err = terminal.JSON(a.stdout, statusDocument{printed, notUnderstood[job.controller]})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	jobs := make([]job.Job, 0, len(asked))
	for _, job := range asked {
		jobs = append(jobs, job.Job)
	}
	return a.printJobs(jobs, []string{"JOB", "TARGET", "STATE", "DETAIL", "QUEUE", "SEEN", ""}, statusRow)
}

// warnOfNotUnderstood warns of targets whose definitions did not understand
// answers of the scheduler, and returns how many each.
func (a *app) warnOfNotUnderstood(ctx context.Context, asked []found) (map[*control.Controller]int, error) {
	counts := map[*control.Controller]int{}
	for _, of := range byController(asked, func(job found) bool { return job.controller != nil }) {
		perCommand, err := of.controller.NotUnderstood(ctx)
		if err != nil {
			return nil, err
		}
		for _, command := range perCommand {
			counts[of.controller] += command.Count
		}
		if count := counts[of.controller]; count > 0 {
			target := of.controller.Target()
			a.say("warning: %s: not understood: %s; rmctl doctor -t %s shows more", target, counted(count, "answer"), shellescape.Quote(target))
		}
	}
	return counts, nil
}

func statusRow(job job.Job, now time.Time) []string {
	return []string{
		terminal.OrDash(job.ID), terminal.OrDash(job.Target), string(job.Detail.Primary()), string(job.DetailOrUndetermined()),
		terminal.OrDash(job.Queue), terminal.Age(job.Observed, now), remark(job),
	}
}
