package polls

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
)

// Tracked is where the processes of a job are tracked, and how much of that is on record.
type Tracked struct {
	Tag, Target string
	Directory   string // of the job, on the target
	Read        string // checksum of the last reading; empty before
	Final       bool   // no more events follow
	// Ended is when the end of the job was observed; zero before. It is not recorded here.
	Ended time.Time
}

func (t *Tracked) values() []any {
	return []any{&t.Tag, &t.Target, &t.Directory, &t.Read, &t.Final}
}

func (t *Tracked) sum() int64 { return stored.Sum("tracked", t.values()...) }

// RecordTracked records where the processes of a job are tracked, and replaces the previous
// record.
func (r *Record) RecordTracked(ctx context.Context, tracked Tracked) error {
	err := r.write(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		_, err := transaction.ExecContext(ctx, "INSERT OR REPLACE INTO tracked (tag, target, directory, read, final, sum) VALUES (?, ?, ?, ?, ?, ?)",
			tracked.Tag, tracked.Target, tracked.Directory, tracked.Read, tracked.Final, tracked.sum())
		return err
	})
	return r.failed(err, "recording where the processes of submission %s are tracked", tracked.Tag)
}

// Tracked returns the tracked jobs of targets with processes that may not be on record yet, the
// oldest first.
func (r *Record) Tracked(ctx context.Context, targets ...string) (all []Tracked, err error) {
	if len(targets) == 0 {
		return nil, nil
	}
	var each Tracked
	var sum int64
	var isOver bool
	var observed time.Time
	arguments := make([]any, len(targets))
	for i, target := range targets {
		arguments[i] = target
	}
	err = stored.EachReadable(ctx, r.read, append(each.values(), &sum, &isOver, stored.At(&observed)), func() error {
		each.Ended = time.Time{}
		if isOver {
			each.Ended = observed
		}
		if stored.Verify(sum, "tracked", each.values()...) == nil {
			all = append(all, each)
		}
		return nil
	}, func(error) error { return nil },
		`SELECT tracked.tag, tracked.target, tracked.directory, tracked.read, tracked.final, tracked.sum, jobs.finished, jobs.observed
			FROM tracked JOIN jobs USING (tag) WHERE tracked.final = 0 AND tracked.target IN (?`+strings.Repeat(", ?", len(targets)-1)+`) ORDER BY jobs.sequence`, arguments...)
	return all, r.failed(err, "listing tracked jobs")
}

// TrackedTags returns the submissions with processes that are or were tracked.
func (r *Record) TrackedTags(ctx context.Context) (map[string]bool, error) {
	tags := map[string]bool{}
	var tag string
	err := stored.EachReadable(ctx, r.read, []any{&tag}, func() error {
		tags[tag] = true
		return nil
	}, func(error) error { return nil }, "SELECT tag FROM tracked")
	return tags, r.failed(err, "listing tracked jobs")
}
