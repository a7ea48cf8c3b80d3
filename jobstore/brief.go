package jobstore

import (
	"context"
	"slices"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// Brief jobs have what decides whether a job is waited for: Tag, Target, ID, ShortID, Phase,
// Interactive, Detail, Native, Source, Stale, Missing, MissingCount, MissingSince and Successor.

// EachBrief gives the jobs of the submissions with some tags, brief, to a function,
// in any order and each once. A tag that is not on record is left out. The job is
// the function's for the call only.
func (s *Store) EachBrief(ctx context.Context, tags []string, do func(*job.Job)) error {
	for some := range slices.Chunk(tags, tagsPerQuery) {
		condition, arguments := amongTags(some)
		if err := eachBrief(ctx, s.lenient(s.database), plain(do), "WHERE "+condition, arguments...); err != nil {
			return failed(err, "looking up %d jobs", len(tags))
		}
	}
	return nil
}

// EachMissing gives the open jobs of a target that newer listings lack, brief, to a
// function. The job is the function's for the call only.
func (s *Store) EachMissing(ctx context.Context, target string, do func(*job.Job)) error {
	err := eachBrief(ctx, s.lenient(s.database), plain(do), "WHERE missing = 1 AND finished = 0 AND target = ?", target)
	return failed(err, "looking for missing jobs of target %q", target)
}

// plain turns a function of a job that never fails into one of its row.
func plain(do func(*job.Job)) func(*jobRow) error {
	return func(row *jobRow) error {
		do(&row.job)
		return nil
	}
}

// EachTouched gives the tag of each job with an event after a sequence number to a
// function, once, and returns the number of the newest event. Called again with that
// number, it misses no job.
func (s *Store) EachTouched(ctx context.Context, after int64, do func(tag string)) (last int64, err error) {
	last = after
	var tag string
	var sequence int64
	err = stored.Each(ctx, s.database, []any{&tag, &sequence}, func() error {
		last = max(last, sequence)
		do(tag)
		return nil
	}, "SELECT tag, max(sequence) FROM events WHERE sequence > ? GROUP BY tag ORDER BY min(sequence)", after)
	if err != nil {
		return after, failed(err, "reading events after %d", after)
	}
	return last, nil
}
