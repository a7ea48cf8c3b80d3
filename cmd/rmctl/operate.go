package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/daemon"
)

func newCancel(a *app) *cobra.Command {
	return newOperation(a, control.Cancel, "Cancel jobs", "cancel asks the scheduler to end jobs, running or not.")
}

func newHold(a *app) *cobra.Command {
	return newOperation(a, control.Hold, "Hold jobs that have not started", "hold keeps jobs that have not started from starting.")
}

func newRelease(a *app) *cobra.Command {
	return newOperation(a, control.Release, "Release jobs that are held", "release lets held jobs start.")
}

func newSuspend(a *app) *cobra.Command {
	return newOperation(a, control.Suspend, "Suspend running jobs", "suspend stops running jobs; many schedulers let only operators do that.")
}

func newResume(a *app) *cobra.Command {
	return newOperation(a, control.Resume, "Resume suspended jobs", "resume lets suspended jobs go on.")
}

// newOperation returns the command that does one thing to jobs.
func newOperation(a *app, operation control.Operation, short, long string) *cobra.Command {
	name := string(operation)
	return &cobra.Command{
		Use:               name + " JOB...",
		Short:             short,
		Long:              long + "\nThe next status shows what came of it. A job that has ended is an error; all others\nthat are named are taken care of nevertheless.",
		Example:           "  rmctl " + name + " 4711\n  rmctl " + name + " slurm/4711 slurm/4712",
		Args:              atLeast(1, "a job"),
		ValidArgsFunction: a.completeJobs(openJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			jobs, err := a.findJobs(c.Context(), arguments)
			problems := []error{err}
			for _, job := range jobs {
				problems = append(problems, a.operate(c.Context(), operation, job))
			}
			return errors.Join(problems...)
		},
	}
}

// operate does something to one job. An interactive job that is alive is canceled
// where its process is held, which then runs the definition's command, too.
func (a *app) operate(ctx context.Context, operation control.Operation, job found) error {
	if operation != control.Cancel {
		return job.controller.Operate(ctx, operation, job.Job)
	}
	switch job.controller.Holder(job.Job) {
	case control.HeldByProgram:
		_, err := job.controller.EndHeld(ctx, job.Job)
		return err
	case control.HeldByHost:
		client, err := a.backgroundClient(ctx)
		if err == nil {
			err = client.End(ctx, job.Tag)
		}
		if err == nil || !errors.Is(err, daemon.ErrNoSession) {
			return err
		}
	}
	return job.controller.Operate(ctx, operation, job.Job)
}
