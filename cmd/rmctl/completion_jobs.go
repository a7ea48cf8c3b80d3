package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/state"
)

// mostCompletedJobs bounds the jobs that a shell is offered, the newest ones.
const mostCompletedJobs = 100

// The jobs that a command is for.
func anyJob(job.Job) bool            { return true }
func openJob(job job.Job) bool       { return !job.Detail.Ended() }
func parallelJob(job job.Job) bool   { return job.Interactive }
func attachableJob(job job.Job) bool { return job.Interactive && openJob(job) }

// completeOneJob offers the jobs on record that are wanted as the first argument.
func (a *app) completeOneJob(isWanted func(job.Job) bool) cobra.CompletionFunc {
	return func(c *cobra.Command, arguments []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(arguments) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.completeJobs(isWanted)(c, arguments, begun)
	}
}

// completeJobs offers the jobs on record that are wanted and were not named yet. It
// asks no scheduler.
func (a *app) completeJobs(isWanted func(job.Job) bool) cobra.CompletionFunc {
	return func(c *cobra.Command, arguments []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		store, err := a.openStore(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		jobs, err := store.List(c.Context(), jobstore.Filter{Target: a.target, All: true, Limit: mostCompletedJobs})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var offered []cobra.Completion
		for _, j := range jobs {
			if j.Phase == job.PhaseRejected || !isWanted(j) {
				continue
			}
			name, err := a.shortestName(c.Context(), store, j, begun)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			if !slices.Contains(arguments, name) {
				offered = append(offered, cobra.CompletionWithDesc(name, oneLine(j.Target+" "+string(j.DetailOrUndetermined())+" "+j.Name)))
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// shortestName returns what a job is called by: its id where no other target has
// that and no target was typed, else TARGET/ID; its tag where it has no id.
func (a *app) shortestName(ctx context.Context, store *jobstore.Store, known job.Job, begun string) (string, error) {
	if known.ID == "" {
		return known.Tag, nil
	}
	named := known.Target + "/" + known.ID
	if strings.HasPrefix(begun, known.Target+"/") {
		return named, nil
	}
	others, err := store.FindBrief(ctx, known.ID, a.target)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(others, func(other job.Job) bool { return other.Target != known.Target }) {
		return named, nil
	}
	return known.ID, nil
}

// completeStates offers what can be waited for.
func completeStates(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offered []cobra.Completion
	for _, detail := range state.All() {
		offered = append(offered, string(detail))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
