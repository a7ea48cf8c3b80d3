package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// A NotFoundError says that a scheduler does not know a job.
type NotFoundError struct {
	ID, Target string
}

func (e *NotFoundError) Error() string {
	if e.Target == "" {
		return fmt.Sprintf("there is no job %q", e.ID)
	}
	return fmt.Sprintf("there is no job %q at target %q", e.ID, e.Target)
}

// A QueryError says that the query for a job's state failed. What was known of the job
// before still stands.
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

// Status returns a job as it is now. It queries the scheduler unless the job has ended
// or, if fresh is not set, was queried some seconds ago. If the query fails, the job is
// returned as it was known, marked stale, with a *QueryError. A job that the scheduler
// has forgotten is returned marked missing, without an error.
func (c *tracker) Status(ctx context.Context, j job.Job, fresh bool) (job.Job, error) {
	switch {
	case c.isSettled(&j):
		return j, nil
	case j.ID == "":
		return c.statusOfSubmission(ctx, j)
	case j.Tag != "" && c.isKnownByProcess(j):
		return c.statusByProcess(ctx, j.Tag)
	case c.definition.Command(config.GetJobStatus) == nil || !fresh && c.wasJustQueried(j):
		return j, nil
	case j.Tag == "":
		return c.lookAgain(ctx, j)
	}
	if asked, err := c.untilQueryable(ctx, &j); err != nil || asked {
		return j, err
	}
	return c.statusByQuery(ctx, j)
}

// isSettled reports whether a query would say nothing new about a job.
func (c *tracker) isSettled(j *job.Job) bool {
	return j.Detail.Ended() || j.Phase == job.PhaseDismissed || j.Successor != "" || j.Phase == job.PhaseRejected && !IsLookedForAgain(*j, c.now())
}

// statusByQuery queries the scheduler for a job on record, and records the answer.
func (c *tracker) statusByQuery(ctx context.Context, j job.Job) (job.Job, error) {
	begun := c.now()
	seen, err := c.query(ctx, j)
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return j, &QueryError{ID: j.ID, Err: err} // the caller went away, which says nothing about the job
	case err != nil:
		return c.stale(context.WithoutCancel(ctx), j, err, begun)
	case seen.forgotten:
		return c.store.MarkMissing(ctx, j.Tag, begun)
	}
	return c.store.Observe(ctx, j.Tag, seen.Observation)
}

// statusOfSubmission finds out what became of a submission. As long as that is not
// known it returns a doubt, which is no failure.
func (c *tracker) statusOfSubmission(ctx context.Context, job job.Job) (job.Job, error) {
	job, err := c.Recover(ctx, job)
	var unconfirmed *UnconfirmedError
	if errors.As(err, &unconfirmed) {
		job.Stale, job.StaleReason = true, unconfirmed.because()
		return job, nil
	}
	return job, err
}

// lookAgain queries a job that is not on record.
func (c *tracker) lookAgain(ctx context.Context, job job.Job) (job.Job, error) {
	seen, err := c.Look(ctx, job.ID)
	var forgotten *NotFoundError
	switch {
	case errors.As(err, &forgotten):
		job.Missing = true
		return job, nil
	case err != nil:
		job.Stale, job.StaleReason = true, err.Error()
		return job, err
	}
	return seen, nil
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
// say nothing new and only burden the scheduler. The submit command is no query.
func (c *tracker) wasJustQueried(job job.Job) bool {
	interval := intervalOf(c.definition.Command(config.GetJobStatus))
	submit := c.definition.Submit(false)
	return !job.Stale && c.now().Sub(job.Observed) < interval && (submit == nil || job.Source != submit.Name)
}

// queryableAt returns when the definition lets the status command be run again for a
// job; the zero time where it says nothing of that, or the job was seen otherwise.
func (c *tracker) queryableAt(job *job.Job) time.Time {
	status := c.definition.Command(config.GetJobStatus)
	if status == nil || status.Interval == 0 || job.Observed.After(c.now()) { // a clock was set back
		return time.Time{}
	}
	isSource := func(command *config.Command) bool { return command.Name == job.Source }
	if !isSource(status) && !slices.ContainsFunc(status.Fallbacks, isSource) {
		return time.Time{}
	}
	return job.Observed.Add(status.Interval)
}

// untilQueryable waits until the definition lets the status command be run again. It
// reports whether another process has queried the job meanwhile, whose answer the job
// then has.
func (c *tracker) untilQueryable(ctx context.Context, job *job.Job) (asked bool, err error) {
	wait := c.queryableAt(job).Sub(c.now())
	if wait <= 0 {
		return false, nil
	}
	if err := c.pause(ctx, wait); err != nil {
		return false, err
	}
	now, err := c.store.ByTag(ctx, job.Tag)
	if err != nil || !now.Observed.After(job.Observed) {
		return false, err
	}
	*job = now
	return true, nil
}

// Look queries a job that was not submitted through rmctl. It keeps nothing. A job that
// the scheduler does not know is a *NotFoundError, and so is an id that the commands
// would take for an option.
func (c *session) Look(ctx context.Context, id string) (job.Job, error) {
	if _, err := c.resolver.Command(config.GetJobStatus); err != nil {
		return job.Job{}, err
	}
	if strings.HasPrefix(id, "-") {
		return job.Job{}, &NotFoundError{ID: id, Target: c.target}
	}
	seen, err := c.query(ctx, job.Job{ID: id, ShortID: id})
	if err != nil {
		return job.Job{}, &QueryError{ID: id, Err: err}
	}
	if seen.forgotten {
		return job.Job{}, &NotFoundError{ID: id, Target: c.target}
	}
	return job.Job{
		ID: id, ShortID: id, Target: c.target, Definition: c.definition.File, Phase: job.PhaseSubmitted,
		Observation: seen.Observation,
	}, nil
}
