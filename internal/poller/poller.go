// Package poller makes the queries that all processes of a user share: one process at a time
// queries a scheduler, at a limited rate. DESIGN.md has the idea and the invariants.
package poller

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/rmctl/rmctl/internal/polls"
)

const (
	// A process hangs if its query takes longer than this, beyond the limit of the
	// command, without renewing its claim.
	lease      = 30 * time.Second
	claimPause = 50 * time.Millisecond // before the next attempt to claim a query
	// How long a process waits before it reads the state of a query again.
	longestStandBy = time.Second
)

// After so many failures in a row the query for jobs is paused: it is made rarely, to see
// whether the scheduler is back.
const pausingFailures = 8

// A Poller makes shared queries for one controller. Its methods may be called
// concurrently. All fields are required.
type Poller struct {
	Store  *polls.Record
	Holder string                                     // identifies the controller
	IsGone func(holder string) bool                   // whether the process of a controller has ended for certain
	Now    func() time.Time                           // the clock
	Pause  func(context.Context, time.Duration) error // waits
	Jitter func() float64                             // a random number from 0 to 1, which spreads the queries of many users
	Warn   func(error)                                // gets why a listing cannot be shared
}

// A Request is a query that a process wants an answer to.
type Request struct {
	Key      polls.PollKey
	Target   string        // the target of the query
	Interval time.Duration // the shortest time from one query to the next
	Limit    time.Duration // the time limit of its command
	Share    float64       // of the time, that queries for jobs may keep the scheduler busy; 0 for the usual

	// Query queries the scheduler.
	Query func(context.Context, *Turn) error
	// Apply uses the answer, and returns the error of the request; failure is the error of
	// Query. It may be nil.
	Apply func(ctx context.Context, turn *Turn, failure error) error
	// FailureOf returns the failure of a query; nil for an error that says nothing about the
	// scheduler.
	FailureOf func(error) *Failure
}

// A Failure is how a query failed.
type Failure struct {
	Kind   polls.PollFailure
	Text   string // for the record
	IsIdle bool   // however long the command tried, the scheduler did nothing
}

// A schedule decides when a query is due, and what a process does without a turn.
type schedule interface {
	dueAt(last polls.Poll) time.Time
	// standBy is called after each claim that was not granted. It returns how long to
	// wait for the next one, or that no claim is needed any more.
	standBy(ctx context.Context, last polls.Poll) (wait time.Duration, isOver bool, err error)
}

// poll makes a query, unless its schedule accepts the answer of another process. It returns
// no turn then.
func (p *Poller) poll(ctx context.Context, r *Request, s schedule) (*Turn, error) {
	turn, err := p.claim(ctx, r, s)
	if turn == nil {
		return nil, err
	}
	err = r.Query(ctx, turn)
	if r.Apply != nil {
		err = r.Apply(ctx, turn, err)
	}
	if failed := p.publish(ctx, r, turn, err); failed != nil {
		err = errors.Join(err, failed)
	}
	return turn, err
}

// claim waits until this process may make the query, or its schedule needs none. It returns
// no turn then.
func (p *Poller) claim(ctx context.Context, r *Request, s schedule) (*Turn, error) {
	claim := polls.Claim{
		PollKey: r.Key, Target: r.Target, Holder: p.Holder, Lease: lease + r.Limit, IsGone: p.IsGone,
		Due: func(last polls.Poll) bool { return p.isPast(s.dueAt(last)) },
	}
	for {
		claim.Now = p.Now()
		last, granted, err := p.Store.Claim(ctx, claim)
		if err != nil {
			return nil, err
		}
		if granted {
			return &Turn{Targets: last.Targets, Begun: p.Now(), poller: p, share: cmp.Or(r.Share, usualShare), claim: claim, last: last}, nil
		}
		wait, isOver, err := s.standBy(ctx, last)
		if err != nil || isOver {
			return nil, err
		}
		if wait > 0 {
			if err := p.Pause(ctx, wait); err != nil {
				return nil, err
			}
		}
	}
}

// publish records for all processes how a query went and what it listed, and ends the turn.
// It does so even if the caller gives up.
func (p *Poller) publish(ctx context.Context, r *Request, turn *Turn, err error) error {
	last := turn.last
	next := polls.Poll{Begun: turn.Begun, Took: turn.busy, Jobs: turn.Jobs, Changed: last.Changed}
	switch {
	case turn.Moved:
		next.Changed = p.Now()
	case next.Changed.IsZero():
		next.Changed = next.Begun
	}
	var failure *Failure
	if err != nil && !turn.Answered { // else only the queries of some jobs failed
		failure = r.FailureOf(err)
	}
	switch {
	case ctx.Err() != nil:
		// A cancellation says nothing about the scheduler.
		next.Failures, next.Error, next.Failure, next.Paused = last.Failures, last.Error, last.Failure, last.Paused
	case failure != nil:
		next.Failures, next.Error, next.Failure, next.Paused = last.Failures+1, failure.Text, failure.Kind, last.Paused
		if failure.IsIdle {
			next.Took = 0
		}
		if r.Key.Kind == polls.OwnJobs && next.Failures >= pausingFailures && next.Paused.IsZero() {
			next.Paused = p.Now()
		}
	case err == nil && last.Failures > 0:
		next.Took = 0 // it may have waited for the end of the outage
	}
	return p.Store.Finish(context.WithoutCancel(ctx), turn.claim, next, turn.listed)
}

// isPast reports whether a time has come.
func (p *Poller) isPast(moment time.Time) bool { return !p.Now().Before(moment) }
