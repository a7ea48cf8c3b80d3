package coalloc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/jobstore"
)

// A Client has the targets on which parts run. A [github.com/rmctl/rmctl.Client] is one.
type Client interface {
	StateFolder() (string, error)
	Store(ctx context.Context) (*jobstore.Store, error)
	Targets() (*settings.Targets, error)
	Controller(ctx context.Context, target string) (*control.Controller, error)
	// NewController returns a controller over a connection of its own, and a function that closes it.
	NewController(ctx context.Context, target settings.Target) (*control.Controller, func() error, error)
}

// Options configure how this process runs an ensemble. The zero value is usable.
type Options struct {
	Log *slog.Logger     // nil to log nothing
	Now func() time.Time // nil for the clock
}

// An Ensemble is a job of parts that this process runs: it submits them, meets their processes at
// the barrier, and releases them. Its methods may be called concurrently.
type Ensemble struct {
	id      string
	client  Client
	store   *jobstore.Store
	journal *journal.Record
	key     *rendezvous.Key
	server  *rendezvous.Server
	folder  string
	unlock  func() error
	log     *slog.Logger
	now     func() time.Time

	ctx     context.Context // ends with Close, and with the ensemble
	stop    context.CancelCauseFunc
	tasks   sync.WaitGroup
	slots   chan struct{} // each submission holds one
	stopped chan struct{} // closed once nothing runs any more

	inputs inbox
	board  board
	// removed holds the serials of deleted parts.
	removed sync.Map

	// The rest belongs to the loop.
	machine *barrier.Machine
	places  map[string]*place // by target
}

var _ Control = (*Ensemble)(nil)

// errClosed is the cause of the end of an ensemble's context after Close.
var errClosed = errors.New("the ensemble was closed")

// Start records an ensemble and runs it: [Record] and [Resume] together. If only running it failed,
// the ensemble stays on record.
func Start(ctx context.Context, client Client, r *Request, o Options) (*Ensemble, error) {
	id, err := Record(ctx, client, r)
	if err != nil {
		return nil, err
	}
	return Resume(ctx, client, id, o)
}

// Resume runs an ensemble that is on record, from the step at which the journal has it. It returns
// once the ensemble is loaded; the rest happens in the background until [Ensemble.Close] or the end of
// the ensemble. The error is ErrUnknownEnsemble, ErrEnded, or ErrRunning if another process runs it.
func Resume(ctx context.Context, client Client, id string, o Options) (*Ensemble, error) {
	if !isID(id) {
		return nil, fmt.Errorf("ensemble %.50q: %w", id, ErrUnknownEnsemble)
	}
	e := &Ensemble{
		id: id, client: client, log: o.Log, now: o.Now, slots: make(chan struct{}, mostSubmissions), stopped: make(chan struct{}),
		inputs: inbox{wake: make(chan struct{}, 1)}, places: map[string]*place{},
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.now == nil {
		e.now = time.Now
	}
	exchanged, err := e.load(ctx)
	if err != nil {
		return nil, err
	}
	e.ctx, e.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	e.server = rendezvous.NewServer(e.key, e.id, e.observe)
	e.server.KeepExchanges(exchanged, e.recordExchange)
	e.tasks.Go(e.loop)
	go func() {
		e.tasks.Wait()
		e.server.Close()
		if err := e.unlock(); err != nil {
			e.log.Warn("could not unlock the ensemble", "ensemble", e.id, "error", err)
		}
		close(e.stopped)
	}()
	return e, nil
}

// load locks the ensemble and reads its record. It returns the results of its exchanges by name.
func (e *Ensemble) load(ctx context.Context) (exchanged map[string][]byte, err error) {
	if e.store, err = e.client.Store(ctx); err != nil {
		return nil, err
	}
	state, err := e.client.StateFolder()
	if err != nil {
		return nil, err
	}
	e.journal, e.folder = e.store.Journal(), folderOf(state, e.id)
	if _, err := e.recorded(ctx); err != nil {
		return nil, err
	}
	if e.unlock, err = lock(e.folder); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.unlock())
		}
	}()
	saved, err := e.recorded(ctx) // another process may have changed it
	if err != nil {
		return nil, err
	}
	text, err := readKey(e.folder)
	if err != nil {
		return nil, err
	}
	if e.key, err = rendezvous.ParseKey(text); err != nil {
		return nil, err
	}
	exchanges, err := e.journal.Exchanges(ctx, e.id)
	if err != nil {
		return nil, err
	}
	exchanged = map[string][]byte{}
	for _, each := range exchanges {
		exchanged[each.Name] = []byte(each.Result)
	}
	e.machine = barrier.New(saved.Ensemble, saved.Parts, saved.Rosters)
	return exchanged, e.board.load(ctx, e.journal, saved)
}

