package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Unfound decides about submissions whose jobs were not found.
type Unfound struct {
	Store     *jobstore.Store
	Claims    *Claims
	Queried   time.Time // when the scheduler was queried
	Now       func() time.Time
	Settling  time.Duration // after a submission, during which its scheduler may still accept the job
	Remembers time.Duration // after which the scheduler forgets jobs; 0 for never
}

// Decide records that a submission has no job, if that is certain, and returns the updated
// submission. Otherwise the error is an *UnconfirmedError.
func (u *Unfound) Decide(ctx context.Context, j job.Job, found Finding) (job.Job, error) {
	if found.Err != nil || !found.IsAbsent {
		return u.undecided(ctx, j, found.Err)
	}
	if settled := j.Created.Add(u.Settling); u.Queried.Before(settled) {
		return j, &UnconfirmedError{Tag: j.Tag, Reason: "the scheduler does not know it yet", Again: settled}
	}
	if j.Phase != job.PhaseRejected && u.Remembers > 0 && u.Now().After(j.Created.Add(u.Remembers)) {
		return j, Unconfirmed(&j, fmt.Sprintf("the scheduler does not know it, and forgets jobs %s after submission", u.Remembers), nil)
	}
	candidates, err := u.Claims.Without(ctx, found.Candidates, j)
	if err != nil {
		return j, err
	}
	if len(candidates) > 0 && j.Phase != job.PhaseRejected {
		return j, &UnconfirmedError{Tag: j.Tag, Reason: "it may be " + oneOf(candidates), Candidates: candidates}
	}
	if _, err := u.Store.RejectUnseen(ctx, j.Tag, "the scheduler has no such job", u.Queried); err != nil {
		return j, err
	}
	return u.Store.ByTag(ctx, j.Tag) // also where another process has found it meanwhile
}

// undecided returns a submission about which the commands say nothing.
func (u *Unfound) undecided(ctx context.Context, j job.Job, failure error) (job.Job, error) {
	reason := "the query failed"
	if failure == nil {
		reason = "the scheduler does not list it; by now, it may have forgotten it"
	}
	if j.Phase == job.PhaseRejected && ctx.Err() == nil {
		// It counts: some queries fail whenever a job is older than their scheduler remembers.
		missed, err := u.Store.MarkMissing(ctx, j.Tag, u.Now())
		j.MissingCount, failure = missed.MissingCount, errors.Join(failure, err)
	}
	return j, Unconfirmed(&j, reason, failure)
}
