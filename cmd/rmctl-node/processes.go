package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/rmctl/rmctl/internal/jobdirectory"
)

// printProcesses prints the processes of jobs: a line of JSON for each job whose checksum differs from the given
// one.
func printProcesses(_ context.Context, arguments []string) int {
	flags := newFlags("processes")
	remove := flags.Bool("remove", false, "remove the directories")
	if err := flags.Parse(arguments); err != nil || flags.NArg() == 0 {
		return wrongUsage("processes", "[--remove] DIR[=CHECKSUM]...")
	}
	encoder := json.NewEncoder(os.Stdout)
	for _, argument := range flags.Args() {
		directory, known, _ := strings.Cut(argument, "=")
		if *remove {
			if err := jobdirectory.Remove(directory); err != nil {
				return fail(err)
			}
			continue
		}
		report := jobdirectory.ReportOf(directory)
		if report.Checksum == known {
			continue
		}
		if err := encoder.Encode(report); err != nil {
			return fail(err)
		}
	}
	return 0
}
