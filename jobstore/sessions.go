package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
)

// A Session has the findings of the start-up commands of a target for later processes. The
// caller decides when it is too old.
type Session struct {
	Target  string
	Started time.Time // when the start-up commands had run
	Data    []byte    // the caller's own encoding
}

func (s *Session) sum() int64 {
	return stored.Sum("sessions", &s.Target, stored.At(&s.Started), &s.Data)
}

// SaveSession records the session of a target in place of an earlier one.
func (s *Store) SaveSession(ctx context.Context, session Session) error {
	data := session.Data
	if data == nil {
		data = []byte{} // nil would be stored as no value at all
	}
	err := s.execute(ctx, "INSERT OR REPLACE INTO sessions (target, started, state, data, sum) VALUES (?, ?, 'STARTED', ?, ?)",
		session.Target, stored.Time(session.Started), data, session.sum())
	return failed(err, "recording the session of target %q", session.Target)
}

// Session returns the session of a target. The error matches ErrNotFound when
// none is recorded.
func (s *Store) Session(ctx context.Context, target string) (Session, error) {
	session := Session{Target: target}
	var sum int64
	err := s.database.QueryRowContext(ctx, "SELECT started, data, sum FROM sessions WHERE target = ?", target).Scan(stored.At(&session.Started), &session.Data, &sum)
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, stored.ErrDamaged) || err == nil && sum != stored.Unsummed && sum != session.sum() {
		err = ErrNotFound // one that cannot be read is found again
	}
	if err != nil {
		return Session{}, failed(err, "looking up the session of target %q", target)
	}
	return session, nil
}

// RemoveSession forgets the session of a target, if there is one.
func (s *Store) RemoveSession(ctx context.Context, target string) error {
	err := s.execute(ctx, "DELETE FROM sessions WHERE target = ?", target)
	return failed(err, "forgetting the session of target %q", target)
}
