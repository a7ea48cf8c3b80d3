package jobstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/rmctl/rmctl/job"
)

// Observe records what a query said about the job of a tag and returns the job
// after it, without its submission. An observation that is older than the newest
// one recorded changes nothing. The state moves by the table of internal/transition. The job
// is not missing afterwards, and not stale unless it became so since the query
// was made. What was seen of another job with the same id is not believed; the
// job is missing then.
func (s *Store) Observe(ctx context.Context, tag string, observed job.Observation) (job.Job, error) {
	if observed.Observed.IsZero() {
		observed.Observed = time.Now()
	}
	return s.change(ctx, processed, "observation", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		return c.observe(observed), nil
	})
}

// MarkStale records that the state of the job is in doubt since the time attempted,
// when a query that failed began, or a command that may have changed the job ended.
// The job keeps its state, which is stale until a later query succeeds. MarkStale
// changes nothing if the job was seen since.
func (s *Store) MarkStale(ctx context.Context, tag, reason string, attempted time.Time) error {
	_, err := s.change(ctx, processed, "failed query", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		return c.failed(reason, attempted), nil
	})
	return err
}

// MarkCanceled records that the scheduler accepted a request to cancel a job: when, by which
// command, and what it printed. The job may continue for a while, or end in another way. Only
// the first request counts.
func (s *Store) MarkCanceled(ctx context.Context, tag string, accepted job.Observation) error {
	_, err := s.change(ctx, processed, "cancellation", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		return c.cancel(accepted), nil
	})
	return err
}

// Remember keeps what a query without a state has found out about the tasks of a job.
func (s *Store) Remember(ctx context.Context, tag, tasks string) error {
	_, err := s.change(ctx, processed, "tasks", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		isNew := c.job.Tasks != tasks
		c.job.Tasks = tasks
		return isNew, nil
	})
	return err
}

// MarkMissing records that a listing made at the time listed does not have the
// job, and returns the job after it, without its submission. The caller
// decides by MissingSince and MissingCount what follows. It changes nothing for a job that has ended or was seen since.
func (s *Store) MarkMissing(ctx context.Context, tag string, listed time.Time) (job.Job, error) {
	return s.change(ctx, processed, "absence", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		return c.lack(listed), nil
	})
}