// ID returns the id of the ensemble.
func (e *Ensemble) ID() string { return e.id }

// Wait waits until the ensemble has ended, and returns it. The error is ErrNotRunning if it was
// closed before.
func (e *Ensemble) Wait(ctx context.Context) (Status, error) {
	return e.board.await(ctx, e.stopped, func(s *Status) bool { return s.State.Ended() })
}

// Close stops running the ensemble. Its jobs and processes stay; a later Resume continues.
func (e *Ensemble) Close() error {
	if !e.board.status().State.Ended() { // otherwise it stops by itself
		e.stop(errClosed)
	}
	<-e.stopped
	return nil
}

// Status implements [Control].
func (e *Ensemble) Status(context.Context) (Status, error) { return e.board.status(), nil }

// Add implements [Control].
func (e *Ensemble) Add(ctx context.Context, parts ...Part) error {
	specs, err := specsOf(parts)
	if err != nil {
		return err
	}
	return e.request(ctx, barrier.Add{Parts: specs})
}

// Delete implements [Control].
func (e *Ensemble) Delete(ctx context.Context, labels ...string) error {
	return e.request(ctx, barrier.Delete{Labels: labels})
}

// Substitute implements [Control].
func (e *Ensemble) Substitute(ctx context.Context, label string, part Part) error {
	specs, err := specsOf([]Part{part})
	if err != nil {
		return err
	}
	return e.request(ctx, barrier.Substitute{Label: label, Part: specs[0]})
}

// Commit implements [Control]. With now it returns once the processes have the release, or the
// ensemble is being canceled.
func (e *Ensemble) Commit(ctx context.Context, now bool) error {
	if err := e.request(ctx, barrier.Commit{Now: now}); err != nil || !now {
		return err
	}
	s, err := e.board.await(ctx, e.stopped, func(s *Status) bool { return s.State != Submitting && s.State != Waiting && s.State != Releasing })
	if err == nil && s.Released.IsZero() {
		err = fmt.Errorf("%w: %s", ErrIncomplete, s.Reason)
	}
	return err
}

// Cancel implements [Control].
func (e *Ensemble) Cancel(ctx context.Context) error {
	return e.request(ctx, barrier.Cancel{Reason: "canceled by the user"})
}

// Events implements [Control].
func (e *Ensemble) Events(ctx context.Context, after int, observe func(EnsembleEvent) error) error {
	return e.board.follow(ctx, e.stopped, after, observe)
}

// request passes an edit of a user to the loop, and waits for the result.
func (e *Ensemble) request(ctx context.Context, wish barrier.Input) error {
	reply := make(chan error, 1)
	e.inputs.add(input{Input: wish, reply: reply})
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-e.stopped:
	}
	select {
	case err := <-reply:
		return err
	default:
	}
	if e.board.status().State.Ended() {
		return ErrEnded
	}
	return ErrNotRunning
}

// recorded returns what is on record of the ensemble, unless it has ended.
func (e *Ensemble) recorded(ctx context.Context) (journal.Saved, error) {
	saved, err := readSaved(ctx, e.store, e.id)
	if err == nil && saved.Ensemble.State.Ended() {
		err = ErrEnded
	}
	return saved, err
}
