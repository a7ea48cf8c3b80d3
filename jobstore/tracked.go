package jobstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
)

// Tracked says where the processes of a job are tracked, and how much of that is on record.
type Tracked struct {
	Tag, Target string
	Directory   string // of the job, on the target
	Read        string // checksum of what was read last; empty before
	Final       bool   // nothing more is to come
	// Ended is when the end of the job was observed; zero before. It is not recorded here.
	Ended time.Time
}

func (t *Tracked) columns() []column {
	return []column{{"tag", &t.Tag}, {"target", &t.Target}, {"directory", &t.Directory}, {"read", &t.Read}, {"final", &t.Final}}
}

func insertTracked(ctx context.Context, transaction *sql.Tx, tracked *Tracked) error {
	columns := tracked.columns()
	values := columnValues(columns)
	statement := strings.Replace(insertInto("tracked", append(columnNames(columns), "sum")), "INSERT", "INSERT OR REPLACE", 1)
	_, err := transaction.ExecContext(ctx, statement, append(values, stored.Sum("tracked", values...))...)
	return err
}

// RecordTracked records where the processes of a job are tracked, in place of what was known
// of that before.
func (s *Store) RecordTracked(ctx context.Context, tracked Tracked) error {
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		return insertTracked(ctx, transaction, &tracked)
	})
	return failed(err, "recording where the processes of submission %s are tracked", tracked.Tag)
}

// Tracked returns the jobs of targets whose processes are tracked, as far as they may not all
// be on record.
func (s *Store) Tracked(ctx context.Context, targets ...string) (all []Tracked, err error) {
	if len(targets) == 0 {
		return nil, nil
	}
	var each Tracked
	var sum int64
	var isOver bool
	var observed time.Time
	columns := each.columns()
	values := columnValues(columns)
	qualified := make([]string, len(columns))
	for i, name := range columnNames(columns) {
		qualified[i] = "tracked." + name
	}
	arguments := make([]any, len(targets))
	for i, target := range targets {
		arguments[i] = target
	}
	err = stored.EachReadable(ctx, s.database, append(slices.Clone(values), &sum, &isOver, stored.At(&observed)), func() error {
		each.Ended = time.Time{}
		if isOver {
			each.Ended = observed
		}
		if stored.Verify(sum, "tracked", values...) == nil {
			all = append(all, each)
		}
		return nil
	}, func(error) error { return nil },
		"SELECT "+strings.Join(qualified, ", ")+", tracked.sum, jobs.finished, jobs.observed FROM tracked JOIN jobs USING (tag) WHERE tracked.final = 0 AND tracked.target IN (?"+
			strings.Repeat(", ?", len(targets)-1)+") ORDER BY jobs.sequence", arguments...)
	return all, failed(err, "listing the jobs whose processes are tracked")
}
