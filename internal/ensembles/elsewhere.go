package ensembles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/remote"
)

// After a connection was lost, rmctl connects again after these delays, each double the one before.
const (
	firstRetry    = time.Second
	lastRetry     = time.Minute
	mostRetries   = 6                // of an edit
	longestOutage = 10 * time.Minute // while events are followed
)

// elsewhere is an ensemble that rmctl on the login node of a target runs.
type elsewhere struct {
	repeated
	service  *Service
	far      far
	recorded barrier.Ensemble
}

func newElsewhere(s *Service, recorded barrier.Ensemble) *elsewhere {
	e := &elsewhere{service: s, far: far{s, recorded.At, recorded.ID}, recorded: recorded}
	e.repeated = repeated{once: e.far, isLost: isLost, restore: e.restore, status: e.Status}
	return e
}

// A doubtError says that rmctl at a target may have executed a command: the connection was lost, and cannot be
// restored.
type doubtError struct {
	target string
	err    error
}

// Error implements error.
func (e *doubtError) Error() string {
	return e.target + ": rmctl does not know whether the command was done: " + e.err.Error()
}

// Unwrap returns the cause.
func (e *doubtError) Unwrap() error { return e.err }

// isLost reports whether the connection was lost while rmctl ran on the other host, so that the result is
// unknown.
func isLost(err error) bool {
	_, hasAnswered := errors.AsType[*callError](err)
	return errors.Is(err, remote.ErrUnreachable) && !hasAnswered
}

// isUnsent reports whether rmctl did not start on the other host.
func isUnsent(err error) bool {
	if failed, isConnect := errors.AsType[*remote.ConnectError](err); isConnect {
		return failed.Reason != remote.Disconnected
	}
	_, isStart := errors.AsType[*remote.StartError](err)
	return isStart || errors.Is(err, remote.ErrCommandNotFound) || errors.Is(err, errors.ErrUnsupported)
}

// restore waits before the next attempt.
func (e *elsewhere) restore(ctx context.Context, attempt int, lost error) error {
	switch {
	case attempt == 1 && isUnsent(lost):
		return lost
	case attempt > mostRetries || coalloc.NeedsLogin(lost):
		return &doubtError{e.recorded.At, lost}
	case attempt == 1:
		e.service.log().Warn("the connection was lost; connecting again", "target", e.recorded.At, "error", lost)
	}
	if execution.ClosesWithin(ctx.Done(), firstRetry<<(attempt-1)) {
		return ctx.Err()
	}
	return nil
}

// Status implements [coalloc.Control]. It records the status here, too. With an error it returns the last known one.
func (e *elsewhere) Status(ctx context.Context) (coalloc.Status, error) {
	known, isWhole := e.lastKnown()
	if e.recorded.State.Ended() && isWhole {
		return known, nil
	}
	err := e.confirm(ctx)
	if e.recorded.State.Ended() {
		known, _ = e.lastKnown()
		return known, err
	}
	var status coalloc.Status
	if err == nil {
		err = e.far.do(ctx, nil, &status, "status", "--", e.recorded.ID)
	}
	switch {
	case errors.Is(err, errSubmitting):
		known.Reason = err.Error()
		return known, nil
	case err != nil:
		known.Reason = "last known state; " + err.Error()
		return known, err
	}
	return e.note(ctx, status)
}

// lastFile has the last known status, in the folder of an ensemble.
const lastFile = "last.json"

// lastKnown returns the last known status, and whether it has the parts. The record has priority.
func (e *elsewhere) lastKnown() (known coalloc.Status, isWhole bool) {
	var text []byte
	folder, err := e.service.folder(e.recorded.ID)
	if err == nil {
		text, err = os.ReadFile(filepath.Join(folder, lastFile))
	}
	isWhole = err == nil && json.Unmarshal(text, &known) == nil && known.State == e.recorded.State
	if !isWhole {
		known.Parts = []coalloc.PartStatus{}
	}
	r := &e.recorded
	known.ID, known.Name, known.State, known.At, known.Created, known.Ended, known.Reason = r.ID, r.Name, r.State, r.At, r.Created, r.Ended, r.Reason
	return known, isWhole
}

// note records a status that the other rmctl has printed, and returns it for this host.
func (e *elsewhere) note(ctx context.Context, status coalloc.Status) (coalloc.Status, error) {
	status.ID, status.At = e.recorded.ID, e.recorded.At
	folder, err := e.service.folder(e.recorded.ID)
	if err != nil {
		return status, err
	}
	text, err := json.Marshal(status)
	if err != nil {
		return status, err
	}
	file := filepath.Join(folder, lastFile)
	if before, readErr := os.ReadFile(file); readErr != nil || string(before) != string(text) {
		if err = os.MkdirAll(folder, 0o700); err == nil {
			err = settings.WritePrivateFile(file, text)
		}
	}
	if err != nil {
		return status, fmt.Errorf("recording the state of ensemble %s: %w", e.recorded.ID, err)
	}
	if status.State == e.recorded.State && status.Name == e.recorded.Name {
		return status, nil
	}
	store, err := e.service.Client.Store(ctx)
	if err != nil {
		return status, err
	}
	e.recorded.Name, e.recorded.State, e.recorded.Reason, e.recorded.Ended = status.Name, status.State, status.Reason, status.Ended
	return status, store.Journal().Save(ctx, barrier.Change{Ensemble: e.recorded})
}

