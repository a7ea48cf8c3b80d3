package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/background"
	"github.com/rmctl/rmctl/control"
)

// newOperations returns the commands that do something to jobs; they differ in
// nothing but the operation.
func newOperations(a *app) []*cobra.Command {
	var commands []*cobra.Command
	for _, o := range []struct {
		operation control.Operation
		short     string
		long      string
	}{
		{control.Cancel, "Cancel jobs", "cancel asks the scheduler to end jobs, running or not."},
		{control.Hold, "Hold jobs that have not started", "hold keeps jobs that have not started from starting."},
		{control.Release, "Release jobs that are held", "release lets held jobs start."},
		{control.Suspend, "Suspend running jobs", "suspend stops running jobs; many schedulers let only operators do that."},
		{control.Resume, "Resume suspended jobs", "resume lets suspended jobs go on."},
	} {
		name := string(o.operation)
		commands = append(commands, &cobra.Command{
			Use:               name + " JOB...",
			Short:             o.short,
			Long:              o.long + "\nThe next status shows what came of it. A job that has ended is an error; all others\nthat are named are taken care of nevertheless.",
			Example:           "  rmctl " + name + " 4711\n  rmctl " + name + " slurm/4711 slurm/4712",
			Args:              atLeast(1, "a job"),
			ValidArgsFunction: a.completeJobs(openJob),
			RunE: func(c *cobra.Command, arguments []string) error {
				jobs, err := a.findJobs(c.Context(), arguments)
				problems := []error{err}
				for _, job := range jobs {
					problems = append(problems, a.operate(c.Context(), o.operation, job))
				}
				return errors.Join(problems...)
			},
		})
	}
	return commands
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
		if err == nil || !errors.Is(err, background.ErrNoSession) {
			return err
		}
	}
	return job.controller.Operate(ctx, operation, job.Job)
}
