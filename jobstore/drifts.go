package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A Reading is how the output of a command was read once.
type Reading struct {
	Definition string // identifies one state of a definition
	Command    string
	Segments   int64 // lines, mostly, that a parser looked at
	Unmatched  int64 // of these, what nothing in the definition took
	Read       time.Time
}

// Usual is what earlier readings of a command's output came to.
type Usual struct {
	Runs      int64
	Segments  int64
	Unmatched int64
	Highest   float64 // share of what was unmatched in one run, from 0 to 1
}

// readingsKept is how long readings of a state of a definition are of use that
// is read no more.
const readingsKept = 90 * 24 * time.Hour

// Usual returns what the readings of a command came to; all is 0 if there are none.
func (s *Store) Usual(ctx context.Context, definition, command string) (Usual, error) {
	var usual Usual
	row := s.database.QueryRowContext(ctx, "SELECT runs, segments, unmatched, highest FROM readings WHERE definition = ? AND command = ?", definition, command)
	err := row.Scan(&usual.Runs, &usual.Segments, &usual.Unmatched, &usual.Highest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Usual{}, fmt.Errorf("looking up what is usual of %s: %w", command, explained(err))
	}
	return usual, nil
}

// AddReading adds a reading to what is usual.
func (s *Store) AddReading(ctx context.Context, reading Reading) error {
	if reading.Segments <= 0 {
		return nil
	}
	share := float64(reading.Unmatched) / float64(reading.Segments)
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		result, err := transaction.ExecContext(ctx, `UPDATE readings SET runs = runs + 1, segments = segments + ?, unmatched = unmatched + ?,
			highest = max(highest, ?), read = ? WHERE definition = ? AND command = ?`,
			reading.Segments, reading.Unmatched, share, storedTime(reading.Read), reading.Definition, reading.Command)
		if err != nil {
			return err
		}
		if changed, err := result.RowsAffected(); err != nil || changed > 0 {
			return err
		}
		if _, err := transaction.ExecContext(ctx, "DELETE FROM readings WHERE read < ?", storedTime(reading.Read.Add(-readingsKept))); err != nil {
			return err
		}
		_, err = transaction.ExecContext(ctx, "INSERT INTO readings (definition, command, runs, segments, unmatched, highest, read) VALUES (?, ?, 1, ?, ?, ?, ?)",
			reading.Definition, reading.Command, reading.Segments, reading.Unmatched, share, storedTime(reading.Read))
		return err
	})
	if err != nil {
		return fmt.Errorf("recording how the output of %s was read: %w", reading.Command, err)
	}
	return nil
}

// A Drift is output of a command that is not as its definition knows it.
type Drift struct {
	Target     string
	Command    string
	Kind       string // what kind of unlikeness; the caller's own word
	Definition string // identifies the state of the definition that read it
	Seen       string // what was unlike
	Job        string // id of the job that was asked for
	At         time.Time
	Session    time.Time // start of the session in which it was seen; zero if there was none
}

// driftSilence is how long a drift is not mentioned again in one session.
const driftSilence = 24 * time.Hour

// RecordDrift records a drift in place of an earlier one of the same command and
// kind. It returns whether that is worth a warning: whether there was none of
// the command in this session within a day.
func (s *Store) RecordDrift(ctx context.Context, drift Drift) (isNews bool, err error) {
	err = s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		var warned sql.NullString
		row := transaction.QueryRowContext(ctx, "SELECT max(warned) FROM drifts WHERE target = ? AND command = ? AND session = ? AND definition = ?",
			drift.Target, drift.Command, storedTime(drift.Session), drift.Definition)
		if err := row.Scan(&warned); err != nil {
			return err
		}
		last := time.Time{}
		if warned.Valid {
			if last, err = parseTime(warned.String); err != nil {
				return err
			}
		}
		isNews = drift.At.Sub(last) >= driftSilence
		if isNews {
			last = drift.At
		}
		_, err := transaction.ExecContext(ctx, `INSERT OR REPLACE INTO drifts (target, command, kind, definition, seen, job, at, session, warned)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			drift.Target, drift.Command, drift.Kind, drift.Definition, drift.Seen, drift.Job,
			storedTime(drift.At), storedTime(drift.Session), storedTime(last))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("recording unfamiliar output of %s: %w", drift.Command, err)
	}
	return isNews, nil
}

// Drifts returns what was recorded of a target for one state of its definition,
// newest first.
func (s *Store) Drifts(ctx context.Context, target, definition string) (drifts []Drift, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("looking up unfamiliar output at target %q: %w", target, explained(err))
		}
	}()
	rows, err := s.database.QueryContext(ctx,
		"SELECT command, kind, seen, job, at, session FROM drifts WHERE target = ? AND definition = ? ORDER BY at DESC, command, kind", target, definition)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		drift := Drift{Target: target, Definition: definition}
		var at, session string
		if err := rows.Scan(&drift.Command, &drift.Kind, &drift.Seen, &drift.Job, &at, &session); err != nil {
			return nil, err
		}
		if drift.At, err = parseTime(at); err != nil {
			return nil, err
		}
		if drift.Session, err = parseTime(session); err != nil {
			return nil, err
		}
		drifts = append(drifts, drift)
	}
	return drifts, rows.Err()
}
