package jobstore

import (
	"context"

	"github.com/rmctl/rmctl/internal/stored"
)

// What tests from outside use of this package.
const (
	MaximumEvidence = stored.MaximumText

	EventIntended      = eventIntended
	EventRejected      = eventRejected
	EventDoubted       = eventDoubted
	EventAdopted       = eventAdopted
	EventContradiction = eventContradiction
	EventReplaced      = eventReplaced
	EventClock         = eventClock
	EventStale         = eventStale
	EventMissing       = eventMissing
	EventCanceling     = eventCanceling
	EventSucceeded     = eventSucceeded
	EventDismissed     = eventDismissed
)

// Reading returns how many connections to the database are in use.
func (s *Store) Reading() int { return s.database.Stats().InUse }

func (s *Store) Doubt(ctx context.Context, tag, reason string) error {
	return s.doubt(ctx, tag, reason)
}
