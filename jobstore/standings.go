package jobstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/state"
)

// A Standing is as much of a job as decides whether it is waited for, for those
// who wait for thousands.
type Standing struct {
	Tag, Target, ID string
	Phase           job.Phase
	Interactive     bool
	Detail          state.Detail
	Native          string
	Source          string
	Stale, Missing  bool
	MissingCount    int
	Successor       string
}

const selectStandings = "SELECT tag, target, id, phase, interactive, detail, native, source, stale, missing, missing_count, successor FROM jobs "

// queryStandings gives the standings that the rest of a query chooses to a function.
func (s *Store) queryStandings(ctx context.Context, do func(Standing), rest string, arguments ...any) (err error) {
	rows, err := s.database.QueryContext(ctx, selectStandings+rest, arguments...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var one Standing
		var phase, detail string
		err := rows.Scan(&one.Tag, &one.Target, &one.ID, &phase, &one.Interactive, &detail, &one.Native, &one.Source, &one.Stale, &one.Missing, &one.MissingCount, &one.Successor)
		if err != nil {
			return err
		}
		one.Phase, one.Detail = job.Phase(phase), state.Detail(detail)
		do(one)
	}
	return rows.Err()
}

// EachStanding gives the standings of the submissions with some tags to a function,
// in any order and each once. A tag that is not on record is left out.
func (s *Store) EachStanding(ctx context.Context, tags []string, do func(Standing)) error {
	for some := range slices.Chunk(tags, tagsPerQuery) {
		condition, arguments := amongTags(some)
		if err := s.queryStandings(ctx, do, "WHERE "+condition, arguments...); err != nil {
			return fmt.Errorf("looking up %d jobs: %w", len(tags), explained(err))
		}
	}
	return nil
}

// EachMissing gives the standings of the open jobs of a target that newer listings
// lack to a function.
func (s *Store) EachMissing(ctx context.Context, target string, do func(Standing)) error {
	if err := s.queryStandings(ctx, do, "WHERE missing = 1 AND finished = 0 AND target = ?", target); err != nil {
		return fmt.Errorf("looking for missing jobs of target %q: %w", target, explained(err))
	}
	return nil
}

// FindStandings returns the jobs that Find would, newest first, as far as their
// standings go. The error matches ErrNotFound when there is none.
func (s *Store) FindStandings(ctx context.Context, id, target string) ([]Standing, error) {
	condition, arguments := findBy(id, target)
	found := newestOf{}
	var jobs []Standing
	err := s.queryStandings(ctx, func(one Standing) {
		if found.isFirst(one.Target, one.ID) {
			jobs = append(jobs, one)
		}
	}, condition, arguments...)
	if err == nil && len(jobs) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, findError(id, target, err)
	}
	return jobs, nil
}

// EachTouched gives the tags of the jobs to a function to which something has
// happened after the event with a sequence number, each once, and returns the
// number of the newest event. Called again with that number it leaves out none.
func (s *Store) EachTouched(ctx context.Context, after int64, do func(tag string)) (last int64, err error) {
	rows, err := s.database.QueryContext(ctx, "SELECT tag, max(sequence) FROM events WHERE sequence > ? GROUP BY tag ORDER BY min(sequence)", after)
	if err != nil {
		return after, fmt.Errorf("reading what happened since event %d: %w", after, explained(err))
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	last = after
	for rows.Next() {
		var tag string
		var sequence int64
		if err := rows.Scan(&tag, &sequence); err != nil {
			return after, err
		}
		last = max(last, sequence)
		do(tag)
	}
	return last, rows.Err()
}
