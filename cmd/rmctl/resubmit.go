package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/bulk"
	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/job"
)

func newResubmit(a *app) *cobra.Command {
	var flags submissionFlags
	var chosen selectionFlags
	var following followingFlags
	c := &cobra.Command{
		Use:   "resubmit [JOB...] [flags] [-- PROGRAM [ARGUMENT...]]",
		Short: "Submit jobs again, with changes",
		Long: `Submit jobs again, and print the ids of the new jobs.

Flags and a program after -- replace single values of the old submission; -t submits to
another target. rmctl reads scripts again. JOB is as for rmctl cancel; without JOB, --all,
--state and --name choose among the jobs on record that have ended.`,
		Example: `  rmctl resubmit 4711
  rmctl resubmit 4711 --time 2h
  rmctl resubmit -t slurm local/4711 --wait
  rmctl resubmit --state FAILED --name 'sim*' -- ./simulate --restart`,
		ValidArgsFunction: a.completeJobs(anyJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			var program []string
			if dash := c.ArgsLenAtDash(); dash >= 0 {
				arguments, program = arguments[:dash], arguments[dash:]
			}
			if err := following.check(); err != nil {
				return err
			}
			changes, err := flags.submission(program)
			if err != nil {
				return err
			}
			choice, err := chosen.choice(c, arguments)
			if err != nil {
				return err
			}
			choice.Suits = func(j *job.Job) bool { return j.Detail.Ended() && !j.Interactive }
			finder := a.finder()
			finder.Target = "" // -t says where the jobs go
			jobs, err := a.chosenRecorded(c, finder, choice, "can be submitted again")
			if err != nil {
				return err
			}
			all := make([]resubmission, len(jobs))
			for i, before := range jobs {
				if all[i], err = a.resubmissionOf(c.Context(), before, changes); err != nil {
					return err
				}
			}
			return a.resubmit(c.Context(), all, following)
		},
	}
	flags.addChanges(a, c)
	chosen.add(c, "choose all batch jobs on record that have ended")
	following.add(c)
	return c
}

// A resubmission is a job that is submitted again, and where.
type resubmission struct {
	name       string // of the job before
	submission job.Submission
	controller *control.Controller
}

// resubmissionOf returns what to submit for a job on record, with changes.
func (a *app) resubmissionOf(ctx context.Context, before job.Job, changes job.Submission) (resubmission, error) {
	target := cmp.Or(a.target, before.Target)
	changes, err := placedChanges(changes, a.isTargetElsewhere(target))
	if err != nil {
		return resubmission{}, err
	}
	controller, err := a.controller(ctx, target)
	if err != nil {
		return resubmission{}, err
	}
	submission, err := requested.Again(before, changes, controller.Definition)
	return resubmission{cmp.Or(before.ID, before.Tag), submission, controller}, err
}

// resubmit submits jobs, prints their ids in order, and waits for them if that is wanted.
func (a *app) resubmit(ctx context.Context, all []resubmission, following followingFlags) error {
	type outcome struct {
		job job.Job
		err error
	}
	var submitted []selection.Handle
	var problems []error
	eachCounted(a, "submitting jobs", all, bulk.Width, func(again resubmission) outcome {
		job, err := again.controller.Submit(ctx, again.submission)
		return outcome{job, err}
	}, func(i int, result outcome) {
		err := result.err
		if err != nil && len(all) > 1 {
			err = fmt.Errorf("resubmitting job %s: %w", all[i].name, err)
		}
		if err == nil {
			submitted = append(submitted, selection.Handle{Job: result.job, Controller: all[i].controller})
			err = a.printSubmitted(result.job)
		}
		problems = append(problems, err)
	})
	failed := errors.Join(problems...)
	if len(submitted) == 0 || !following.isWanted() {
		return failed
	}
	err := a.followSubmitted(ctx, submitted, following)
	if isSilent(err) && failed != nil {
		return failed // which counts for more than the exit code of another job
	}
	return errors.Join(failed, err)
}
