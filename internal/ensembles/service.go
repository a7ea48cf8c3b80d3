package ensembles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/journal"
)

// mostLooks is how many ensembles are looked at at the same time.
const mostLooks = 16

// A Service submits, finds and runs the ensembles of a user.
type Service struct {
	Client coalloc.Client
	// Launch starts an ensemble in another process, and does not wait; nil if there is no such process.
	Launch func(ctx context.Context, id string) error
	// Renew replaces the process that Launch uses by one of this build; nil if there is no such process.
	Renew func(ctx context.Context) error
	// Run runs rmctl on the login node of a target.
	Run     func(ctx context.Context, target string, c Call) error
	Sources coalloc.Sources // of requests
	Log     *slog.Logger    // nil to log nothing

	renewed sync.Once
}

func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

// Read reads a request.
func (s *Service) Read(ctx context.Context, text []byte) (*coalloc.Request, error) {
	return coalloc.ReadRequest(ctx, text, s.Sources)
}

// Submit records an ensemble and starts a process that runs it. With commit, the release waits only for
// check-ins. If the request has the id of a recorded ensemble, Submit continues that one.
func (s *Service) Submit(ctx context.Context, r *coalloc.Request, commit bool) (id string, err error) {
	if s.Launch == nil {
		return "", &UsageError{errors.New("the background process is disabled, so nothing would run the ensemble\nadd --wait")}
	}
	if id, err = s.record(ctx, r); err != nil {
		return "", err
	}
	control, err := s.Open(ctx, id)
	if err == nil && commit {
		err = control.Commit(ctx, false)
	}
	// A part may have failed at once, or the submission is a repetition.
	if err != nil && !errors.Is(err, coalloc.ErrEnded) && !errors.Is(err, coalloc.ErrReleased) {
		return id, fmt.Errorf("ensemble %s is on record: %w", id, err)
	}
	return id, nil
}

// record records an ensemble unless it is on record.
func (s *Service) record(ctx context.Context, r *coalloc.Request) (id string, err error) {
	id, err = coalloc.Record(ctx, s.Client, r)
	if errors.Is(err, coalloc.ErrRecorded) {
		return r.ID, nil
	}
	return id, err
}

