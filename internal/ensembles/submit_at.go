package ensembles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/settings"
)

// An ensemble at a target is recorded here as PREPARED before rmctl there has it, so it is known here whatever
// happens to the connection.

// submissionLock is the file that a process has locked while it submits an ensemble, in the folder of the ensemble.
const submissionLock = "submission"

var errSubmitting = errors.New("another process submits the ensemble now")

// SubmitAt submits the text of a request on the login node of a target, whose rmctl runs the ensemble. Without an id the ensemble has
// a new one. A submission with the same id is a repetition, and runs nothing twice.
func (s *Service) SubmitAt(ctx context.Context, target, id string, text []byte, flags ...string) (string, error) {
	id = cmp.Or(id, coalloc.NewID())
	if err := (&coalloc.Request{ID: id}).Check(); err != nil {
		return "", &UsageError{err}
	}
	targets, err := s.Client.Targets()
	if err != nil {
		return "", err
	}
	found, err := targets.Find(target)
	if err != nil {
		return "", err
	}
	unlock, err := s.lockSubmission(id)
	if err != nil {
		return "", err
	}
	defer func() { _ = unlock() }() // the end of the process does it, too
	recorded, err := s.prepare(ctx, found.Name, id)
	if err != nil {
		return "", err
	}
	return id, newElsewhere(s, recorded).submit(ctx, text, flags)
}

// lockSubmission shows other processes that this one submits an ensemble. The error is errSubmitting if another
// one does.
func (s *Service) lockSubmission(id string) (unlock func() error, err error) {
	folder, err := s.folder(id)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return nil, err
	}
	unlock, err = settings.TryLock(filepath.Join(folder, submissionLock))
	if errors.Is(err, settings.ErrLocked) {
		err = errSubmitting
	}
	return unlock, err
}

// prepare records an ensemble of another host before it exists there.
func (s *Service) prepare(ctx context.Context, target, id string) (barrier.Ensemble, error) {
	recorded, err := s.load(ctx, id)
	switch {
	case err == nil && (recorded.At != target || recorded.State.Ended()):
		return recorded, fmt.Errorf("ensemble %s: %w", id, coalloc.ErrRecorded)
	case !errors.Is(err, coalloc.ErrUnknownEnsemble):
		return recorded, err
	}
	store, err := s.Client.Store(ctx)
	if err != nil {
		return recorded, err
	}
	recorded = barrier.Ensemble{ID: id, At: target, State: barrier.Prepared, Created: time.Now()}
	return recorded, store.Journal().Create(ctx, recorded, nil)
}

// submit runs rmctl at the target to submit the ensemble. The caller holds the lock of the submission.
func (e *elsewhere) submit(ctx context.Context, text []byte, flags []string) error {
	var status coalloc.Status
	words := append([]string{"submit", "--id", e.recorded.ID, "--length", strconv.Itoa(len(text))}, flags...)
	err := e.attempt(ctx, func() error { return e.far.do(ctx, text, &status, append(words, "--", "-")...) }, func(*coalloc.Status) bool { return false })
	_, hasAnswered := errors.AsType[*callError](err)
	doubt, isInDoubt := errors.AsType[*doubtError](err)
	switch {
	case err == nil:
		_, err = e.note(ctx, status)
		return err
	case hasAnswered:
		return e.refused(ctx, err)
	case isInDoubt:
		err = doubt.err
	case isUnsent(err):
		return errors.Join(err, e.discard(ctx))
	}
	return e.inDoubt(err)
}

// refused handles a submission that failed on the other host.
func (e *elsewhere) refused(ctx context.Context, refusal error) error {
	var status coalloc.Status
	err := e.far.do(ctx, nil, &status, "status", "--", e.recorded.ID)
	switch {
	case errors.Is(err, coalloc.ErrUnknownEnsemble):
		return errors.Join(refusal, e.discard(ctx))
	case err != nil:
		return e.inDoubt(errors.Join(refusal, err))
	}
	_, err = e.note(ctx, status)
	return errors.Join(refusal, err)
}

// discard removes the ensemble from the record here: it certainly does not exist.
func (e *elsewhere) discard(ctx context.Context) error {
	folder, err := e.service.folder(e.recorded.ID)
	if err != nil {
		return err
	}
	store, err := e.service.Client.Store(ctx)
	if err == nil {
		err = store.Journal().Discard(ctx, e.recorded.ID)
	}
	return errors.Join(err, os.RemoveAll(folder))
}

// inDoubt explains that the ensemble may exist.
func (e *elsewhere) inDoubt(err error) error {
	return fmt.Errorf("rmctl does not know whether rmctl at %s runs ensemble %s: %w\nrmctl coalloc status %s finds out", e.recorded.At, e.recorded.ID, err, e.recorded.ID)
}

// confirm checks whether the ensemble exists on the other host after a submission without an answer. If not,
// confirm withdraws it there, since a submission may still be on its way, and ends it here.
func (e *elsewhere) confirm(ctx context.Context) error {
	if e.recorded.State != barrier.Prepared {
		return nil
	}
	unlock, err := e.service.lockSubmission(e.recorded.ID)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // the end of the process does it, too
	if e.recorded, err = e.service.load(ctx, e.recorded.ID); err != nil || e.recorded.State != barrier.Prepared {
		return err
	}
	var status coalloc.Status
	if err := e.far.do(ctx, nil, &status, "withdraw", "--", e.recorded.ID); err != nil {
		return err
	}
	if status.State == coalloc.Canceled && len(status.Parts) == 0 {
		status.State = coalloc.Failed
		status.Reason = fmt.Sprintf("its submission did not arrive at %s: the connection was lost", e.recorded.At)
	}
	_, err = e.note(ctx, status)
	return err
}
