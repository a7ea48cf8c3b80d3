package coalloc

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/jobstore"
)

// A Client has the targets on which parts run. A [github.com/rmctl/rmctl.Client] is one.
type Client interface {
	StateFolder() (string, error)
	Store(ctx context.Context) (*jobstore.Store, error)
	Targets() (*settings.Targets, error)
	Controller(ctx context.Context, target string) (*control.Controller, error)
}

// Options configure how this process runs an ensemble. The zero value is usable.
type Options struct {
	Log *slog.Logger     // nil to log nothing
	Now func() time.Time // nil for the clock
}

// An Ensemble is a job of parts that this process runs: it submits them, meets their processes at
// the barrier, and releases them. Its methods may be called concurrently.
type Ensemble struct {
	id string
}

var _ Control = (*Ensemble)(nil)

// Start records an ensemble and runs it: [Record] and [Resume] together. If only running it failed,
// it returns the error and the ensemble stays on record.
func Start(ctx context.Context, client Client, r *Request, o Options) (*Ensemble, error) {
	id, err := Record(ctx, client, r)
	if err != nil {
		return nil, err
	}
	return Resume(ctx, client, id, o)
}

// Record records an ensemble and makes its keys, and returns its id. It submits nothing: [Resume]
// runs it, in this process or in another one that has the same state folder.
func Record(ctx context.Context, client Client, r *Request) (id string, err error) {
	return "", errors.ErrUnsupported
}

// Resume runs an ensemble that is on record, from the step at which the journal has it. It returns
// once the ensemble is loaded; the rest happens in the background until [Ensemble.Close]. The error
// is ErrUnknownEnsemble, ErrEnded, or ErrRunning if another process runs it.
func Resume(ctx context.Context, client Client, id string, o Options) (*Ensemble, error) {
	return nil, errors.ErrUnsupported
}

// Open returns what the journal has of an ensemble, without running it. Edits of it fail with
// ErrNotRunning.
func Open(ctx context.Context, client Client, id string) (Control, error) {
	return nil, errors.ErrUnsupported
}

// ID returns the id of the ensemble.
func (e *Ensemble) ID() string { return e.id }

// Wait waits until the ensemble has ended, and returns it. The error is ErrNotRunning if it was
// closed before.
func (e *Ensemble) Wait(ctx context.Context) (Status, error) { return Status{}, errors.ErrUnsupported }

// Close stops running the ensemble. Its jobs and processes stay; a later Resume continues.
func (e *Ensemble) Close() error { return errors.ErrUnsupported }

// Status implements [Control].
func (e *Ensemble) Status(ctx context.Context) (Status, error) {
	return Status{}, errors.ErrUnsupported
}

// Add implements [Control].
func (e *Ensemble) Add(ctx context.Context, parts ...Part) error { return errors.ErrUnsupported }

// Delete implements [Control].
func (e *Ensemble) Delete(ctx context.Context, labels ...string) error { return errors.ErrUnsupported }

// Substitute implements [Control].
func (e *Ensemble) Substitute(ctx context.Context, label string, part Part) error {
	return errors.ErrUnsupported
}

// Commit implements [Control].
func (e *Ensemble) Commit(ctx context.Context, now bool) error { return errors.ErrUnsupported }

// Cancel implements [Control].
func (e *Ensemble) Cancel(ctx context.Context) error { return errors.ErrUnsupported }

// Events implements [Control].
func (e *Ensemble) Events(ctx context.Context, after int, observe func(EnsembleEvent) error) error {
	return errors.ErrUnsupported
}
