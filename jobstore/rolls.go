package jobstore

import (
	"context"
	"database/sql"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// recordedTogether is how many jobs of a roll are looked at in one transaction:
// it bounds the memory that takes, and how long other processes wait to write.
const recordedTogether = 200

// A Roll names the jobs that were open at one moment. There may be tens of
// thousands, so it holds nothing else of them.
type Roll []int64 // the numbers of their rows

// An OpenFilter chooses open jobs of a target.
type OpenFilter struct {
	Target     string
	Connection string // that they were submitted over; empty for any
}

// OpenJobs returns the jobs of targets that a query of their scheduler may answer
// for: those with an id of their own that are not over.
func (s *Store) OpenJobs(ctx context.Context, filters ...OpenFilter) (Roll, error) {
	var roll Roll
	for _, filter := range filters {
		var number int64
		err := stored.Each(ctx, s.database, []any{&number}, func() error {
			roll = append(roll, number)
			return nil
		}, `SELECT sequence FROM jobs WHERE finished = 0 AND target = ?1 AND (connection = ?2 OR ?2 = '')
			AND id <> '' AND tag <> '' AND NOT (interactive AND id = tag)`, filter.Target, filter.Connection)
		if err != nil {
			return nil, failed(err, "looking for the open jobs of target %q", filter.Target)
		}
	}
	slices.Sort(roll)
	return roll, nil
}

// ofNumbers chooses the jobs that a JSON array has the numbers of.
const ofNumbers = "WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY sequence"

func jsonNumbers(numbers []int64) string {
	text := []byte{'['}
	for i, number := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, number, 10)
	}
	return string(append(text, ']'))
}

// EachOf gives the jobs of a roll as they are now, without their submissions, to
// a function until that returns an error. The job is the function's for the call only.
func (s *Store) EachOf(ctx context.Context, roll Roll, do func(*job.Job) error) error {
	for some := range slices.Chunk(roll, recordedTogether) {
		err := eachJob(ctx, s.lenient(s.database), func(row *jobRow) error { return do(&row.job) }, ofNumbers, jsonNumbers(some))
		if err != nil {
			return failed(err, "looking at %d open jobs", len(roll))
		}
	}
	return nil
}

// ObserveRoll records what a listing that was made at a time says about the jobs of a
// roll, each as Observe does, some hundred in a transaction. Listed is called with each
// job as it is now, without its submission and for the call only, and returns what the
// listing says of it, or false where it says nothing. Of a job that is as it was only
// the time is recorded: its evidence stays that of when it was first seen so.
func (s *Store) ObserveRoll(ctx context.Context, roll Roll, observed time.Time, listed func(*job.Job) (job.Observation, bool)) error {
	err := s.decideOnRoll(ctx, roll, observed, func(c *change) bool {
		observation, isListed := listed(&c.job)
		observation.Observed = observed
		return isListed && c.observe(observation)
	})
	return failed(err, "recording what a listing says about %d jobs", len(roll))
}

// MarkRollStale records for all jobs of a roll what MarkStale does for one, some hundred
// in a transaction.
func (s *Store) MarkRollStale(ctx context.Context, roll Roll, reason string, attempted time.Time) error {
	err := s.decideOnRoll(ctx, roll, time.Time{}, func(c *change) bool { return c.failed(reason, attempted) })
	return failed(err, "recording that a query about %d jobs failed", len(roll))
}

// decideOnRoll applies a decision to the jobs of a roll.
func (s *Store) decideOnRoll(ctx context.Context, roll Roll, observed time.Time, decide func(*change) bool) error {
	for some := range slices.Chunk(roll, recordedTogether) {
		err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
			return s.decideOnSome(ctx, transaction, some, observed, decide)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// decideOnSome applies a decision to the jobs with some numbers, and records what
// happened by it. Those that were seen at a time, and are as they were, are not written again.
func (s *Store) decideOnSome(ctx context.Context, transaction *sql.Tx, numbers []int64, observed time.Time, decide func(*change) bool) error {
	var changes []change
	var confirmed []int64
	err := eachJob(ctx, s.lenient(transaction), func(row *jobRow) error {
		c := change{before: row.job, job: row.job}
		switch {
		case !decide(&c):
		case !c.isConfirmation():
			changes = append(changes, c)
		case c.job.Observed.Equal(observed):
			confirmed = append(confirmed, row.number)
		}
		return nil
	}, ofNumbers, jsonNumbers(numbers))
	for i := range changes {
		if err == nil {
			err = changes[i].save(ctx, transaction)
		}
	}
	if err == nil && len(confirmed) > 0 {
		_, err = transaction.ExecContext(ctx,
			"INSERT OR REPLACE INTO sightings (job, observed, seen, sum) SELECT sequence, observed, ?, ? FROM jobs "+ofNumbers,
			stored.Time(observed), stored.Sum("sightings", stored.At(&observed)), jsonNumbers(confirmed))
	}
	return err
}

// isConfirmation reports whether a job differs at most in when it was observed, and
// what that was read from.
func (c *change) isConfirmation() bool {
	now := c.job
	now.Observed, now.Origin, now.Evidence = c.before.Observed, c.before.Origin, c.before.Evidence
	return c.contradicted == nil && c.replaced == nil && c.ahead.IsZero() && reflect.DeepEqual(&now, &c.before)
}
