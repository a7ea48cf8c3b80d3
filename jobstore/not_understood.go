package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// NotUnderstood counts what a definition did not understand of the output of one
// command: answers to queries for a job, and lines of listings.
type NotUnderstood struct {
	Target     string
	Command    string
	Definition string // identifies the state of the definition that read it; another one begins anew
	Count      int
	Seen       string // what the last of them was
	Job        string // id of the job that was queried last; empty for a listing
	At         time.Time
}

// AddNotUnderstood adds to the count of a command. Seen, Job and At replace those
// of earlier calls.
func (s *Store) AddNotUnderstood(ctx context.Context, added NotUnderstood) error {
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		_, err := transaction.ExecContext(ctx, `INSERT INTO not_understood (target, command, definition, count, seen, job, at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (target, command) DO UPDATE SET count = excluded.count + CASE WHEN definition = excluded.definition THEN count ELSE 0 END,
			definition = excluded.definition, seen = excluded.seen, job = excluded.job, at = excluded.at`,
			added.Target, added.Command, added.Definition, added.Count, added.Seen, added.Job, storedTime(added.At))
		return err
	})
	if err != nil {
		return fmt.Errorf("counting what was not understood of %s: %w", added.Command, err)
	}
	return nil
}

// NotUnderstood returns the counts of a target for one state of its definition
// that have grown since a time, the latest first.
func (s *Store) NotUnderstood(ctx context.Context, target, definition string, since time.Time) (counts []NotUnderstood, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("looking up what was not understood at target %q: %w", target, explained(err))
		}
	}()
	rows, err := s.database.QueryContext(ctx,
		"SELECT command, count, seen, job, at FROM not_understood WHERE target = ? AND definition = ? AND at >= ? ORDER BY at DESC, command", target, definition, storedTime(since))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		count := NotUnderstood{Target: target, Definition: definition}
		var at string
		if err := rows.Scan(&count.Command, &count.Count, &count.Seen, &count.Job, &at); err != nil {
			return nil, err
		}
		if count.At, err = parseTime(at); err != nil {
			return nil, err
		}
		counts = append(counts, count)
	}
	return counts, rows.Err()
}
