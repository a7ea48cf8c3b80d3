package ensembles

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/execution"
)

const (
	takeOver     = 15 * time.Second // for a process that is about to stop running the ensemble
	takeOverPoll = 100 * time.Millisecond
)

// Host runs a recorded ensemble until it has ended, and serves other processes meanwhile. When ctx is done, it
// suspends the ensemble: jobs and processes stay. With commit, the release waits only for check-ins. Host calls
// begun, if not nil, once the ensemble runs.
func (s *Service) Host(ctx context.Context, id string, commit bool, begun func(coalloc.Control)) (status coalloc.Status, err error) {
	ensemble, err := s.resume(ctx, id)
	if err != nil {
		return coalloc.Status{}, err
	}
	defer func() { err = errors.Join(err, ensemble.Close()) }()
	folder, err := s.folder(id)
	if err != nil {
		return coalloc.Status{}, err
	}
	leave, err := serve(context.WithoutCancel(ctx), folder, ensemble, s.log())
	if err != nil {
		return coalloc.Status{}, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if begun != nil {
		begun(ensemble)
	}
	if commit {
		if err := ensemble.Commit(ctx, false); err != nil && !errors.Is(err, coalloc.ErrEnded) {
			return coalloc.Status{}, err
		}
	}
	return ensemble.Wait(ctx)
}

// Cancel cancels an ensemble. If no other process can run it, this one does, until its jobs are gone.
func (s *Service) Cancel(ctx context.Context, id string) (coalloc.Control, error) {
	control, err := s.Open(ctx, id)
	if err == nil {
		return control, control.Cancel(ctx)
	}
	if s.Launch != nil || !errors.Is(err, coalloc.ErrNotRunning) {
		return nil, err
	}
	var canceled error
	_, err = s.Host(ctx, id, false, func(ensemble coalloc.Control) { canceled = ensemble.Cancel(ctx) })
	if err = errors.Join(canceled, err); err != nil {
		return nil, fmt.Errorf("canceling ensemble %s: %w\nrmctl coalloc wait %s goes on with it", id, err, id)
	}
	return s.Follow(ctx, id)
}

// resume resumes an ensemble. It waits for a process that is about to suspend it.
func (s *Service) resume(ctx context.Context, id string) (*coalloc.Ensemble, error) {
	for late := time.Now().Add(takeOver); ; {
		ensemble, err := coalloc.Resume(ctx, s.Client, id, coalloc.Options{Log: s.Log})
		if !errors.Is(err, coalloc.ErrRunning) || time.Now().After(late) {
			return ensemble, err
		}
		if execution.ClosesWithin(ctx.Done(), takeOverPoll) {
			return nil, ctx.Err()
		}
	}
}
