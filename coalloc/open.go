package coalloc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/jobstore"
)

// eventLook is how often a process looks for new events on record that another process writes.
const eventLook = 500 * time.Millisecond

// A reader shows the record of an ensemble that this process does not run.
type reader struct {
	store *jobstore.Store
	id    string
}

// Open returns the record of an ensemble without running it. Edits fail with ErrNotRunning or ErrEnded.
func Open(ctx context.Context, client Client, id string) (Control, error) {
	if !isID(id) {
		return nil, fmt.Errorf("ensemble %.50q: %w", id, ErrUnknownEnsemble)
	}
	store, err := client.Store(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := readSaved(ctx, store, id); err != nil {
		return nil, err
	}
	return &reader{store, id}, nil
}

// readSaved reads what is on record of an ensemble.
func readSaved(ctx context.Context, store *jobstore.Store, id string) (journal.Saved, error) {
	saved, err := store.Journal().Load(ctx, id)
	if errors.Is(err, journal.ErrUnknown) {
		err = fmt.Errorf("%s: %w", id, ErrUnknownEnsemble)
	}
	return saved, err
}

// Status implements [Control].
func (r *reader) Status(ctx context.Context) (Status, error) {
	saved, err := readSaved(ctx, r.store, r.id)
	if err != nil {
		return Status{}, err
	}
	return statusOf(saved.Ensemble, saved.Parts), nil
}

// refuse returns why an edit is not possible.
func (r *reader) refuse(ctx context.Context) error {
	s, err := r.Status(ctx)
	switch {
	case err != nil:
		return err
	case s.State.Ended():
		return ErrEnded
	}
	return ErrNotRunning
}

// Add implements [Control].
func (r *reader) Add(ctx context.Context, _ ...Part) error { return r.refuse(ctx) }

// Delete implements [Control].
func (r *reader) Delete(ctx context.Context, _ ...string) error { return r.refuse(ctx) }

// Substitute implements [Control].
func (r *reader) Substitute(ctx context.Context, _ string, _ Part) error { return r.refuse(ctx) }

// Commit implements [Control].
func (r *reader) Commit(ctx context.Context, _ bool) error { return r.refuse(ctx) }

// Cancel implements [Control].
func (r *reader) Cancel(ctx context.Context) error { return r.refuse(ctx) }

// Events implements [Control]. It observes events that another process records.
func (r *reader) Events(ctx context.Context, after int, observe func(EnsembleEvent) error) error {
	for {
		s, err := r.Status(ctx)
		if err != nil {
			return err
		}
		notices, err := r.store.Journal().Notices(ctx, r.id, after)
		if err != nil {
			return err
		}
		for _, event := range eventsOf(notices) {
			if err := observe(event); err != nil {
				return err
			}
			after = event.Sequence
		}
		if s.State.Ended() && len(notices) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(eventLook):
		}
	}
}
