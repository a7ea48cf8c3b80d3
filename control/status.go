package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/job"
)

// A NotFoundError reports that a scheduler does not know a job.
type NotFoundError struct {
	ID, Target string
}

func (e *NotFoundError) Error() string {
	if e.Target == "" {
		return fmt.Sprintf("unknown job %q", e.ID)
	}
	return fmt.Sprintf("unknown job %q of target %q", e.ID, e.Target)
}

// A QueryError says that the query for a job's state failed. The last known state still
// counts.
type QueryError struct {
	ID  string // empty for all jobs of a target
	Err error
	// Earlier says that the query was an earlier one, of this process or another one, and
	// that its result still counts. If it was not connected, the error matches
	// [remote.ErrUnreachable], though the connection of this process may work.
	Earlier bool
}

func (e *QueryError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("asking for the jobs: %v", e.Err)
	}
	return fmt.Sprintf("asking for job %s: %v", e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *QueryError) Unwrap() error { return e.Err }

// A readingError reports that the output of a command about a job is unusable.
type readingError struct {
	Command string
	Kind    config.OutcomeKind // Incomplete or Unreadable
	Reason  string
	Line    int // of the output; 0 if unknown
}

func (e *readingError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("the output of %s is %s, line %d: %s", e.Command, e.Kind, e.Line, e.Reason)
	}
	return fmt.Sprintf("the output of %s is %s: %s", e.Command, e.Kind, e.Reason)
}

// Status returns a job as it is now. It queries the scheduler unless the job has ended
// or, if fresh is not set, was queried some seconds ago. If the query fails, Status
// returns the last known state, marked stale, with a *QueryError. A job that the scheduler
// has forgotten is marked missing, without an error.
func (c *tracker) Status(ctx context.Context, j job.Job, fresh bool) (job.Job, error) {
	if !fresh && j.ID != "" && !c.isKnownByProcess(j) && c.wasJustQueried(j) {
		return j, nil
	}
	defer c.tracked.Observe(ctx, c.target) // once its state is on record
	return c.queryStatus(ctx, j)
}

// queryStatus is Status for a fresh answer.
func (c *tracker) queryStatus(ctx context.Context, j job.Job) (job.Job, error) {
	switch {
	case c.isSettled(&j):
		return j, nil
	case j.ID == "":
		return c.statusOfSubmission(ctx, j)
	case j.Tag != "" && c.isKnownByProcess(j):
		return c.statusByProcess(ctx, j.Tag)
	case c.definition.Command(config.GetJobStatus) == nil:
		return j, nil
	case j.Tag == "":
		return c.lookAgain(ctx, j)
	}
	return c.statusByQuery(ctx, j)
}

// isSettled reports whether a query would say nothing new about a job.
func (c *tracker) isSettled(j *job.Job) bool {
	return j.Detail.Ended() || j.Phase == job.PhaseDismissed || j.Successor != "" || j.Phase == job.PhaseRejected && !recovery.IsDue(*j, c.now())
}

// statusByQuery queries the scheduler for a job on record, and records the answer.
func (c *tracker) statusByQuery(ctx context.Context, j job.Job) (job.Job, error) {
	begun := c.now()
	found, err := c.query(ctx, j)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return j, &QueryError{ID: j.ID, Err: err} // the caller canceled, which says nothing about the job
	case err != nil:
		if found.Tasks != "" {
			err = errors.Join(err, c.store.Remember(context.WithoutCancel(ctx), j.Tag, found.Tasks))
		}
		return c.stale(context.WithoutCancel(ctx), j, err, begun)
	case found.forgotten:
		return c.store.MarkMissing(ctx, j.Tag, begun)
	}
	return c.store.Observe(ctx, j.Tag, found.Observation)
}

// statusOfSubmission looks up a submission. While its outcome is unknown the job is stale,
// without an error.
func (c *tracker) statusOfSubmission(ctx context.Context, job job.Job) (job.Job, error) {
	job, err := c.Recover(ctx, job)
	var unconfirmed *UnconfirmedError
	if errors.As(err, &unconfirmed) {
		job.Stale, job.StaleReason = true, unconfirmed.Because()
		return job, nil
	}
	return job, err
}

// lookAgain queries a job that is not on record.
func (c *tracker) lookAgain(ctx context.Context, job job.Job) (job.Job, error) {
	found, err := c.Look(ctx, job.ID)
	var forgotten *NotFoundError
	switch {
	case errors.As(err, &forgotten):
		job.Missing = true
		return job, nil
	case err != nil:
		job.Stale, job.StaleReason = true, err.Error()
		return job, err
	}
	return found, nil
}

// stale records that a query failed.
func (c *tracker) stale(ctx context.Context, job job.Job, failure error, begun time.Time) (job.Job, error) {
	err := c.store.MarkStale(ctx, job.Tag, failure.Error(), begun)
	if err == nil {
		job, err = c.store.ByTag(ctx, job.Tag)
	}
	return job, &QueryError{ID: job.ID, Err: errors.Join(failure, err)}
}

// wasJustQueried reports whether a job was queried so recently that another query would
// only burden the scheduler. The submit command is no query.
func (c *tracker) wasJustQueried(job job.Job) bool {
	interval := c.intervalOf(c.definition.Command(config.GetJobStatus))
	submit := c.definition.Submit(false)
	return !job.Stale && c.now().Sub(job.Observed) < interval && (submit == nil || job.Source != submit.Name)
}

// Look queries the scheduler for a job that was not submitted through rmctl, and records
// nothing. If the scheduler does not know the job, or the definition has no such ids, or
// the id looks like an option, the error is a *NotFoundError.
func (c *session) Look(ctx context.Context, id string) (job.Job, error) {
	found, _, err := c.look(ctx, id)
	return found, err
}

// look is Look, and returns the answer, too.
func (c *session) look(ctx context.Context, id string) (job.Job, answer, error) {
	if _, err := c.resolver.Command(config.GetJobStatus); err != nil {
		return job.Job{}, answer{}, err
	}
	ids, err := c.ids()
	if err != nil {
		return job.Job{}, answer{}, err
	}
	short, _, isID := ids.Split(id)
	if !isID || strings.HasPrefix(id, "-") {
		return job.Job{}, answer{}, &NotFoundError{ID: id, Target: c.target}
	}
	id = ids.Clean(id)
	found, err := c.query(ctx, job.Job{ID: id, ShortID: short})
	if err != nil {
		return job.Job{}, found, &QueryError{ID: id, Err: err}
	}
	if found.forgotten {
		return job.Job{}, found, &NotFoundError{ID: id, Target: c.target}
	}
	return job.Job{
		ID: id, ShortID: short, Target: c.target, Definition: c.definition.File, Phase: job.PhaseSubmitted,
		Observation: found.Observation,
	}, found, nil
}

// isQueryFailure reports whether a query of a scheduler failed, not recording it.
func isQueryFailure(err error) bool {
	var query *QueryError
	return errors.As(err, &query)
}
