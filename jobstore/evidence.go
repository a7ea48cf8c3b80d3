package jobstore

import (
	"fmt"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
)

// A change is a job before and after what was found out about it. Its methods
// apply the rules of evidence, and report whether they changed anything.
type change struct {
	before, job job.Job

	// What was observed and is not believed, and the time of an observation from the
	// future that an older one has replaced. These become events.
	contradicted, replaced *job.Observation
	ahead                  time.Time
}

// doubt makes what is known of the job stale from a time on.
func (c *change) doubt(reason string, since time.Time) {
	c.job.Stale, c.job.StaleReason = true, stored.Bounded(reason)
	if since.After(c.job.StaleSince) {
		c.job.StaleSince = since
	}
}

// failed makes the job stale because a query that began at a time has failed,
// unless the job was observed since.
func (c *change) failed(reason string, attempted time.Time) bool {
	if isOvertaken(attempted, c.job.Observed) {
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

// found ends that the job is missing.
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
func (c *change) observe(seen job.Observation) bool {
	known := &c.job
	if isOvertaken(seen.Observed, known.Observed) {
		return false
	}
	if transition.IsAnother(known, seen) {
		return c.replace(seen)
	}
	if seen.Observed.Before(known.Observed) {
		c.ahead = known.Observed
	}
	moves := transition.Between(known.Detail, seen.Detail)
	switch {
	case moves == transition.Follows || moves == transition.Returns:
		c.record(seen)
		known.Native, known.Reason = stored.Bounded(seen.Native), stored.Bounded(seen.Reason)
		if known.Irregular == replacedWords || seen.Detail.Primary() != job.Submitted {
			known.Irregular = "" // it is in order again
		}
	case moves == transition.Contradicts:
		// An ended job keeps the evidence of its end.
		c.contradict(seen)
	case !known.Detail.Ended():
		// The definition does not know the scheduler's word. The word is shown beside
		// the state that is kept.
		c.record(seen)
		if seen.Native != "" {
			known.Native, known.Reason = stored.Bounded(seen.Native), stored.Bounded(seen.Reason)
		}
	}
	if moves == transition.Returns {
		known.Irregular = fmt.Sprintf("it waits again after it was %s", known.Detail)
	}
	known.Detail = transition.Next(known.Detail, seen.Detail)
	c.learn(seen)
	c.trust(seen.Observed)
	c.found()
	return true
}

// contradict notes what was observed of a job that has ended otherwise.
func (c *change) contradict(seen job.Observation) {
	words := fmt.Sprintf("it was seen %s after it had ended, which is not believed", seen.Detail)
	if seen.Detail.Ended() {
		words = fmt.Sprintf("it was seen %s, too, which is not believed", seen.Detail)
	}
	if words != c.job.Irregular {
		c.job.Irregular, c.contradicted = words, &seen
	}
}

const replacedWords = "another job has its id"

// replace notes that the id of the job is another job's by now. The scheduler says
// nothing more about this one.
func (c *change) replace(seen job.Observation) bool {
	if c.job.Irregular != replacedWords {
		c.job.Irregular, c.replaced = replacedWords, &seen
	}
	return c.lack(seen.Observed) || c.replaced != nil
}

// lack notes that a listing made at a time lacks the job.
func (c *change) lack(listed time.Time) bool {
	if c.job.Detail.Ended() || isOvertaken(listed, c.job.Observed) {
		return false
	}
	c.miss(listed)
	c.trust(listed) // it was answered, so the failure of an older query is over
	return true
}

// record keeps where and when the state was observed.
func (c *change) record(seen job.Observation) {
	known := &c.job
	known.Observed, known.Source, known.Evidence = seen.Observed, seen.Source, stored.Bounded(seen.Evidence)
	known.Origin = seen.Origin
	known.Origin.Text = stored.Bounded(known.Origin.Text)
}

// learn keeps the facts that an observation mentions.
func (c *change) learn(seen job.Observation) {
	known := &c.job
	for _, fact := range []struct {
		known *string
		now   string
	}{
		{&known.Name, seen.Name}, {&known.Queue, seen.Queue}, {&known.Owner, seen.Owner}, {&known.Nodes, seen.Nodes}, {&known.Identity, seen.Identity},
		{&known.Submitted, seen.Submitted}, {&known.Started, seen.Started}, {&known.Ended, seen.Ended},
		{&known.OutputPath, seen.OutputPath}, {&known.ErrorPath, seen.ErrorPath},
	} {
		if fact.now != "" {
			*fact.known = stored.Bounded(fact.now)
		}
	}
	if seen.ExitCode != nil {
		known.ExitCode = seen.ExitCode
	}
	if seen.Signal != nil {
		known.Signal = seen.Signal
	}
}
