// Command rmctl submits, watches and controls jobs of any batch system that an
// XML definition describes.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

func main() {
	os.Exit(mainCode())
}

// mainCode runs the command line and returns the exit code. An interrupt or a
// termination request cancels what is under way, so that processes and records
// are left in order. Before a command runs there is nothing to leave in order.
func mainCode() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, catchSignals: func() {
		// Never stopped: a second signal must not end the process before the first is handled.
		interrupted, _ := signal.NotifyContext(ctx, append(endRequests(), os.Interrupt)...)
		context.AfterFunc(interrupted, func() { cancel(context.Cause(interrupted)) })
	}}
	return a.execute(ctx, os.Args[1:])
}

// endRequests are the signals that ask rmctl to end itself. One that was started by
// nohup goes on when its terminal hangs up.
func endRequests() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}

// execute runs one command line.
func (a *app) execute(ctx context.Context, arguments []string) int {
	root := newRootFor(a, arguments)
	root.SetArgs(arguments)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if closeErr := a.close(); err == nil {
		err = closeErr
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = &interruptedError{err}
	}
	return a.report(err)
}

// The exit codes of rmctl; run and wait pass the job's own code through.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2 // wrong usage or an invalid definition
	exitScheduler   = 3 // a scheduler command failed
	exitNoJob       = 4
	exitUnreachable = 5 // no connection or authentication
	exitTimeout     = 124
)

// A usageError tells that a command line is wrong.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, arguments ...any) error {
	return &usageError{fmt.Errorf(format, arguments...)}
}

// An exitError ends rmctl with a code of its own. With no error nothing is said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// An interruptedError is what a command that the user ended by an interrupt or a
// termination request has to tell.
type interruptedError struct{ err error }

func (e *interruptedError) Error() string {
	return strings.ReplaceAll(e.err.Error(), context.Canceled.Error(), "interrupted")
}

func (e *interruptedError) Unwrap() error { return e.err }

// report says what went wrong and returns the exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitDone
	}
	var exit *exitError
	if errors.As(err, &exit) && exit.err == nil {
		return exit.code
	}
	fmt.Fprintf(a.stderr, "rmctl: %s\n", printable(err.Error()))
	return exitCode(err)
}

// exitCode is the one place that turns errors into exit codes.
func exitCode(err error) int {
	var (
		exit          *exitError
		wrongUsage    *usageError
		value         *control.ValueError
		refused       *attribute.InvalidError
		invalid       *config.InvalidError
		variable      *control.VariableNameError
		unknownTarget *settings.UnknownTargetError
		unknownTab    *form.UnknownPageError
		unknownLaunch *settings.UnknownLaunchConfigurationError
		launchName    *settings.LaunchConfigurationNameError
		configuration *settings.ConfigurationError
		unsupported   *control.UnsupportedError
		noJob         *control.NotFoundError
		failed        *command.Error
		query         *control.QueryError
	)
	switch {
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &wrongUsage), errors.As(err, &value), errors.As(err, &variable), errors.As(err, &refused), errors.As(err, &invalid),
		errors.As(err, &unknownTarget), errors.As(err, &unknownTab), errors.As(err, &unknownLaunch), errors.As(err, &launchName),
		errors.As(err, &configuration), errors.As(err, &unsupported):
		return exitUsage
	case errors.As(err, &noJob), errors.Is(err, jobstore.ErrNotFound):
		return exitNoJob
	case errors.Is(err, remote.ErrUnreachable):
		return exitUnreachable
	case errors.As(err, &failed):
		if failed.Failure == command.TimedOut {
			return exitTimeout
		}
		return exitScheduler
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case errors.As(err, &query) && !errors.Is(err, context.Canceled):
		return exitScheduler
	default:
		return exitFailed
	}
}
