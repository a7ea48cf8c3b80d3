// Command rmctl submits, watches and controls jobs of any batch system that an
// XML definition describes.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(mainCode())
}

// mainCode runs the command line and returns the exit code. An interrupt or a
// termination request cancels what is under way, so that processes and records
// are left in order.
func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// execute runs one command line.
func execute(ctx context.Context, arguments []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRoot(a)
	root.SetArgs(arguments)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if closeErr := a.close(); err == nil {
		err = closeErr
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = &interruptedError{err}
	}
	return a.report(err)
}
