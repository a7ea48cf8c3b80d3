// Package jobstore is the durable record of submissions and jobs. Any number of processes may
// share a store.
//
// A submission is recorded before its submit command runs and settled after it, so that its job
// can be found after a crash. Observations are recorded with their evidence. Texts are kept byte
// for byte.
package jobstore

import "errors"

// A Filter chooses jobs of a listing.
type Filter struct {
	// All adds what is over: jobs that have ended, or whose id was given to
	// another one, or that the user dismissed, and submissions that were rejected.
	All    bool
	Target string // empty for every target
	// Ensemble leaves the parts of an ensemble; empty for all jobs.
	Ensemble string
	Limit    int // greatest number of jobs; 0 for no limit
}

// ErrNotFound is matched by the errors for jobs and sessions that the store
// does not have.
var ErrNotFound = errors.New("not recorded")

// ErrDecided is matched by the errors for operations that a submission is past.
var ErrDecided = errors.New("the submission is already settled")

// ErrKept is matched by the error for an outcome that could not be recorded, as on a full
// disk, but is kept next to the store: [Store.SettleLate] records it, of this process or,
// once that has ended, of another one.
var ErrKept = errors.New("the outcome is kept next to the record")

// A markedError matches another error, too, which its text does not mention.
type markedError struct {
	error
	mark error
}

func (e markedError) Unwrap() []error { return []error{e.error, e.mark} }
