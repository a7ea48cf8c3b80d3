package main

import (
	"context"
	"os"

	"github.com/rmctl/rmctl/internal/jobdirectory"
)

// writeFiles writes the files on stdin to the directory of a job.
func writeFiles(_ context.Context, arguments []string) int {
	flags := newFlags("files")
	job := flags.String("job", "", "directory of the job")
	if err := flags.Parse(arguments); err != nil || *job == "" || flags.NArg() > 0 {
		return wrongUsage("files", "--job DIR < FILES")
	}
	if err := jobdirectory.WriteFiles(*job, os.Stdin); err != nil {
		return fail(err)
	}
	return 0
}
