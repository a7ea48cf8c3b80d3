package jobstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rmctl/rmctl/job"
)

// An Outcome says what became of a submission. One of Accepted, Ended, Refused and
// Doubted is set.
type Outcome struct {
	Tag         string // of the submission
	ID, ShortID string // with Accepted, the ids of the job
	Accepted    *job.Observation
	Ended       *job.Observation // how its job ended, with its exit code, which only this process has seen
	Refused     string           // why it was not made, see [Store.Reject]
	Doubted     string           // why the outcome is unknown
}

// unrecorded are the outcomes that this process could not record.
type unrecorded struct {
	settling chan struct{} // held by the one goroutine that records them late

	lock     sync.Mutex
	outcomes []Outcome // oldest first
	kept     *keptFile // nil before the first submission, and where files cannot be locked
	isMade   bool      // whether kept is final
}

// Settle records what became of a submission, and returns its job. If that fails, it keeps
// the outcome in memory and in a file for which Intend has made room: the error matches
// ErrKept. If the file fails, too, the error has both causes.
func (s *Store) Settle(ctx context.Context, outcome Outcome) (job.Job, error) {
	outcome = outcome.dated(time.Now())
	var job job.Job
	var err error
	if s.unrecorded.has(outcome.Tag) {
		err = s.SettleLate(ctx) // earlier outcomes first
	}
	if err == nil {
		job, err = s.settle(ctx, outcome)
	}
	if err == nil || isDecided(err) {
		return job, err
	}
	s.unrecorded.lock.Lock()
	defer s.unrecorded.lock.Unlock()
	s.unrecorded.outcomes = append(s.unrecorded.outcomes, outcome)
	if keepErr := s.unrecorded.kept.add(outcome); keepErr != nil {
		return job, errors.Join(err, keepErr)
	}
	return job, markedError{err, ErrKept}
}

// dated returns the outcome with a time if it has none: an outcome that is recorded late
// is older than later observations.
func (o Outcome) dated(now time.Time) Outcome {
	o.Accepted, o.Ended = datedObservation(o.Accepted, now), datedObservation(o.Ended, now)
	return o
}

func datedObservation(observation *job.Observation, now time.Time) *job.Observation {
	if observation == nil || !observation.Observed.IsZero() {
		return observation
	}
	dated := *observation
	dated.Observed = now
	return &dated
}

func (s *Store) settle(ctx context.Context, outcome Outcome) (job.Job, error) {
	switch {
	case outcome.Accepted != nil:
		return s.Accept(ctx, outcome.Tag, job.Job{ID: outcome.ID, ShortID: outcome.ShortID, Observation: *outcome.Accepted})
	case outcome.Ended != nil:
		return s.Observe(ctx, outcome.Tag, *outcome.Ended)
	case outcome.Refused != "":
		return job.Job{}, s.Reject(ctx, outcome.Tag, outcome.Refused)
	}
	return job.Job{}, s.doubt(ctx, outcome.Tag, outcome.Doubted)
}

// isDecided reports whether an outcome cannot be recorded because the submission has
// another outcome, or is not on record any more.
func isDecided(err error) bool {
	return errors.Is(err, ErrDecided) || errors.Is(err, ErrNotFound)
}

// SettleLate records the outcomes that this process, or one that has ended since, could
// not record. Outcomes recorded meanwhile count. Those that still cannot be recorded are
// kept, with an error.
func (s *Store) SettleLate(ctx context.Context) error {
	select {
	case s.unrecorded.settling <- struct{}{}:
		defer func() { <-s.unrecorded.settling }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.settleOwn(ctx); err != nil {
		return err
	}
	if err := s.settleKept(ctx); err != nil {
		return fmt.Errorf("recording outcomes that other processes left: %w", err)
	}
	return nil
}

// settleOwn records the outcomes of this process, up to the first one that cannot be.
func (s *Store) settleOwn(ctx context.Context) error {
	s.unrecorded.lock.Lock()
	outcomes := slices.Clone(s.unrecorded.outcomes)
	s.unrecorded.lock.Unlock()
	for _, outcome := range outcomes {
		if _, err := s.settle(ctx, outcome); err != nil && !isDecided(err) {
			return err
		}
		if err := s.unrecorded.drop(); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether there is an outcome of a submission.
func (u *unrecorded) has(tag string) bool {
	u.lock.Lock()
	defer u.lock.Unlock()
	return slices.ContainsFunc(u.outcomes, func(outcome Outcome) bool { return outcome.Tag == tag })
}

// drop removes the oldest outcome, which is recorded. It may stay in the file: recording
// an outcome again changes nothing.
func (u *unrecorded) drop() error {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.outcomes = u.outcomes[1:]
	if len(u.outcomes) > 0 {
		return nil
	}
	return u.kept.clear()
}

// makeRoom makes the file for outcomes that cannot be recorded, before the first
// submission of this process: on a full disk there is no room for it later.
func (s *Store) makeRoom() error {
	s.unrecorded.lock.Lock()
	defer s.unrecorded.lock.Unlock()
	if s.unrecorded.isMade {
		return nil
	}
	kept, err := newKeptFile(s.directory())
	if err != nil {
		return fmt.Errorf("making room for the outcome: %w", err)
	}
	s.unrecorded.kept, s.unrecorded.isMade = kept, true
	return nil
}

// leave leaves the outcomes that are not recorded to later processes.
func (u *unrecorded) leave() error {
	u.lock.Lock()
	defer u.lock.Unlock()
	return u.kept.close(len(u.outcomes) == 0)
}
