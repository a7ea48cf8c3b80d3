package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/state"
)

// printable makes text safe for a terminal, with its line breaks and tabs.
func printable(text string) string { return tui.Printable(text) }

// oneLine is printable on one line.
func oneLine(text string) string { return tui.OneLine(text) }

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool { return terminal.Is(stream) }

// printJobs prints jobs: with --json an object a line, else a table of what row
// makes of each at one point in time, and nothing at all if there are none.
func (a *app) printJobs(jobs []job.Job, header []string, row func(job job.Job, now time.Time) []string) error {
	if a.json {
		for _, job := range jobs {
			if err := terminal.JSON(a.stdout, job.Document()); err != nil {
				return err
			}
		}
		return nil
	}
	if len(jobs) == 0 {
		return nil
	}
	now := time.Now()
	rows := make([][]string, 0, len(jobs))
	for _, job := range jobs {
		rows = append(rows, row(job, now))
	}
	return terminal.Table(a.stdout, header, rows)
}

// sayNone tells a user at a terminal why nothing is listed. Where something else reads
// what is printed, no line says it.
func (a *app) sayNone(why string) {
	if !a.json && isTerminal(a.stdout) {
		a.say("%s", why)
	}
}

// remark is what a person should know of a job beside its state.
func remark(j job.Job) string {
	var all remarks
	all.addEnd(j)
	if j.Detail.Primary() == state.PrimaryUndetermined && j.Native != "" {
		all.add("the scheduler says %q", j.Native)
	}
	if j.Missing && j.ID != "" && !(j.Interactive && j.Stale) { // why such a job is stale says it, too
		all.add("no longer known to the scheduler")
	}
	if j.Irregular != "" {
		all.add("%s", j.Irregular)
	}
	all.addSubmission(j)
	if j.Successor != "" {
		all.add("its id was given to another job; how it ended is not known")
	}
	if j.Stale && j.ID != "" {
		all.add("stale: %s", j.StaleReason)
	}
	if j.Error != "" {
		all.add("%s", j.Error)
	}
	return terminal.AtMost(oneLine(strings.Join(all, "; ")), terminal.LongestCell)
}

// remarks are remarks on a job, each once.
type remarks []string

func (r *remarks) add(format string, arguments ...any) {
	if remark := fmt.Sprintf(format, arguments...); !slices.Contains(*r, remark) {
		*r = append(*r, remark)
	}
}

// addEnd adds how a job ended, and the reason for its state.
func (r *remarks) addEnd(j job.Job) {
	if j.ExitCode != nil && j.Detail.Ended() {
		r.add("exit code %d", *j.ExitCode)
	}
	if j.Signal != nil && *j.Signal != 0 {
		r.add("signal %d", *j.Signal)
	}
	if j.Reason != "" {
		r.add("%s", j.Reason)
	}
}

// addSubmission adds what is not settled about the submission of a job.
func (r *remarks) addSubmission(j job.Job) {
	switch {
	case j.ID == "" && j.Stale:
		r.add("submission %s: %s", j.Tag, j.StaleReason)
	case j.Phase == job.PhaseIntended:
		r.add("being submitted, or cut off while it was: submission %s", j.Tag)
	case j.Phase == job.PhaseUnknown:
		r.add("it is not known whether it was submitted")
	}
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](entries map[string]V) []string {
	return slices.Sorted(maps.Keys(entries))
}
