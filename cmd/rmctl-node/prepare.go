package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rmctl/rmctl/internal/jobdirectory"
)

// prepare makes the directory of a job.
func prepare(_ context.Context, arguments []string) int {
	flags := newFlags("prepare")
	job := flags.String("job", "", "directory of the job")
	if err := flags.Parse(arguments); err != nil || *job == "" || flags.NArg() > 0 {
		return wrongUsage("prepare", "--job DIR")
	}
	program, err := os.Executable()
	if err == nil {
		err = jobdirectory.Prepare(*job, program, time.Now())
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

// newFlags returns the flags of a command. The caller reports their errors.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// wrongUsage reports how a command is used.
func wrongUsage(name, usage string) int {
	fmt.Fprintf(os.Stderr, "usage: rmctl-node %s %s\n", name, usage)
	return exitUsage
}

// fail reports an error.
func fail(err error) int {
	fmt.Fprintln(os.Stderr, "rmctl-node:", err)
	return 1
}
