// Package doubt explains which submissions are in doubt, why, and what a user can do.
package doubt

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// Submissions are the submissions whose outcome is still unknown after a search, by the reason.
type Submissions struct {
	groups []*group
	others []error // other errors
}

// A group are the submissions that are in doubt for one reason.
type group struct {
	reason      string
	jobs        []job.Job
	last        *recovery.UnconfirmedError
	again       time.Time // when looking again decides about all; zero if unknown
	isAmbiguous bool      // the scheduler names jobs that it may be
}

// Add adds the problem of a submission, if it has one.
func (d *Submissions) Add(j job.Job, problem error) {
	unconfirmed, isUnconfirmed := errors.AsType[*recovery.UnconfirmedError](problem)
	if !isUnconfirmed {
		if problem != nil {
			d.others = append(d.others, problem)
		}
		return
	}
	reason := unconfirmed.Reason
	if unconfirmed.Err != nil {
		reason += ": " + unconfirmed.Err.Error()
	}
	g := d.of(reason)
	g.jobs, g.last = append(g.jobs, j), unconfirmed
	g.isAmbiguous = len(unconfirmed.Candidates) > 0
	if unconfirmed.Again.After(g.again) {
		g.again = unconfirmed.Again
	}
}

func (d *Submissions) of(reason string) *group {
	for _, known := range d.groups {
		if known.reason == reason {
			return known
		}
	}
	added := &group{reason: reason}
	d.groups = append(d.groups, added)
	return added
}

// Count returns how many submissions are in doubt.
func (d *Submissions) Count() int {
	count := 0
	for _, group := range d.groups {
		count += len(group.jobs)
	}
	return count
}

// Err returns an error that says which submissions are in doubt, and what to do; nil if none is.
func (d *Submissions) Err() error {
	problems := d.others
	for _, group := range d.groups {
		if len(group.jobs) == 1 && !group.isAmbiguous {
			problems = append(problems, group.last)
		} else {
			problems = append(problems, group)
		}
	}
	return errors.Join(problems...)
}

// Error describes the doubt.
func (g *group) Error() string {
	each := "unknown outcome of this submission"
	if len(g.jobs) > 1 {
		each = fmt.Sprintf("unknown outcomes of %d submissions", len(g.jobs))
	}
	lines := []string{each + ": " + g.reason, List(g.jobs)}
	switch {
	case !g.again.IsZero():
		lines = append(lines, fmt.Sprintf("run rmctl recover again after %s", g.again.Format(time.TimeOnly)))
	case g.isAmbiguous && len(g.last.Candidates) == 1:
		lines = append(lines, fmt.Sprintf("if this is the job, run rmctl recover --adopt %s/%s --as TAG, otherwise rmctl recover --dismiss TAG", g.jobs[0].Target, g.last.Candidates[0]))
	case g.isAmbiguous:
		lines = append(lines, "run rmctl recover --adopt JOB --as TAG for each that became a job, and rmctl recover --dismiss TAG for the others")
	default:
		lines = append(lines, "give one up with rmctl recover --dismiss TAG")
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns what the last search failed with.
func (g *group) Unwrap() error { return g.last }

// mostListed bounds the submissions that a message lists.
const mostListed = 20

// List lists submissions so that users can distinguish them, one per line.
func List(submissions []job.Job) string {
	now := time.Now()
	var lines []string
	for _, j := range submissions[:min(len(submissions), mostListed)] {
		lines = append(lines, fmt.Sprintf("  %s  submitted %s ago at %s  %s", j.Tag, terminal.Age(j.Created, now), j.Target, tui.OneLine(j.Name)))
	}
	if more := len(submissions) - mostListed; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more: rmctl jobs lists them", more))
	}
	return strings.Join(lines, "\n")
}
