package ensembles

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/execution"
)

const (
	launchPatience = 20 * time.Second // until a process that was started runs an ensemble
	launchPoll     = 50 * time.Millisecond
	relaunch       = time.Second     // after which a process that was started is taken for gone
	succession     = 5 * time.Second // for the process of another build that takes an ensemble over
)

// ensure waits until a process runs the ensemble, or the ensemble has ended. If no process appears in time, it
// starts one.
func (s *Service) ensure(ctx context.Context, id string, patience time.Duration) error {
	folder, err := s.folder(id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, launchPatience, fmt.Errorf("%w: it did not start within %v", coalloc.ErrNotRunning, launchPatience))
	defer cancel()
	for next := time.Now().Add(patience); ; {
		_, err := client{folder}.Status(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, coalloc.ErrNotRunning):
			return err
		case s.Launch == nil:
			return fmt.Errorf("ensemble %s: %w\nrmctl coalloc wait %s runs it", id, coalloc.ErrNotRunning, id)
		}
		if recorded, err := s.load(ctx, id); err != nil || recorded.State.Ended() {
			return err
		}
		if !time.Now().Before(next) {
			if err := s.Launch(ctx, id); err != nil && !isSucceeded(err) {
				return fmt.Errorf("starting to run ensemble %s: %w", id, err)
			}
			next = time.Now().Add(relaunch)
		}
		if execution.ClosesWithin(ctx.Done(), launchPoll) {
			return context.Cause(ctx)
		}
	}
}

// isSucceeded reports whether a process did not run an ensemble because another process replaces it.
func isSucceeded(err error) bool {
	_, isGone := errors.AsType[*daemon.GoneError](err)
	return isGone || errors.Is(err, daemon.ErrLeaving) || errors.Is(err, context.Canceled)
}