// estimateStarts sets the expected starts of waiting jobs from rmctl at the target.
func (e *elsewhere) estimateStarts(ctx context.Context, s *coalloc.Status) {
	var explained explanation
	err := e.far.do(ctx, nil, &explained, "explain", "--", e.recorded.ID)
	for i := range s.Parts {
		p := &s.Parts[i]
		if p.State != coalloc.PartPending {
			continue
		}
		if err != nil {
			p.StartProblem = err.Error()
		}
		for _, each := range explained.Parts {
			if each.Label == p.Label {
				p.ExpectedStart, p.StartProblem = each.ExpectedStart, each.StartProblem
			}
		}
	}
}

// Add implements [coalloc.Control].
func (e *elsewhere) Add(ctx context.Context, parts ...coalloc.Part) error {
	text, err := (&coalloc.Request{Parts: parts}).TOML()
	if err != nil {
		return err
	}
	return e.editText(ctx, "", text, uuid.NewString())
}

// Substitute implements [coalloc.Control].
func (e *elsewhere) Substitute(ctx context.Context, label string, part coalloc.Part) error {
	text, err := (&coalloc.Request{Parts: []coalloc.Part{part}}).TOML()
	if err != nil {
		return err
	}
	return e.editText(ctx, label, text, uuid.NewString())
}

// editText adds the parts of a text, or substitutes one for the part with a label. The targets, launch configurations and definitions
// of the other host count. The token lets the other rmctl recognize a repetition.
func (e *elsewhere) editText(ctx context.Context, label string, text []byte, token string) error {
	words := []string{"add", "--once", token, "--length", strconv.Itoa(len(text)), "--", e.recorded.ID, "-"}
	if label != "" {
		words = append([]string{"substitute"}, words[1:]...)
		words = append(words[:len(words)-1], label, "-")
	}
	return e.attempt(ctx, func() error { return e.far.do(ctx, text, nil, words...) }, func(*coalloc.Status) bool { return false })
}

// Cancel implements [coalloc.Control]. If the other rmctl has no such ensemble any more, it ends here.
func (e *elsewhere) Cancel(ctx context.Context) error {
	err := e.repeated.Cancel(ctx)
	if !errors.Is(err, coalloc.ErrUnknownEnsemble) {
		return err
	}
	known, _ := e.lastKnown()
	known.State, known.Reason, known.Ended = coalloc.Canceled, fmt.Sprintf("rmctl at %s no longer has it on record", e.recorded.At), time.Now()
	_, err = e.note(ctx, known)
	return err
}

// Events implements [coalloc.Control]. If the connection is lost, it connects again, and goes on after the last event.
func (e *elsewhere) Events(ctx context.Context, after int, observe func(coalloc.EnsembleEvent) error) error {
	return e.follow(ctx, after, false, observe)
}

// follow is Events. HasBegun says that there was a connection before.
func (e *elsewhere) follow(ctx context.Context, after int, hasBegun bool, observe func(coalloc.EnsembleEvent) error) error {
	pause, since := firstRetry, time.Now()
	for {
		begun := time.Now()
		err := e.far.events(ctx, after, true, func(event coalloc.EnsembleEvent) error {
			hasBegun, pause = true, firstRetry
			after, since = max(after, event.Sequence), time.Now()
			return observe(event)
		})
		if isLost(err) && !isUnsent(err) {
			hasBegun = true
			if time.Since(begun) > lastRetry { // it was connected for so long
				pause, since = firstRetry, time.Now()
			}
		}
		if !isLost(err) || !hasBegun || ctx.Err() != nil || coalloc.NeedsLogin(err) || time.Since(since) > longestOutage {
			return err
		}
		e.service.log().Warn("the connection was lost; connecting again", "target", e.recorded.At, "pause", pause, "error", err)
		if execution.ClosesWithin(ctx.Done(), pause) {
			return ctx.Err()
		}
		pause = min(2*pause, lastRetry)
	}
}

// end follows an ensemble to its end, and returns it.
func (e *elsewhere) end(ctx context.Context, after int, observe func(coalloc.EnsembleEvent) error) (status coalloc.Status, err error) {
	for attempt := 1; ; attempt++ {
		err = e.follow(ctx, after, attempt > 1, func(event coalloc.EnsembleEvent) error {
			after = max(after, event.Sequence)
			return observe(event)
		})
		if err == nil {
			status, err = e.Status(ctx)
		}
		if !isLost(err) || attempt > mostRetries || e.restore(ctx, attempt, err) != nil {
			return status, err
		}
	}
}
