package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/rmctl/rmctl/internal/debug/guard"
)

// guardWords returns the command of a guard: this program.
func guardWords() []string {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{program, "guard"}
}

// runGuard guards the processes that a client on its standard input names. The end of a job
// comes with SIGTERM first: the processes are released at once then.
func runGuard(ctx context.Context, _ []string) int {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	guard.Serve(ctx, os.Stdin, os.Stdout, guard.Silence)
	return 0
}
