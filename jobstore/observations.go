package jobstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Observe records what a query told about the job of a tag and returns the job
// after it, without its submission. An observation that is older than the newest
// one recorded changes nothing. The state moves by the table of state.TransitionOf. The job
// is not missing afterwards, and not stale unless it became so since the query
// was made. What was seen of another job with the same id is not believed; the
// job is missing then.
func (s *Store) Observe(ctx context.Context, tag string, seen Observation) (Job, error) {
	if seen.Observed.IsZero() {
		seen.Observed = time.Now()
	}
	return s.change(ctx, processed, "observation", tag, observing(seen))
}

func observing(seen Observation) decision {
	return func(_ context.Context, _ *sql.Tx, job *Job) (bool, error) { return job.observe(seen), nil }
}

// ObserveAll records what one listing told about many jobs, by their tags, in
// one transaction, each as Observe does. A tag that is not recorded is an error,
// and nothing is recorded then.
func (s *Store) ObserveAll(ctx context.Context, listed map[string]Observation) error {
	now := time.Now()
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		for _, tag := range slices.Sorted(maps.Keys(listed)) {
			seen := listed[tag]
			if seen.Observed.IsZero() {
				seen.Observed = now
			}
			job, err := queryJob(ctx, transaction, tag)
			if err == nil {
				err = decideOn(ctx, transaction, &job, observing(seen))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording what a listing told about %d jobs: %w", len(listed), err)
	}
	return nil
}

// MarkStale records that what is known of the job may not hold since the time
// attempted: then began a query that failed, or ended a command that may have
// changed the job. Its state is kept, and is stale until a later query is
// answered. It changes nothing when the job was seen since.
func (s *Store) MarkStale(ctx context.Context, tag, reason string, attempted time.Time) error {
	_, err := s.change(ctx, processed, "failed query", tag, doubting(reason, attempted))
	return err
}

func doubting(reason string, attempted time.Time) decision {
	return func(_ context.Context, _ *sql.Tx, job *Job) (bool, error) {
		if isOvertaken(attempted, job.Observed) {
			return false, nil
		}
		job.doubt(reason, attempted)
		return true, nil
	}
}

// MarkAllStale records what MarkStale does of many jobs in one transaction.
func (s *Store) MarkAllStale(ctx context.Context, tags []string, reason string, attempted time.Time) error {
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		for _, tag := range tags {
			job, err := queryJob(ctx, transaction, tag)
			if err == nil {
				err = decideOn(ctx, transaction, &job, doubting(reason, attempted))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording that a query about %d jobs failed: %w", len(tags), err)
	}
	return nil
}

// MarkMissing records that a listing made at the time listed does not have the
// job, and returns the job after it, without its submission. It is for the
// caller to decide, by MissingSince and MissingCount, what follows from that. It
// changes nothing for a job that has ended or was seen since.
func (s *Store) MarkMissing(ctx context.Context, tag string, listed time.Time) (Job, error) {
	return s.change(ctx, processed, "absence", tag, func(_ context.Context, _ *sql.Tx, job *Job) (bool, error) {
		return job.lack(listed), nil
	})
}
