// Package transition decides what the record believes of an observation: whether a job moves to
// the observed state, and whether it is the same job.
package transition

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/job"
)

// A kind is the meaning of a transition: a job in one state that is observed in another.
type kind string

// The kinds of transitions.
const (
	keeps       kind = "keeps"       // the observation has no news
	Follows     kind = "follows"     // the usual way of a job; believed
	Returns     kind = "returns"     // back to waiting after it has begun; believed, since schedulers requeue jobs
	Contradicts kind = "contradicts" // a job that has ended stays ended, in one way; not believed
)

// transitions is the table of all transitions but those between two ends, by the
// primary state that is known and the one that is seen.
var transitions = map[job.Detail]map[job.Detail]kind{
	job.Undetermined: {job.Undetermined: keeps, job.Submitted: Follows, job.Suspended: Follows, job.Running: Follows, job.Completed: Follows},
	job.Submitted:    {job.Undetermined: keeps, job.Submitted: Follows, job.Suspended: Follows, job.Running: Follows, job.Completed: Follows},
	job.Suspended:    {job.Undetermined: keeps, job.Submitted: Returns, job.Suspended: Follows, job.Running: Follows, job.Completed: Follows},
	job.Running:      {job.Undetermined: keeps, job.Submitted: Returns, job.Suspended: Follows, job.Running: Follows, job.Completed: Follows},
	job.Completed:    {job.Undetermined: keeps, job.Submitted: Contradicts, job.Suspended: Contradicts, job.Running: Contradicts},
}

// precision orders the endings of a job. A less precise one does not replace a more precise
// one.
func precision(end job.Detail) int {
	switch end {
	case job.OutputReady:
		return 3
	case job.Failed, job.Canceled:
		return 2
	case job.Completed:
		return 1
	default:
		return 0
	}
}

// Between returns what it means that a job in one state is observed in another. Between
// two ends the more precise one counts.
func Between(current, seen job.Detail) kind {
	if !current.Ended() || !seen.Ended() {
		return transitions[current.Primary()][seen.Primary()]
	}
	switch known, now := precision(current), precision(seen); {
	case now > known:
		return Follows
	case now == known && seen != current:
		return Contradicts
	default:
		return keeps
	}
}

// Next returns the state of a job that was in current when its scheduler reports seen.
func Next(current, seen job.Detail) job.Detail {
	switch Between(current, seen) {
	case Follows, Returns:
		return seen
	default:
		return current
	}
}

// AfterCancel returns the meaning of an observation of a job that rmctl may have canceled. If
// the scheduler accepted the cancellation and now only reports that the job has ended, the job
// is canceled: parsers report forgotten jobs as completed.
func AfterCancel(known *job.Job, seen job.Observation) job.Observation {
	isCanceled := !known.CancelAccepted.IsZero() && !known.Detail.Ended()
	if !isCanceled || seen.Detail != job.Completed || seen.ExitCode != nil || saysHowItEnded(seen) {
		return seen
	}
	seen.Detail = job.Canceled
	reason := "cancel accepted at " + known.CancelAccepted.UTC().Format(time.RFC3339) + ", ended without an exit code"
	if seen.Reason != "" {
		reason += "; " + seen.Reason
	}
	seen.Reason = reason
	return seen
}

// saysHowItEnded reports whether the scheduler's own word gives the way in which a job ended.
// A letter such as C only says that it ended, as does a complaint that the job does not exist.
func saysHowItEnded(seen job.Observation) bool {
	if len(seen.Native) > 1 {
		return true
	}
	words := strings.FieldsFunc(seen.Origin.Text, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	return seen.Origin.Stream != "stderr" && slices.Contains(words, string(job.Completed))
}

// IsAnother reports whether an observation under the id of a job is of another job: the
// scheduler has reused the id. Where no identities can be compared, a
// job that goes back and was submitted at another time is another one.
func IsAnother(j *job.Job, seen job.Observation) bool {
	switch {
	case seen.Identity != "" && j.Tag != "" && uuid.Validate(seen.Identity) == nil:
		return seen.Identity != j.Tag
	case seen.Identity != "" && j.Identity != "":
		return !timezone.IsSameTime(seen.Identity, j.Identity)
	}
	transition := Between(j.Detail, seen.Detail)
	goesBack := transition == Returns || transition == Contradicts
	return goesBack && j.Submitted != "" && seen.Submitted != "" && !timezone.IsSameTime(seen.Submitted, j.Submitted)
}
