package coalloc

import (
	"context"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/internal/journal"
)

// A board holds the status and the events that the loop of an ensemble has published.
type board struct {
	mutex   sync.Mutex
	shown   Status
	events  []EnsembleEvent
	pending []EnsembleEvent
	changed chan struct{} // closed at the next change
}

// load publishes what is on record.
func (b *board) load(ctx context.Context, j *journal.Record, saved journal.Saved) error {
	notices, err := j.Notices(ctx, saved.Ensemble.ID, 0)
	if err != nil {
		return err
	}
	b.changed = make(chan struct{})
	b.add(eventsOf(notices))
	b.publish(statusOf(saved.Ensemble, saved.Parts))
	return nil
}

// add adds events that are on record to those of the next status.
func (b *board) add(events []EnsembleEvent) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.pending = append(b.pending, events...)
}

// publish shows a new status and the events that led to it.
func (b *board) publish(s Status) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.shown, b.events, b.pending = s, append(b.events, b.pending...), nil
	close(b.changed)
	b.changed = make(chan struct{})
}

// status returns the status now.
func (b *board) status() Status {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	s := b.shown
	s.Parts = slices.Clone(s.Parts)
	return s
}

// await waits until the status fulfills a condition.
func (b *board) await(ctx context.Context, stopped <-chan struct{}, is func(*Status) bool) (Status, error) {
	for {
		b.mutex.Lock()
		changed := b.changed
		b.mutex.Unlock()
		s := b.status()
		if is(&s) {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s, ctx.Err()
		case <-stopped:
			if s = b.status(); is(&s) {
				return s, nil
			}
			return s, ErrNotRunning
		}
	}
}

// follow observes the events after a sequence number.
func (b *board) follow(ctx context.Context, stopped <-chan struct{}, after int, observe func(EnsembleEvent) error) error {
	for {
		b.mutex.Lock()
		changed, isOver := b.changed, b.shown.State.Ended()
		events := b.events[min(max(after, 0), len(b.events)):] // sequences have no gaps
		b.mutex.Unlock()
		for _, event := range events {
			if err := observe(event); err != nil {
				return err
			}
			after = event.Sequence
		}
		if isOver {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-stopped:
			b.mutex.Lock()
			isWhole := after >= len(b.events)
			isOver = b.shown.State.Ended()
			b.mutex.Unlock()
			if isWhole && !isOver {
				return ErrNotRunning
			}
		}
	}
}