// Find returns the id of an ensemble that a user names by its id, the beginning of it, its name, or "last".
func (s *Service) Find(ctx context.Context, name string) (string, error) {
	recorded, err := s.recorded(ctx, true)
	if err != nil {
		return "", err
	}
	var found []string
	for _, one := range recorded { // newest first
		switch {
		case one.ID == name, name == "last":
			return one.ID, nil
		case one.Name == name, len(name) >= 3 && strings.HasPrefix(one.ID, name):
			found = append(found, one.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w %.100q\nrmctl coalloc list --all shows those on record", coalloc.ErrUnknownEnsemble, name)
	case 1:
		return found[0], nil
	}
	return "", &UsageError{fmt.Errorf("%.100q names %d ensembles: %s", name, len(found), strings.Join(found, ", "))}
}

func (s *Service) recorded(ctx context.Context, all bool) ([]barrier.Ensemble, error) {
	store, err := s.Client.Store(ctx)
	if err != nil {
		return nil, err
	}
	return store.Journal().Ensembles(ctx, all)
}

// List returns the recorded ensembles, newest first: all, or those that have not ended. It queries the processes
// that run them.
func (s *Service) List(ctx context.Context, all bool) ([]coalloc.Status, error) {
	recorded, err := s.recorded(ctx, all)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(recorded, func(e barrier.Ensemble) bool { return e.At == "" && !e.State.Ended() }) {
		s.renew(ctx)
	}
	found, problems := make([]coalloc.Status, len(recorded)), make([]error, len(recorded))
	var looking errgroup.Group
	looking.SetLimit(mostLooks)
	for i, one := range recorded {
		looking.Go(func() (err error) {
			if found[i], err = s.look(ctx, one); err != nil {
				problems[i] = fmt.Errorf("ensemble %s: %w", one.ID, err)
			}
			return nil
		})
	}
	if err := looking.Wait(); err != nil {
		return nil, err
	}
	statuses := make([]coalloc.Status, 0, len(found))
	for i, status := range found {
		if problems[i] == nil && (all || !status.State.Ended()) {
			statuses = append(statuses, status)
		}
	}
	return statuses, errors.Join(problems...)
}

// renew lets the process of this build take over the ensembles of a process of another build. A Service does so
// once, so that two builds do not take ensembles from each other forever.
func (s *Service) renew(ctx context.Context) {
	if s.Renew == nil {
		return
	}
	s.renewed.Do(func() {
		if err := s.Renew(ctx); err != nil && ctx.Err() == nil {
			s.log().Info("the ensembles stay with the process that runs them", "error", err)
		}
	})
}

// look returns an ensemble as it is now.
func (s *Service) look(ctx context.Context, recorded barrier.Ensemble) (coalloc.Status, error) {
	control, err := s.follow(ctx, recorded)
	if err != nil {
		return coalloc.Status{}, err
	}
	status, err := control.Status(ctx)
	if recorded.At != "" && err != nil && ctx.Err() == nil {
		s.log().Warn("an ensemble keeps its last known state", "ensemble", recorded.ID, "target", recorded.At, "error", err)
		return status, nil
	}
	return status, err
}

// EstimateStarts queries the schedulers for the expected start of the parts whose jobs wait in queues.
func (s *Service) EstimateStarts(ctx context.Context, status *coalloc.Status) {
	if status.At == "" {
		coalloc.EstimateStarts(ctx, s.Client, status)
		return
	}
	waits := func(p coalloc.PartStatus) bool { return p.State == coalloc.PartPending && p.JobID != "" }
	if slices.ContainsFunc(status.Parts, waits) {
		newElsewhere(s, barrier.Ensemble{ID: status.ID, At: status.At}).estimateStarts(ctx, status)
	}
}

// follow returns the Control of the process that runs an ensemble, otherwise of the record.
func (s *Service) follow(ctx context.Context, recorded barrier.Ensemble) (coalloc.Control, error) {
	if recorded.At != "" {
		return newElsewhere(s, recorded), nil
	}
	onRecord, err := coalloc.Open(ctx, s.Client, recorded.ID)
	if err != nil || recorded.State.Ended() {
		return onRecord, err
	}
	folder, err := s.folder(recorded.ID)
	if err != nil {
		return nil, err
	}
	return newLive(client{folder}, onRecord), nil
}

// Follow returns an ensemble without starting a process that runs it.
func (s *Service) Follow(ctx context.Context, id string) (coalloc.Control, error) {
	recorded, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.follow(ctx, recorded)
}

// Open returns an ensemble that can be edited. If no process runs it and it has not ended, Open starts one.
func (s *Service) Open(ctx context.Context, id string) (coalloc.Control, error) {
	recorded, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if recorded.At == "" && !recorded.State.Ended() {
		s.renew(ctx)
		if err := s.ensure(ctx, id, 0); err != nil {
			return nil, err
		}
	}
	control, err := s.follow(ctx, recorded)
	switch c := control.(type) {
	case *live:
		c.reopen = func(ctx context.Context) error { return s.ensure(ctx, id, succession) }
	case *elsewhere:
		err = c.confirm(ctx)
	}
	return control, err
}

// show returns an ensemble to read. If no process runs it, show starts one if possible.
func (s *Service) show(ctx context.Context, id string) (coalloc.Control, error) {
	recorded, err := s.load(ctx, id)
	if err == nil && s.Launch != nil && recorded.At == "" {
		return s.Open(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return s.follow(ctx, recorded)
}

// load returns the record of an ensemble, without its parts.
func (s *Service) load(ctx context.Context, id string) (barrier.Ensemble, error) {
	store, err := s.Client.Store(ctx)
	if err != nil {
		return barrier.Ensemble{}, err
	}
	saved, err := store.Journal().Load(ctx, id)
	if errors.Is(err, journal.ErrUnknown) {
		err = fmt.Errorf("%w %.100q", coalloc.ErrUnknownEnsemble, id)
	}
	return saved.Ensemble, err
}

// folder returns the folder of an ensemble, which [coalloc.Record] makes.
func (s *Service) folder(id string) (string, error) {
	state, err := s.Client.StateFolder()
	return filepath.Join(state, "ensembles", id), err
}

// Wait waits until an ensemble has ended, and returns it. It calls observe with each event after a sequence number.
// If no other process can run the ensemble, this one does.
func (s *Service) Wait(ctx context.Context, id string, commit bool, after int, observe func(coalloc.EnsembleEvent) error) (coalloc.Status, error) {
	recorded, err := s.load(ctx, id)
	if err != nil {
		return coalloc.Status{}, err
	}
	if s.Launch == nil && recorded.At == "" && !recorded.State.Ended() {
		return s.waitHere(ctx, id, commit, after, observe)
	}
	control, err := s.Open(ctx, id)
	if err == nil && commit {
		err = control.Commit(ctx, false)
	}
	if err != nil {
		return coalloc.Status{}, err
	}
	if there, isThere := control.(*elsewhere); isThere {
		return there.end(ctx, after, observe)
	}
	if err := control.Events(ctx, after, observe); err != nil {
		return coalloc.Status{}, err
	}
	return control.Status(ctx)
}

// waitHere runs an ensemble in this process.
func (s *Service) waitHere(ctx context.Context, id string, commit bool, after int, observe func(coalloc.EnsembleEvent) error) (status coalloc.Status, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var following sync.WaitGroup
	status, err = s.Host(ctx, id, commit, func(control coalloc.Control) {
		following.Go(func() {
			if err := control.Events(ctx, after, observe); err != nil {
				cancel(err)
			}
		})
	})
	if err != nil {
		cancel(err)
	}
	following.Wait()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return status, err
}

// Live returns the ids of the ensembles that a process of this host must run.
func (s *Service) Live(ctx context.Context) ([]string, error) {
	folder, err := s.folder("")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // there never was one
	}
	recorded, err := s.recorded(ctx, false)
	recorded = slices.DeleteFunc(recorded, func(e barrier.Ensemble) bool { return e.At != "" })
	ids := make([]string, len(recorded))
	for i, one := range recorded {
		ids[i] = one.ID
	}
	return ids, err
}

// Names returns ensembles on record without their parts, newest first: all, or those that have not ended.
func (s *Service) Names(ctx context.Context, all bool) ([]coalloc.Status, error) {
	recorded, err := s.recorded(ctx, all)
	names := make([]coalloc.Status, len(recorded))
	for i, one := range recorded {
		names[i] = coalloc.Status{ID: one.ID, Name: one.Name, State: one.State, At: one.At, Created: one.Created, Ended: one.Ended}
	}
	return names, err
}

// Events returns what has happened to an ensemble after a sequence number.
func (s *Service) Events(ctx context.Context, id string, after int) (events []coalloc.EnsembleEvent, err error) {
	recorded, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if recorded.At != "" {
		there := newElsewhere(s, recorded)
		if err := there.confirm(ctx); err != nil {
			return nil, err
		}
		return there.far.past(ctx, after)
	}
	store, err := s.Client.Store(ctx)
	if err != nil {
		return nil, err
	}
	notices, err := store.Journal().Notices(ctx, id, after)
	for _, n := range notices {
		events = append(events, coalloc.EnsembleEvent{Sequence: n.Sequence, Time: n.Time, Kind: n.Kind, Label: n.Label, State: n.State, Text: n.Text})
	}
	return events, err
}
