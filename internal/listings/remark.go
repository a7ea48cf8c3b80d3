package listings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// Remark returns a remark about a job for its user, besides its state.
func Remark(j job.Job) string {
	var all remarks
	all.addEnd(j)
	if j.Detail.Primary() == job.Undetermined && j.Native != "" {
		all.add("the scheduler says %q", j.Native)
	}
	if j.Missing && j.ID != "" && !(j.Interactive && j.Stale) { // otherwise the reason has it
		all.add("no longer known to the scheduler")
	}
	if j.Irregular != "" {
		all.add("%s", j.Irregular)
	}
	all.addSubmission(j)
	if j.Successor != "" {
		all.add("the scheduler reused its id; how it ended is unknown")
	}
	if j.Stale && j.ID != "" {
		all.add("stale: %s", j.StaleReason)
	}
	if j.Error != "" {
		all.add("%s", j.Error)
	}
	if whole := terminal.PartOf(j.Ensemble, j.Part); whole != "" {
		all.add("%s", whole)
	}
	return terminal.AtMost(tui.OneLine(strings.Join(all, "; ")), terminal.LongestCell)
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

// addSubmission adds the unknown facts about a submission.
func (r *remarks) addSubmission(j job.Job) {
	switch {
	case j.ID == "" && j.Stale:
		r.add("submission %s: %s", j.Tag, j.StaleReason)
	case j.Phase == job.PhaseIntended:
		r.add("being submitted or interrupted: submission %s", j.Tag)
	case j.Phase == job.PhaseUnknown:
		r.add("unknown outcome")
	}
}
