package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// An UnconfirmedError says that it is still unknown what became of a submission.
type UnconfirmedError struct {
	Tag    string
	Reason string    // why it is not known
	Again  time.Time // when looking again decides it; zero if unknown
	Err    error     // what looking it up failed with; may be nil
}

func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("it is not known whether submission %s became a job: %s", e.Tag, e.because())
}

func (e *UnconfirmedError) because() string {
	text := e.Reason
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if !e.Again.IsZero() {
		text += fmt.Sprintf("; looking again after %s will tell", e.Again.Format(time.TimeOnly))
	}
	return text
}

// Unwrap returns what looking the submission up failed with.
func (e *UnconfirmedError) Unwrap() error { return e.Err }

// settling is how long after the time limit of a submit command its scheduler may still
// accept the job.
const settling = 30 * time.Second

// Recover finds out what became of a submission without a recorded outcome: rmctl was
// killed, the connection broke or the submit command took too long. If the scheduler has
// the job, Recover adopts it. If it certainly has not, the submission becomes
// job.PhaseRejected; Recover looks it up again later, as the scheduler may accept it late.
// While neither is certain, the error is an *UnconfirmedError. Recover never submits
// anything.
//
// [jobstore.Store.Unresolved] and [jobstore.Store.Unseen] return such submissions.
func (c *tracker) Recover(ctx context.Context, j job.Job) (job.Job, error) {
	c.recordLate(ctx)
	j, err := c.store.ByTag(ctx, j.Tag)
	if err != nil || j.ID != "" || j.Phase == job.PhaseRejected && !j.Missing {
		return j, err
	}
	if j.Phase == job.PhaseIntended && presence.IsAlive(j.Submitter) {
		return j, unconfirmed(&j, "it is being submitted at this moment", nil)
	}
	lookUp := c.definition.Command(config.FindJob)
	switch {
	case lookUp != nil:
		return c.recoverByLookUp(ctx, lookUp, j)
	case j.Phase == job.PhaseRejected:
		return j, nil // only a listing may find it
	case j.Interactive && presence.PresenceOf(j.Submitter) == presence.Elsewhere:
		return j, unconfirmed(&j, fmt.Sprintf("process %s may still be submitting it; check on that host", presence.ProcessName(j.Submitter)), nil)
	case j.Interactive:
		// Its process was a child of the one that is gone, and has no other name than the tag.
		return j, c.reject(ctx, &j, "rmctl ended before the job was seen to run")
	}
	return j, unconfirmed(&j, fmt.Sprintf("definition %q cannot look submissions up (it has no x:find-job); look with the scheduler's own commands", c.definition.Name), nil)
}

func unconfirmed(j *job.Job, reason string, err error) *UnconfirmedError {
	return &UnconfirmedError{Tag: j.Tag, Reason: reason, Err: err}
}

// recoverByLookUp is Recover for a definition that finds jobs by their tags.
func (c *tracker) recoverByLookUp(ctx context.Context, lookUp *config.Command, j job.Job) (job.Job, error) {
	queried := c.now() // the scheduler may accept the job during the query
	found, err := c.lookUp(ctx, lookUp, j)
	if err != nil {
		if j.Phase == job.PhaseRejected && ctx.Err() == nil {
			// It counts: some queries fail whenever a job is older than their scheduler remembers.
			missed, missErr := c.store.MarkMissing(ctx, j.Tag, c.now())
			j.MissingCount, err = missed.MissingCount, errors.Join(err, missErr)
		}
		return j, unconfirmed(&j, "it could not be looked up", err)
	}
	if found.ID != "" {
		return c.store.Accept(ctx, j.Tag, found)
	}
	if settled := j.Created.Add(c.submitLimit() + settling); queried.Before(settled) {
		return j, &UnconfirmedError{Tag: j.Tag, Reason: "the scheduler does not know it yet", Again: settled}
	}
	if j.Phase != job.PhaseRejected && c.isForgotten(j) {
		return j, unconfirmed(&j, fmt.Sprintf("the scheduler does not know it, and forgets jobs %s after they were submitted", lookUp.Remembers), nil)
	}
	if _, err := c.store.RejectUnseen(ctx, j.Tag, "the scheduler was asked for it, and has no such job", queried); err != nil {
		return j, err
	}
	return c.store.ByTag(ctx, j.Tag) // also where another process has found it meanwhile
}

// reject records that a submission was not made, and that there is nothing to look for.
func (c *tracker) reject(ctx context.Context, job *job.Job, reason string) error {
	err := c.store.Reject(ctx, job.Tag, reason)
	if err != nil && !errors.Is(err, jobstore.ErrDecided) {
		return err
	}
	*job, err = c.store.ByTag(ctx, job.Tag) // also where another process has found it meanwhile
	return err
}

// submitLimit is how long a submit command may run.
func (c *session) submitLimit() time.Duration { return limitOf(c.definition.Submit(false)) }

// limitOf is how long a command may run.
func limitOf(of *config.Command) time.Duration {
	if of != nil && of.Timeout > 0 {
		return of.Timeout
	}
	return command.DefaultTimeout
}
