package ensembles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/coalloc"
)

// repeated resends edits whose answers were lost, so that each is applied once. It has the edits of a
// [coalloc.Control] that need no parts.
type repeated struct {
	once interface { // sends an edit once
		Delete(ctx context.Context, labels ...string) error
		Commit(ctx context.Context, now bool) error
		Cancel(ctx context.Context) error
	}
	// isLost reports whether nobody knows if the edit was made.
	isLost func(error) bool
	// restore prepares the next attempt, or returns why it gives up.
	restore func(ctx context.Context, attempt int, lost error) error
	status  func(ctx context.Context) (coalloc.Status, error)
}

// attempt sends an edit until its answer arrives. After a lost answer, the repetition may fail because the edit
// was applied already, which wasMade reports.
func (r *repeated) attempt(ctx context.Context, send func() error, wasMade func(*coalloc.Status) bool) error {
	for attempt := 1; ; attempt++ {
		err := send()
		isLost := r.isLost(err)
		if isLost {
			if err = r.restore(ctx, attempt, err); err == nil {
				continue
			}
		}
		if err == nil || !isLost && attempt == 1 || r.isLost(err) || ctx.Err() != nil {
			return err
		}
		if status, unknown := r.status(ctx); unknown == nil && wasMade(&status) {
			return nil
		}
		return err
	}
}

// Delete implements [coalloc.Control].
func (r *repeated) Delete(ctx context.Context, labels ...string) error {
	return r.attempt(ctx, func() error { return r.once.Delete(ctx, labels...) }, func(s *coalloc.Status) bool {
		return !slices.ContainsFunc(labels, func(label string) bool { return !isDeleted(s, label) })
	})
}

// isDeleted reports whether the newest part with a label was deleted.
func isDeleted(s *coalloc.Status, label string) bool {
	for _, p := range slices.Backward(s.Parts) {
		if p.Label == label {
			return p.State == coalloc.PartDeleted
		}
	}
	return false
}

// Commit implements [coalloc.Control].
func (r *repeated) Commit(ctx context.Context, now bool) error {
	canceled := ""
	err := r.attempt(ctx, func() error { return r.once.Commit(ctx, now) }, func(s *coalloc.Status) bool {
		canceled = s.Reason
		return !s.Released.IsZero() || s.Committed && !now
	})
	if canceled != "" && errors.Is(err, coalloc.ErrEnded) { // by this commit
		err = fmt.Errorf("%w: %s", coalloc.ErrIncomplete, canceled)
	}
	return err
}

// Cancel implements [coalloc.Control].
func (r *repeated) Cancel(ctx context.Context) error {
	return r.attempt(ctx, func() error { return r.once.Cancel(ctx) }, func(s *coalloc.Status) bool {
		return s.State == coalloc.Ending || s.State == coalloc.Canceled
	})
}

// tagged returns parts with tags, derived from a token unless they have tags.
func tagged(parts []coalloc.Part, token string) []coalloc.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		if parts[i].Tag == "" {
			parts[i].Tag = uuid.NewSHA1(uuid.NameSpaceOID, []byte(token+" "+parts[i].Label)).String()
		}
	}
	return parts
}

// hasTags returns a function that reports whether an ensemble has parts with the tags of these parts.
func hasTags(parts []coalloc.Part) func(*coalloc.Status) bool {
	return func(s *coalloc.Status) bool {
		return !slices.ContainsFunc(parts, func(part coalloc.Part) bool {
			return !slices.ContainsFunc(s.Parts, func(p coalloc.PartStatus) bool { return p.Tag == part.Tag })
		})
	}
}
