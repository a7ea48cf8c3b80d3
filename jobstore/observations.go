package jobstore

import (
	"context"
	"time"
)

// Observe records what a query told about the job of a tag and returns the job
// after it, without its submission. An observation that is older than the newest
// one recorded changes nothing. The state moves by the rules of state.Next; a job
// that is not found stale or missing by it is neither afterwards.
func (s *Store) Observe(ctx context.Context, tag string, seen Observation) (Job, error) {
	if seen.Observed.IsZero() {
		seen.Observed = time.Now()
	}
	return s.change(ctx, processed, "observation", tag, func(job *Job) (bool, error) {
		return job.observe(seen), nil
	})
}

// MarkStale records that a query about the job, begun at the time attempted,
// failed: its state is kept and is stale from now on. It changes nothing when
// the job was seen since the query began.
func (s *Store) MarkStale(ctx context.Context, tag, reason string, attempted time.Time) error {
	_, err := s.change(ctx, processed, "failed query", tag, func(job *Job) (bool, error) {
		if attempted.Before(job.Observed) {
			return false, nil
		}
		job.Stale, job.StaleReason = true, bounded(reason)
		return true, nil
	})
	return err
}

// MarkMissing records that a listing made at the time listed does not have the
// job, and returns the job after it, without its submission. It is for the
// caller to decide, by MissingSince and MissingCount, what follows from that. It
// changes nothing for a job that has ended or was seen since.
func (s *Store) MarkMissing(ctx context.Context, tag string, listed time.Time) (Job, error) {
	return s.change(ctx, processed, "absence", tag, func(job *Job) (bool, error) {
		if job.Detail.Ended() || listed.Before(job.Observed) {
			return false, nil
		}
		if !job.Missing {
			job.Missing, job.MissingSince = true, listed
		}
		job.MissingCount++
		// The newest query was answered, so what an older one failed of is over.
		job.Stale, job.StaleReason = false, ""
		return true, nil
	})
}
