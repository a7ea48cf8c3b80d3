package follow

import (
	"cmp"
	"time"
)

// A Pace is how long to wait between two looks at something: short while it moves,
// longer and longer while it does not.
type Pace struct {
	Shortest, Longest time.Duration
	current           time.Duration
}

// Next returns how long to wait now. The growth makes a wait about a sixth of
// the time that has passed since something moved.
func (p *Pace) Next(moved bool) time.Duration {
	if moved || p.current == 0 {
		p.current = p.Shortest
	} else {
		p.current = min(p.current*6/5, p.Longest)
	}
	return p.current
}

// earlyLooks are the times after a submission or a change at which a wait queries a job.
var earlyLooks = [...]time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}

const (
	// longestPause is the longest time between two looks at a job that no listing has.
	longestPause = 10 * time.Second
	// A wait looks again after this share of the time since the last change, so that it
	// ends late by as much at most, where queries may keep the scheduler busy for as large a
	// share of the time.
	lateness = 0.05
)

// A JobPace gives the pauses of a wait between two queries of a job.
type JobPace struct {
	Least time.Duration // between two looks, once some time has passed since the last change
	Busy  float64       // the share of the time that queries may keep the scheduler busy; 0 for the usual
}

// After returns how long to pause when there was no change for a time. Where queries may
// keep the scheduler busy for longer than usual, that is shorter by as much.
func (p JobPace) After(quiet time.Duration) time.Duration {
	longest := max(longestPause, p.Least)
	for _, early := range earlyLooks {
		if ahead := early - quiet; ahead > 0 {
			return min(ahead, cmp.Or(p.Least, longest), longest)
		}
	}
	share := lateness
	if p.Busy > 0 {
		share *= lateness / p.Busy
	}
	return min(max(p.Least, time.Duration(float64(quiet)*share)), longest)
}

// A Schedule decides when to query the jobs of a wait. Queries by other processes count like
// its own, so that all share one pace.
type Schedule struct {
	Pace JobPace
	Now  time.Time

	isAnyDue bool
	changed  time.Time // the latest change of a job
	earliest time.Time // when the first of the jobs that are not due is
}

// IsDue adds a job to the schedule, with its last change and its last query, and reports
// whether it is to be queried now.
func (s *Schedule) IsDue(changed, queried time.Time) bool {
	if changed.After(s.changed) {
		s.changed = changed
	}
	if queried.Before(changed) || queried.After(s.Now) { // a clock may have been set back
		queried = changed
	}
	due := queried.Add(s.Pace.After(queried.Sub(changed)))
	if !due.After(s.Now) {
		s.isAnyDue = true
		return true
	}
	if s.earliest.IsZero() || due.Before(s.earliest) {
		s.earliest = due
	}
	return false
}

// Pause returns how long to pause after a query of all jobs.
func (s *Schedule) Pause() time.Duration { return s.Pace.After(s.Now.Sub(s.changed)) }

// Next returns when to look again, once the due jobs have been queried.
func (s *Schedule) Next(queried time.Time) time.Time {
	next := queried.Add(s.Pace.After(queried.Sub(s.changed)))
	if !s.earliest.IsZero() && (!s.isAnyDue || s.earliest.Before(next)) {
		return s.earliest
	}
	return next
}
