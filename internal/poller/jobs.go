package poller

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/internal/polls"
)

const (
	longestInterval = time.Minute
	longestBackOff  = 5 * time.Minute
	// rmctl spends at most a twentieth of the time querying a scheduler: from the start
	// of one query to that of the next or, after an outlier, with all recent queries.
	quietFactor = 20
)

// A Wish says how new an answer must be.
type Wish struct {
	Insists bool // a user asked for a new answer
	// Patience is how long to wait until a query may be made. It is 0 if the last answer
	// will do unless a query is due anyway.
	Patience time.Duration
}

// Insist is the wish of a user for a new answer.
var Insist = Wish{Insists: true, Patience: longestInterval}

// An Outcome is the result of a request.
type Outcome struct {
	Made bool       // a query was made after all, and the rest is empty
	Last polls.Poll // the last query, whose answer still counts
	// Due is when the next query may be made, if a user would have to wait too long for it;
	// else zero.
	Due time.Time
}

// Jobs makes the query for the jobs on record, or waits for the process that makes it.
func (p *Poller) Jobs(ctx context.Context, r Request, wish Wish) (Outcome, error) {
	s := &jobSchedule{poller: p, interval: r.Interval, wish: wish, wished: p.Now()}
	turn, err := p.poll(ctx, &r, s)
	s.outcome.Made = turn != nil
	return s.outcome, err
}

// A jobSchedule makes queries rarer while nothing changes, and after failures.
type jobSchedule struct {
	poller   *Poller
	interval time.Duration
	wish     Wish
	wished   time.Time // when it was
	slow     outlier   // the last query, if it was one
	outcome  Outcome
}

// dueAt returns when the query may be made again.
func (s *jobSchedule) dueAt(last polls.Poll) time.Time {
	if s.wish.Insists && last.Failures > 0 {
		last.Failures, last.Took = 0, 0 // a user does not wait for the end of a back-off
	}
	due := s.regular(last)
	if s.slow.isLast(last) {
		last.Took = 0
		quiet := s.slow.due
		if regular := s.regular(last); regular.After(quiet) {
			quiet = regular
		}
		if quiet.Before(due) {
			due = quiet
		}
	}
	return due
}

// regular returns when the query may be made again, whether it was an outlier or not.
// A wish for a new answer still waits for the definition's interval, and is satisfied by a
// query that began after it.
func (s *jobSchedule) regular(last polls.Poll) time.Time {
	if last.Begun.IsZero() || last.Begun.After(s.poller.Now()) { // a clock was set back
		return time.Time{}
	}
	wait := max(s.interval, last.Took*quietFactor)
	switch {
	case last.Failures > 0:
		// A query that timed out says nothing about how long a good one takes.
		wait = max(min(wait, longestBackOff), s.interval, s.backOff(last.Failures))
	case s.wish.Patience > 0:
		if last.Begun.After(s.wished) {
			wait = max(wait, longestInterval) // its answer satisfies the wish
		}
	default:
		wait = max(wait, min(last.Begun.Sub(last.Changed)/6, max(longestInterval, s.interval)))
	}
	return last.Begun.Add(wait)
}

// backOff returns how long rmctl does not query a scheduler after failures: twice as long
// each time, with a random part, so that many users do not query it at the same moment.
func (s *jobSchedule) backOff(failures int) time.Duration {
	wait := s.interval << min(failures-1, 20)
	if wait <= 0 || wait > longestBackOff {
		wait = longestBackOff
	}
	return wait + time.Duration(s.poller.Jitter()*float64(wait)/4)
}

// standBy ends the wait if the answer is known already, or would come too late.
func (s *jobSchedule) standBy(ctx context.Context, last polls.Poll) (wait time.Duration, isOver bool, err error) {
	known := s.slow
	if s.slow, err = s.poller.outlierOf(ctx, last); err != nil {
		return 0, false, err
	}
	s.outcome.Last = last
	due := s.dueAt(last)
	isDue := s.poller.isPast(due)
	switch {
	case s.slow != known && isDue:
		return 0, false, nil // as an outlier it is due after all
	case last.Holder != "":
		return claimPause, s.wish.Patience == 0 && !isDue, nil // the last answer may do, though a process queries
	}
	isNew, isLate := last.Begun.After(s.wished), due.After(s.wished.Add(s.wish.Patience))
	if s.wish.Insists && last.Failures == 0 && !isNew && isLate {
		s.outcome.Due = due
	}
	isOver = isNew || isLate || last.Failures > 0 && !s.wish.Insists
	return min(max(claimPause, due.Sub(s.poller.Now())), longestStandBy), isOver, nil
}
