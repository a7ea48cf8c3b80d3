package main

import (
	"context"

	"github.com/rmctl/rmctl/internal/jobdirectory"
	"github.com/rmctl/rmctl/internal/track"
	"github.com/rmctl/rmctl/internal/tree"
)

// runTracked runs a program of a job in a wrapper.
func runTracked(_ context.Context, arguments []string) int {
	flags := newFlags("track")
	job := flags.String("job", "", "directory of the job")
	from := flags.String("rank-from", "", "environment variable with the rank")
	if err := flags.Parse(arguments); err != nil || *job == "" || flags.NArg() == 0 {
		return wrongUsage("track", "--job DIR [--rank-from NAME] -- EXE ARG...")
	}
	return track.Run(track.Options{
		Job: *job, RankFrom: *from, Words: flags.Args(), Node: track.NodeName(), Private: tree.PrivateDirectory,
		While: func(running <-chan struct{}, member jobdirectory.Member) { join(*job, running, member) },
	})
}

// becomeTraceable permits debuggers to attach, and becomes the program.
func becomeTraceable(_ context.Context, arguments []string) int {
	if len(arguments) < 2 {
		return wrongUsage("traceable", "PATH NAME ARG...")
	}
	return track.RunTraceable(arguments)
}

// runSentinel reports signals to the wrapper that started it.
func runSentinel(context.Context, []string) int { return track.Sentinel() }
