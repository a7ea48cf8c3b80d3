package main

import (
	"context"
	"errors"
	"os/signal"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

// forkTarget runs interactive jobs where the default target runs batch ones only.
const forkTarget = "fork"

func newRun(a *app) *cobra.Command {
	var flags submissionFlags
	var detach bool
	var onEnd string
	var debugged settings.Debugging
	c := &cobra.Command{
		Use:   "run [flags] [--] PROGRAM [ARGUMENT...]",
		Short: "Run an interactive job, attached to this terminal",
		Long: `Run an interactive job attached to this terminal, and exit with its exit code.

Without -t, rmctl uses the default target. If that runs only batch jobs, it uses "fork",
which runs any command on this machine. Ctrl-C goes to the job; press it twice within a
second to detach from the job or to cancel it. rmctl attach attaches the terminal again.`,
		Example: `  rmctl run -- ./simulate input.dat
  rmctl run -t mympi -s mpiNumberOfProcesses=4 -- ./a.out
  rmctl run -t nodes --detach -- ./server`,
		RunE: func(c *cobra.Command, arguments []string) error {
			controller, r, err := a.prepare(c.Context(), flags, arguments)
			if err != nil {
				return err
			}
			if a.target == "" && controller.Definition.Command(config.SubmitInteractive) == nil {
				if controller, err = a.controller(c.Context(), forkTarget); err != nil {
					return err
				}
			}
			if onEnd != "" && detach {
				return usage("--on-end cannot be used together with --detach\nuse rmctl watch --on-end")
			}
			if err := a.applyDebugging(c.Context(), controller, &r, debugged); err != nil {
				return err
			}
			r.Submission.Tag = uuid.NewString()
			err = r.explained(a.runInteractive(c.Context(), controller, r.Submission, detach), controller.Target)
			if hookErr := a.waiter().HookEnd(c.Context(), onEnd, r.Submission.Tag); hookErr != nil {
				return errors.Join(err, hookErr)
			}
			return err
		},
	}
	flags.add(a, c)
	addOnEnd(c, &onEnd)
	addDebugging(c, &debugged)
	c.Flags().BoolVar(&detach, "detach", false, "start the job, print its id, and do not attach")
	return c
}

// runInteractive runs a job attached to the terminal; in the background process if the user
// can detach from it.
func (a *app) runInteractive(ctx context.Context, controller *control.Controller, s job.Submission, detach bool) error {
	if controller.IsHosted(s.Debug) && a.wrapConnection == nil {
		sessions, err := a.sessions(ctx)
		switch {
		case err == nil:
			return a.runHosted(ctx, sessions, controller, s, detach)
		case detach:
			return err
		}
		a.log().Info("cannot detach: the job runs in the foreground", "why", err)
	}
	if detach {
		return usage("cannot detach: the definition has neither keepOpen nor a pseudo-terminal")
	}
	job, err := a.runHere(ctx, controller, s)
	if err != nil {
		return err
	}
	return attachedExit(job)
}

// attachedExit is jobExit for a job that was attached to the terminal. The message is the
// reason that the definition found in the job's output.
func attachedExit(job job.Job) error {
	err := jobExit(job)
	if exit, isExit := errors.AsType[*exitError](err); isExit && job.Reason != "" {
		exit.err = errors.New(oneLine(job.Reason))
	}
	return err
}

// runHere runs a job in this process.
func (a *app) runHere(ctx context.Context, controller *control.Controller, s job.Submission) (job.Job, error) {
	ctx, stop := a.attached(ctx)
	defer stop()
	if !controller.IsHosted(s.Debug) {
		streams := control.Terminal{Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr}
		if isTerminal(a.stdin) { // which the job inherits
			streams.Terminal = terminal.Unseen()
		}
		return controller.RunInteractive(ctx, s, streams)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	console, err := terminal.Open(a.stdin, a.stderr, controller.AllocatesTerminal(s.Debug) && isTerminal(a.stdin), terminal.Choices{Cancel: func() { cancel(errChosen) }})
	if err != nil {
		return job.Job{}, err
	}
	job, err := controller.RunInteractive(ctx, s, control.Terminal{
		Stdin: console.Keys(), Stdout: a.stdout, Stderr: a.stderr, Terminal: console.Terminal, Signals: console.Signals,
	})
	if errors.Is(context.Cause(ctx), errChosen) && job.Detail.Ended() {
		err = nil // the user canceled the job
	}
	return job, errors.Join(err, console.Close())
}

// errChosen is the cause of a context that the user canceled by the console.
var errChosen = errors.New("canceled by the user")

// attached returns a context for a job attached to the terminal. An interrupt that is typed
// reaches the job, which decides what to do. The context only ends when rmctl is to end.
func (a *app) attached(ctx context.Context) (context.Context, context.CancelFunc) {
	if !isTerminal(a.stdin) {
		return context.WithCancel(ctx)
	}
	lasting, stop := signal.NotifyContext(context.WithoutCancel(ctx), endRequests()...)
	if ctx.Err() != nil { // rmctl is to end before the job has the terminal
		stop()
		return context.WithCancel(ctx)
	}
	return lasting, stop
}
