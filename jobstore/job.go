// Package jobstore is the durable record of submissions and of what is known of
// each job.
//
// A submission is recorded before its submit command runs and decided after it,
// so that a crash in between leaves a trace to look the job up by. What is seen
// of a job afterwards is recorded with its evidence. Any number of processes may
// use one store at once.
//
// Texts are kept byte for byte, whatever they hold.
package jobstore

import (
	"errors"
	"fmt"

	"github.com/rmctl/rmctl/job"
)

// A Filter chooses jobs of a listing.
type Filter struct {
	// All adds what is over: jobs that have ended, or whose id was given to
	// another one, or that the user dismissed, and submissions that were rejected.
	All    bool
	Target string // empty for every target
	Limit  int    // greatest number of jobs; 0 for no limit
}

// ErrNotFound is matched by the errors for jobs and sessions that the store
// does not have.
var ErrNotFound = errors.New("not recorded")

// A PhaseError is returned for an operation that a submission is past.
type PhaseError struct {
	Tag       string
	ID        string // the id that the submission has, if any
	Phase     job.Phase
	Operation string // what was tried, such as "reject"
}

func (e *PhaseError) Error() string {
	if e.ID != "" {
		return fmt.Sprintf("cannot %s submission %s: it is %s with job id %q", e.Operation, e.Tag, e.Phase, e.ID)
	}
	return fmt.Sprintf("cannot %s submission %s: it is %s", e.Operation, e.Tag, e.Phase)
}
