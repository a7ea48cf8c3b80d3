// Command rmctl submits, watches and controls jobs of any batch system that an
// XML definition describes.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
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
