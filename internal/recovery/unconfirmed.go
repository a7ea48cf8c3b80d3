package recovery

import (
	"context"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// An UnconfirmedError reports that the outcome of a submission is still unknown.
type UnconfirmedError struct {
	Tag        string
	Reason     string    // why it is unknown
	Candidates []string  // the jobs that it may be, as far as the scheduler names them
	Again      time.Time // when looking again decides it; zero if unknown
	Err        error     // the error of the look-up; may be nil
}

// Error gives the reason, and when another look-up will decide it.
func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("unknown whether submission %s became a job: %s", e.Tag, e.Because())
}

// Because is the reason, and what to do.
func (e *UnconfirmedError) Because() string {
	text := e.Reason
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if len(e.Candidates) > 0 {
		text += "\nrecord one with rmctl recover --adopt JOB --as " + e.Tag
	}
	if !e.Again.IsZero() {
		text += fmt.Sprintf("; look again after %s", e.Again.Format(time.TimeOnly))
	}
	return text
}

// Unwrap returns what looking the submission up failed with.
func (e *UnconfirmedError) Unwrap() error { return e.Err }

// Unconfirmed returns the error for a submission.
func Unconfirmed(j *job.Job, reason string, err error) *UnconfirmedError {
	return &UnconfirmedError{Tag: j.Tag, Reason: reason, Err: err}
}

// Current returns a submission as it is on record, and whether it is to be looked for.
func Current(ctx context.Context, store *jobstore.Store, j job.Job) (now job.Job, isOpen bool, err error) {
	now, err = store.ByTag(ctx, j.Tag)
	if err != nil {
		return j, false, err
	}
	if now.ID != "" || now.Phase == job.PhaseRejected && !now.Missing {
		return now, false, nil
	}
	if now.Phase == job.PhaseIntended && presence.IsAlive(now.Submitter) {
		return now, false, Unconfirmed(&now, "being submitted right now", nil)
	}
	return now, true, nil
}
