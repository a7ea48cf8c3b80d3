package polls

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/stored"
)

// A PollCount is how often a shared query was made.
type PollCount struct {
	Poll
	Hour, Day int           // how many in the last hour and the last day
	Spent     time.Duration // that these of the day took in all
	Failed    int           // how many of these of the day failed
}

// rank orders queries for the same targets.
func (c PollCount) rank() string {
	if c.Kind == OwnJobs {
		return ""
	}
	return string(c.Kind)
}

// Spent returns how long the shared queries since a time have kept their scheduler busy.
func (r *Record) Spent(ctx context.Context, key PollKey, since time.Time) (time.Duration, error) {
	var spent time.Duration
	row := r.read.QueryRowContext(ctx, "SELECT coalesce(sum(took), 0) FROM polls_past WHERE kind = ? AND key = ? AND begun >= ?", key.Kind, key.Key, stored.Time(since))
	return spent, r.failed(row.Scan(&spent), "looking up how long a query took")
}

// All returns all shared queries with their counts up to now, by targets; of the
// same ones those for own jobs first.
func (r *Record) All(ctx context.Context, now time.Time) (counts []PollCount, err error) {
	keys, err := pollKeys(ctx, r.read)
	for _, key := range keys {
		var count PollCount
		if count.Poll, _, err = readPoll(ctx, r.read, key); err != nil {
			break
		}
		row := r.read.QueryRowContext(ctx,
			"SELECT count(*), coalesce(sum(begun >= ?), 0), coalesce(sum(took), 0), coalesce(sum(failed <> 0), 0) FROM polls_past WHERE kind = ? AND key = ? AND begun >= ?",
			stored.Time(now.Add(-time.Hour)), key.Kind, key.Key, stored.Time(now.Add(-pollsKept)))
		if err = row.Scan(&count.Day, &count.Hour, &count.Spent, &count.Failed); err != nil {
			break
		}
		counts = append(counts, count)
	}
	if err != nil {
		return nil, r.failed(err, "counting the queries")
	}
	sorting.Stable(counts, func(a, b PollCount) int {
		return cmp.Or(slices.Compare(a.Targets, b.Targets), cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Key, b.Key))
	})
	return counts, nil
}

func pollKeys(ctx context.Context, source stored.Queryer) (keys []PollKey, err error) {
	var key PollKey
	err = stored.Each(ctx, source, []any{&key.Kind, &key.Key}, func() error {
		keys = append(keys, key)
		return nil
	}, "SELECT kind, key FROM polls")
	return keys, err
}
