package jobstore

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
)

// NotUnderstood counts what a definition did not understand of the output of one
// command: answers to queries for a job, and lines of listings.
type NotUnderstood struct {
	Target     string
	Command    string
	Definition string // identifies the state of the definition that read it; another one begins at 0
	Count      int
	Seen       string // what the last of them was
	Job        string // id of the job that was queried last; empty for a listing
	At         time.Time
}

// AddNotUnderstood adds to the count of a command. Seen, Job and At replace those
// of earlier calls.
func (s *Store) AddNotUnderstood(ctx context.Context, added NotUnderstood) error {
	err := s.execute(ctx, `INSERT INTO not_understood (target, command, definition, count, seen, job, at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (target, command) DO UPDATE SET count = excluded.count + CASE WHEN definition = excluded.definition THEN count ELSE 0 END,
		definition = excluded.definition, seen = excluded.seen, job = excluded.job, at = excluded.at`,
		added.Target, added.Command, added.Definition, added.Count, added.Seen, added.Job, stored.Time(added.At))
	return failed(err, "counting what was not understood of %s", added.Command)
}

// NotUnderstood returns the counts of a target for one state of its definition
// that have grown since a time, the latest first.
func (s *Store) NotUnderstood(ctx context.Context, target, definition string, since time.Time) (counts []NotUnderstood, err error) {
	count := NotUnderstood{Target: target, Definition: definition}
	err = stored.Each(ctx, s.database, []any{&count.Command, &count.Count, &count.Seen, &count.Job, stored.At(&count.At)}, func() error {
		counts = append(counts, count)
		return nil
	}, "SELECT command, count, seen, job, at FROM not_understood WHERE target = ? AND definition = ? AND at >= ? ORDER BY at DESC, command", target, definition, stored.Time(since))
	return counts, failed(err, "looking up what was not understood at target %q", target)
}
