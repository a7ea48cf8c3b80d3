package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
)

// forkTarget runs interactive jobs where the default target runs batch ones only.
const forkTarget = "fork"

func newRun(a *app) *cobra.Command {
	var flags submissionFlags
	c := &cobra.Command{
		Use:   "run [flags] [--] PROGRAM [ARGUMENT...]",
		Short: "Run an interactive job, attached to this terminal",
		Long: `run runs a job attached to this terminal and exits with its exit code. Without -t
it uses the default target or, where that runs batch jobs only, "fork", which
runs any command on this machine.`,
		Example: `  rmctl run -- ./simulate input.dat
  rmctl run -t mympi -s mpiNumberOfProcesses=4 -- ./a.out`,
		RunE: func(c *cobra.Command, arguments []string) error {
			controller, r, err := a.prepare(c.Context(), flags, arguments)
			if err != nil {
				return err
			}
			if a.target == "" && controller.Definition().Command(config.SubmitInteractive) == nil {
				if controller, err = a.controller(c.Context(), forkTarget); err != nil {
					return err
				}
			}
			ctx, stop := a.attached(c.Context())
			defer stop()
			job, err := controller.RunInteractive(ctx, r.Submission, control.Terminal{Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr})
			if err != nil {
				return r.located(err)
			}
			return jobExit(job)
		},
	}
	flags.add(a, c)
	return c
}

// attached returns a context for a job attached to the terminal. What is typed
// there to interrupt reaches the job by itself, and the job decides what comes
// of it; rmctl only passes on that it is to end itself.
func (a *app) attached(ctx context.Context) (context.Context, context.CancelFunc) {
	if !isTerminal(a.stdin) {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
}
