package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A SessionState tells whether a session is open.
type SessionState string

// The session states.
const (
	Started SessionState = "STARTED"
	Stopped SessionState = "STOPPED"
)

// A Session is what the start-up commands of a target found out, kept for the
// processes that come later. When it is too old is for the caller to decide.
type Session struct {
	Target  string
	Started time.Time // when the start-up commands had run
	State   SessionState
	Data    []byte // the caller's own encoding
}

// SaveSession records the session of a target in place of an earlier one.
func (s *Store) SaveSession(ctx context.Context, session Session) error {
	data := session.Data
	if data == nil {
		data = []byte{} // nil would be stored as no value at all
	}
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		_, err := transaction.ExecContext(ctx,
			"INSERT OR REPLACE INTO sessions (target, started, state, data) VALUES (?, ?, ?, ?)",
			session.Target, storedTime(session.Started), string(session.State), data)
		return err
	})
	if err != nil {
		return fmt.Errorf("recording the session of target %q: %w", session.Target, err)
	}
	return nil
}

// Session returns the session of a target. The error matches ErrNotFound when
// none is recorded.
func (s *Store) Session(ctx context.Context, target string) (Session, error) {
	session := Session{Target: target}
	var started, condition string
	row := s.database.QueryRowContext(ctx, "SELECT started, state, data FROM sessions WHERE target = ?", target)
	err := row.Scan(&started, &condition, &session.Data)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err == nil {
		session.State = SessionState(condition)
		session.Started, err = parseTime(started)
	}
	if err != nil {
		return Session{}, fmt.Errorf("looking up the session of target %q: %w", target, explained(err))
	}
	return session, nil
}

// RemoveSession forgets the session of a target, if there is one.
func (s *Store) RemoveSession(ctx context.Context, target string) error {
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		_, err := transaction.ExecContext(ctx, "DELETE FROM sessions WHERE target = ?", target)
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting the session of target %q: %w", target, err)
	}
	return nil
}
