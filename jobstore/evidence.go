package jobstore

import (
	"fmt"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
)

// A change is a job before and after a change. Its methods apply the rules of evidence, and
// report whether they changed anything.
type change struct {
	before, job job.Job

	// Observations that are not believed, and the time of an observation from the future
	// that an older one has replaced. They become events.
	contradicted, replaced *job.Observation
	ahead                  time.Time

	canceled *job.Observation // the request to cancel the job that was accepted; becomes an event
}

// doubt makes what is known of the job stale from a time on.
func (c *change) doubt(reason string, since time.Time) {
	c.job.Stale, c.job.StaleReason = true, stored.Bounded(reason)
	if since.After(c.job.StaleSince) {
		c.job.StaleSince = since
	}
}

// failed makes the job stale because a query that began at a time has failed,
// unless the job was observed since or has ended: nobody queries it again then.
func (c *change) failed(reason string, attempted time.Time) bool {
	if c.job.Detail.Ended() || isOvertaken(attempted, c.job.Observed) {
		return false
	}
	c.doubt(reason, attempted)
	return true
}

// trust ends the doubt about the job, unless the doubt is newer than the query
// that was made at a time.
func (c *change) trust(queried time.Time) {
	if !isOvertaken(queried, c.job.StaleSince) {
		c.job.Stale, c.job.StaleReason, c.job.StaleSince = false, "", time.Time{}
	}
}

// miss counts a query of a time that did not find the job.
func (c *change) miss(queried time.Time) {
	if !c.job.Missing {
		c.job.Missing, c.job.MissingSince = true, queried
	}
	c.job.MissingCount++
}

// found makes the job no longer missing.
func (c *change) found() {
	c.job.Missing, c.job.MissingSince, c.job.MissingCount = false, time.Time{}, 0
}

// clockTolerance is how far apart the clocks of machines that share a store may be
// before a time on record counts as recorded by a wrong clock.
const clockTolerance = time.Minute

// isOvertaken reports whether the record is newer than a query. A recorded time in
// the future was recorded before a clock was set back, and overtakes nothing.
func isOvertaken(queried, recorded time.Time) bool {
	return queried.Before(recorded) && !isAhead(recorded)
}

func isAhead(recorded time.Time) bool { return recorded.After(time.Now().Add(clockTolerance)) }

// observe applies an observation to the job.
func (c *change) observe(observed job.Observation) bool {
	known := &c.job
	if isOvertaken(observed.Observed, known.Observed) {
		return false
	}
	if transition.IsAnother(known, observed) {
		return c.replace(observed)
	}
	if observed.Observed.Before(known.Observed) {
		c.ahead = known.Observed
	}
	observed = transition.AfterCancel(known, observed)
	moves := transition.Between(known.Detail, observed.Detail)
	switch {
	case moves == transition.Follows || moves == transition.Returns:
		c.record(observed)
		known.Native, known.Reason = stored.Bounded(observed.Native), stored.Bounded(observed.Reason)
		if known.Irregular == replacedWords || observed.Detail.Primary() != job.Submitted {
			known.Irregular = "" // it is in order again
		}
	case moves == transition.Contradicts:
		// An ended job keeps the evidence of its end.
		c.contradict(observed)
	case !known.Detail.Ended():
		// The definition does not know the scheduler's word, which is shown next to the
		// last known state.
		c.record(observed)
		if observed.Native != "" {
			known.Native, known.Reason = stored.Bounded(observed.Native), stored.Bounded(observed.Reason)
		}
	}
	if moves == transition.Returns {
		known.Irregular = fmt.Sprintf("it waits again after it was %s", known.Detail)
	}
	known.Detail = transition.Next(known.Detail, observed.Detail)
	c.learn(observed)
	c.trust(observed.Observed)
	c.found()
	return true
}

// contradict keeps an observation that contradicts the recorded end of the job.
func (c *change) contradict(observed job.Observation) {
	words := fmt.Sprintf("it was seen %s after it had ended, which is not believed", observed.Detail)
	if observed.Detail.Ended() {
		words = fmt.Sprintf("it was seen %s, too, which is not believed", observed.Detail)
	}
	if words != c.job.Irregular {
		c.job.Irregular, c.contradicted = words, &observed
	}
}

// cancel keeps when the scheduler accepted to cancel the job.
func (c *change) cancel(accepted job.Observation) bool {
	if !c.job.CancelAccepted.IsZero() {
		return false
	}
	c.job.CancelAccepted, c.canceled = accepted.Observed, &accepted
	return true
}

const replacedWords = "another job has its id"

// replace keeps an observation of another job with the id of the job. The scheduler says
// nothing more about this job.
func (c *change) replace(observed job.Observation) bool {
	if c.job.Irregular != replacedWords {
		c.job.Irregular, c.replaced = replacedWords, &observed
	}
	return c.lack(observed.Observed) || c.replaced != nil
}

// lack records that a listing made at a time lacks the job.
func (c *change) lack(listed time.Time) bool {
	if c.job.Detail.Ended() || isOvertaken(listed, c.job.Observed) {
		return false
	}
	c.miss(listed)
	c.trust(listed) // it was answered, so the failure of an older query is over
	return true
}

// record keeps where and when the state was observed.
func (c *change) record(observed job.Observation) {
	known := &c.job
	known.Observed, known.Source, known.Evidence = observed.Observed, observed.Source, stored.Bounded(observed.Evidence)
	known.Origin = observed.Origin
	known.Origin.Text = stored.Bounded(known.Origin.Text)
}

// learn keeps the facts that an observation mentions.
func (c *change) learn(observed job.Observation) {
	known := &c.job
	for _, fact := range []struct {
		known *string
		now   string
	}{
		{&known.Name, observed.Name}, {&known.Queue, observed.Queue}, {&known.Owner, observed.Owner}, {&known.Nodes, observed.Nodes}, {&known.Identity, observed.Identity},
		{&known.Submitted, observed.Submitted}, {&known.Started, observed.Started}, {&known.Ended, observed.Ended},
		{&known.OutputPath, observed.OutputPath}, {&known.ErrorPath, observed.ErrorPath},
	} {
		if fact.now != "" {
			*fact.known = stored.Bounded(fact.now)
		}
	}
	if known.Detail.Primary() == job.Submitted {
		known.Nodes = "" // of an earlier run
	}
	if observed.Tasks != "" {
		known.Tasks = observed.Tasks
	}
	if observed.ExitCode != nil {
		known.ExitCode = observed.ExitCode
	}
	if observed.Signal != nil {
		known.Signal = observed.Signal
	}
}
