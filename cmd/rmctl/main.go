// Command rmctl submits, watches and controls jobs of any batch system that an
// XML definition describes.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	debugging "github.com/rmctl/rmctl/internal/debug/command"
	"github.com/rmctl/rmctl/internal/ensembles"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/jobwatch"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/waiting"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

func main() {
	growStack()
	os.Exit(mainCode(settings.SiteFolder))
}

// usualStack is the size, in bytes, that the stack of the main goroutine comes to.
const usualStack = 48 << 10

// growStack gives the stack of this goroutine its usual size at once. Otherwise it grows in
// steps, and each copies it frame by frame: 4 to 6 % of the processor time of a status.
//
//go:noinline
func growStack() {
	var room [usualStack]byte
	touch(&room)
}

//go:noinline
func touch(*[usualStack]byte) {}

// mainCode runs the command line and returns the exit code. An interrupt or a termination
// request cancels the command, which leaves processes and records in order. Users cannot
// choose the folder of the site: its file limits what they can do.
func mainCode(siteFolder string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, siteFolder: siteFolder, catchSignals: func() {
		// Never stopped: a second signal must not end the process before the first is handled.
		interrupted, _ := signal.NotifyContext(ctx, append(endRequests(), os.Interrupt)...)
		context.AfterFunc(interrupted, func() { cancel(context.Cause(interrupted)) })
	}}
	return a.execute(ctx, os.Args[1:])
}

// endRequests are the signals that end rmctl. After nohup, SIGHUP does not.
func endRequests() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}

// execute runs one command line.
func (a *app) execute(ctx context.Context, arguments []string) int {
	err := a.commandLine(arguments).ExecuteContext(ctx)
	if closeErr := a.close(); err == nil {
		err = closeErr
	}
	if err == nil && a.tracer != nil && !a.tracer.HasBegun() {
		a.say("not writing %s: no session with an agent", a.tracer.File)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = &exitError{exitCode(err), errors.New(strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted"))}
	}
	a.json = a.json || isUsage(err) && asksForJSON(arguments)
	return a.report(err)
}

// commandLine returns the command line, ready to be run with some arguments.
func (a *app) commandLine(arguments []string) *cobra.Command {
	root := newRootFor(a, arguments)
	root.SetArgs(arguments)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	return root
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

// A usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, arguments ...any) error {
	return &usageError{fmt.Errorf(format, arguments...)}
}

// An exitError ends rmctl with a code of its own. Without an error rmctl prints nothing.
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

// isSilent reports whether an error is an exit code without a message, such as a job's own.
func isSilent(err error) bool {
	exit, isExit := errors.AsType[*exitError](err)
	return isExit && exit.err == nil
}

// report prints an error and returns the exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitDone
	}
	if isSilent(err) {
		return exitCode(err)
	}
	if !a.json {
		a.say("%v", err)
		return exitCode(err)
	}
	if err := terminal.JSONErrors(a.stderr, err, exitCode(err)); err != nil {
		a.say("%v", err)
	}
	return exitCode(err)
}

// asksForJSON reports whether arguments that may be wrong ask for JSON.
func asksForJSON(arguments []string) bool {
	if end := slices.Index(arguments, "--"); end >= 0 {
		arguments = arguments[:end]
	}
	text := " " + strings.Join(arguments, " ") + " "
	return slices.ContainsFunc([]string{"--json", "--output=json", "--output json", "-ojson", "-o json", "-o=json"}, func(flag string) bool {
		return strings.Contains(text, " "+flag+" ")
	})
}

// exitCode is the one place that turns errors into exit codes.
func exitCode(err error) int {
	if exit, isExit := errors.AsType[*exitError](err); isExit {
		return exit.code
	}
	failed, hasFailed := errors.AsType[*command.Error](err)
	switch {
	case isA[*waiting.TimeoutError](err):
		return exitTimeout
	case isUsage(err):
		return exitUsage
	case isA[*control.NotFoundError](err), errors.Is(err, jobstore.ErrNotFound), errors.Is(err, coalloc.ErrUnknownEnsemble), errors.Is(err, coalloc.ErrUnknownPart):
		return exitNoJob
	case errors.Is(err, remote.ErrUnreachable):
		return exitUnreachable
	case hasFailed && failed.Failure != command.TimedOut:
		return exitScheduler
	case hasFailed, errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case isA[*control.TooSoonError](err), isA[*control.QueryError](err) && !errors.Is(err, context.Canceled):
		return exitScheduler
	}
	return exitFailed
}

// isUsage reports whether an error is one of the command line, of the configuration, or
// of a definition.
func isUsage(err error) bool {
	return isA[*usageError](err) || isOfRequest(err) ||
		isA[*attribute.InvalidError](err) ||
		isA[*config.InvalidError](err) ||
		isA[*form.UnknownPageError](err) ||
		isA[*jobwatch.CursorError](err) ||
		isA[*listings.ChoiceError](err) ||
		isA[*selection.FilterError](err) ||
		isA[*selection.NameError](err) ||
		isA[*settings.ConfigurationError](err) ||
		isA[*settings.LaunchConfigurationNameError](err) ||
		isA[*settings.UnknownLaunchConfigurationError](err) ||
		isA[*settings.UnknownTargetError](err)
}

// isOfRequest reports whether an error is one of a submission, or of a request for several.
func isOfRequest(err error) bool {
	return isA[*ensembles.UsageError](err) || isA[*debugging.UsageError](err) || isA[*control.UnsupportedError](err) || isA[*control.ValueError](err) || isA[*control.VariableNameError](err)
}

// isA reports whether an error is, or wraps, one of a type.
func isA[E error](err error) bool {
	_, found := errors.AsType[E](err)
	return found
}
