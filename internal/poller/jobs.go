package poller

import (
	"cmp"
	"context"
	"time"

	"github.com/rmctl/rmctl/internal/polls"
)

const (
	longestInterval = time.Minute
	longestBackOff  = 5 * time.Minute
	// rmctl spends at most a twentieth of the time querying a scheduler, unless its
	// definition says otherwise.
	usualShare = 1.0 / 20
	// quietShare is the part of the time since the last change that rmctl waits until the
	// next query.
	quietShare = 20
	// While the total query time stays below this limit, the next query only waits for the
	// interval, so that waiting users get quick answers.
	recent = 10 * time.Minute
)

// A Wish limits the age of an answer.
type Wish struct {
	Insists bool // a user requested a new answer
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
	s := &jobSchedule{poller: p, interval: r.Interval, share: cmp.Or(r.Share, usualShare), wish: wish, wished: p.Now()}
	turn, err := p.poll(ctx, &r, s)
	s.outcome.Made = turn != nil
	return s.outcome, err
}

// A jobSchedule makes queries rarer while nothing changes, and after failures.
type jobSchedule struct {
	poller   *Poller
	interval time.Duration
	share    float64 // of the time, that queries may keep the scheduler busy
	wish     Wish
	wished   time.Time // when it was
	spared   time.Time // when the last query began, if the recent ones together are within the limit
	outcome  Outcome
}

// dueAt returns when the query may be made again. A wish for a new answer is satisfied by a
// query that began after it. A user who insists waits for the interval of the definition,
// and for as long as the scheduler was busy with the last query.
func (s *jobSchedule) dueAt(last polls.Poll) time.Time {
	if last.Begun.IsZero() || last.Begun.After(s.poller.Now()) { // a clock was set back
		return time.Time{}
	}
	if s.wish.Insists && last.Failures > 0 {
		last.Failures, last.Took = 0, 0 // a user does not wait for the end of a back-off
	}
	wait := s.interval
	switch {
	case s.wish.Insists:
		wait = max(wait, directFactor*last.Took)
	case !s.spared.Equal(last.Begun):
		wait = max(wait, time.Duration(float64(last.Took)/s.share))
	}
	switch {
	case last.Failures > 0:
		// A query that timed out says nothing about the duration of a successful one.
		wait = max(min(wait, longestBackOff), s.interval, s.backOff(last.Failures))
	case s.wish.Patience > 0:
		if last.Begun.After(s.wished) {
			wait = max(wait, longestInterval) // its answer satisfies the wish
		}
	default:
		wait = max(wait, min(last.Begun.Sub(last.Changed)/quietShare, max(longestInterval, s.interval)))
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
	wasDue := s.poller.isPast(s.dueAt(last))
	if err := s.spareRecent(ctx, last); err != nil {
		return 0, false, err
	}
	s.outcome.Last = last
	due := s.dueAt(last)
	isDue := s.poller.isPast(due)
	switch {
	case isDue && !wasDue:
		return 0, false, nil // as the recent ones are within the limit
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

// spareRecent finds out whether the recent queries together are within the limit.
func (s *jobSchedule) spareRecent(ctx context.Context, last polls.Poll) error {
	if last.Failures > 0 || s.spared.Equal(last.Begun) {
		return nil
	}
	spent, err := s.poller.Store.Spent(ctx, last.PollKey, s.poller.Now().Add(-recent))
	if err == nil && spent+last.Took <= time.Duration(s.share*float64(recent)) {
		s.spared = last.Begun
	}
	return err
}
