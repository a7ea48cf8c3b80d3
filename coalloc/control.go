package coalloc

import (
	"context"
	"errors"

	"github.com/rmctl/rmctl/internal/barrier"
)

// ErrInvalid is matched by errors for requests that no target could run.
var ErrInvalid = errors.New("invalid request")

// Errors of operations, which [errors.Is] recognizes also across processes.
var (
	ErrUnknownEnsemble = errors.New("unknown ensemble")
	ErrUnknownPart     = barrier.ErrUnknownPart
	ErrDuplicateLabel  = barrier.ErrDuplicateLabel
	ErrReleased        = barrier.ErrReleased
	ErrEnded           = barrier.ErrEnded
	ErrIncomplete      = barrier.ErrIncomplete // of a commit that canceled the ensemble
	ErrNoParts         = barrier.ErrNoParts
	ErrRunning         = errors.New("another process runs the ensemble")
	ErrNotRunning      = errors.New("no process runs the ensemble")
	ErrRecorded        = errors.New("an ensemble of this id is on record") // of a submission that is repeated
)

// A Control edits, commits and follows an ensemble that this or another process runs. Its methods may be called
// concurrently.
type Control interface {
	// Status returns the ensemble as it is now.
	Status(ctx context.Context) (Status, error)
	// Add adds parts before the release. Errors are ErrReleased, ErrEnded, ErrDuplicateLabel and problems of the parts.
	Add(ctx context.Context, parts ...Part) error
	// Delete deletes parts before the release. Errors are ErrReleased, ErrEnded and ErrUnknownPart.
	Delete(ctx context.Context, labels ...string) error
	// Substitute deletes a part and adds another one in its place, with the same index.
	Substitute(ctx context.Context, label string, part Part) error
	// Commit arms the release: it happens once all required parts have checked in. With now, it happens at once,
	// or the ensemble is canceled and the error is ErrIncomplete.
	Commit(ctx context.Context, now bool) error
	// Cancel ends all parts.
	Cancel(ctx context.Context) error
	// Events calls observe with each event after a sequence number, until ctx is done, the ensemble has ended
	// and all its events were observed, or observe returns an error.
	Events(ctx context.Context, after int, observe func(EnsembleEvent) error) error
}
