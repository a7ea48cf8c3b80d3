package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// scheduler is an [agent.Scheduler] and an [agent.Record] over the resource manager of a
// target.
type scheduler struct {
	platform *views.Views
	store    *jobstore.Store
	target   string
	log      *slog.Logger

	nodeDirectory string          // of the target, for rmctl-node
	life          context.Context // of the agent
	masters       sync.WaitGroup  // of debuggers
}

// Time limits; clients wait for 30 seconds.
const (
	startLimit   = 25 * time.Second       // for the resource manager
	outcomeLimit = 20 * time.Second       // for a submission by another process
	outcomePace  = 200 * time.Millisecond // interval for checking its record
)

// Definition waits until the resource manager is started.
func (s *scheduler) Definition(ctx context.Context) (*config.Definition, error) {
	controller, err := s.controller(ctx)
	if err != nil {
		return nil, err
	}
	return controller.Definition, nil
}

func (s *scheduler) controller(ctx context.Context) (*control.Controller, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		snapshot := s.platform.Model().Snapshot()
		controller, err := s.platform.Controller(s.target)
		if state, isState := errors.AsType[*views.StateError](err); !isState || state.State == vocabulary.StateError {
			return controller, err
		}
		if _, waitErr := s.platform.Model().Next(ctx, snapshot); waitErr != nil {
			return nil, err
		}
	}
}

// Submit submits a job unless its submission is recorded already.
func (s *scheduler) Submit(ctx context.Context, submission job.Submission) (job.Job, error) {
	earlier, err := s.store.ByTag(ctx, submission.Tag)
	if err == nil {
		return s.outcome(ctx, earlier)
	}
	if !errors.Is(err, jobstore.ErrNotFound) {
		return job.Job{}, err
	}
	if submission.Directory != "" && !path.IsAbs(submission.Directory) {
		return job.Job{}, fmt.Errorf("workingDir %q: must be an absolute path", submission.Directory)
	}
	accepted, err := s.platform.Submit(ctx, s.target, submission)
	if err == nil {
		return accepted, nil
	}
	// Another process may have recorded it in the meantime.
	if other, findErr := s.store.ByTag(ctx, submission.Tag); findErr == nil && other.Phase != job.PhaseRejected && !isSubmit(err) {
		return s.outcome(ctx, other)
	}
	return job.Job{}, err
}

func isSubmit(err error) bool {
	_, is := errors.AsType[*control.SubmitError](err)
	return is
}

// outcome returns the outcome of a recorded submission.
func (s *scheduler) outcome(ctx context.Context, j job.Job) (job.Job, error) {
	if j.Target != s.target {
		return job.Job{}, fmt.Errorf("submission %s belongs to target %q", j.Tag, j.Target)
	}
	j, err := s.decided(ctx, j)
	if err != nil {
		return job.Job{}, err
	}
	if j.Phase == job.PhaseIntended || j.Phase == job.PhaseUnknown {
		controller, err := s.platform.Controller(s.target)
		if err != nil {
			return job.Job{}, err
		}
		if j, err = controller.Recover(ctx, j); err != nil {
			return job.Job{}, err
		}
	}
	if j.Phase == job.PhaseRejected {
		return job.Job{}, &control.SubmitError{Tag: j.Tag, Err: errors.New(j.Error)}
	}
	return j, nil
}

// decided waits for a process that is still submitting.
func (s *scheduler) decided(ctx context.Context, j job.Job) (job.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, outcomeLimit)
	defer cancel()
	for j.Phase == job.PhaseIntended && presence.PresenceOf(j.Submitter) != presence.IsGone {
		select {
		case <-ctx.Done():
			return j, nil
		case <-time.After(outcomePace):
		}
		now, err := s.store.ByTag(ctx, j.Tag)
		if err != nil && ctx.Err() == nil {
			return j, err
		}
		if err == nil {
			j = now
		}
	}
	return j, nil
}

// Operate does something to a job.
func (s *scheduler) Operate(ctx context.Context, id string, operation agent.Operation) error {
	return s.platform.Operate(ctx, s.target, id, control.Operation(operation))
}

// Printed reads the output files of a job.
func (s *scheduler) Printed(ctx context.Context, id string, most int64) (printed agent.Printed, err error) {
	controller, err := s.platform.Controller(s.target)
	if err != nil {
		return printed, err
	}
	j, err := s.platform.Job(ctx, s.target, id)
	if err != nil {
		return printed, err
	}
	for _, stream := range []struct {
		text *string
		control.Stream
		path string
	}{{&printed.Stdout, control.Stream{}, j.OutputPath}, {&printed.Stderr, control.Stream{Stderr: true}, j.ErrorPath}} {
		if stream.path == "" || stream.Stderr && j.ErrorPath == j.OutputPath {
			continue
		}
		var text bytes.Buffer
		if failed := controller.FollowEnd(ctx, j, stream.Stream, most, func(int64) {}, &text); failed != nil {
			err = errors.Join(err, failed) // keep the other stream
		}
		*stream.text = string(text.Bytes()[max(0, int64(text.Len())-most):])
	}
	if printed != (agent.Printed{}) {
		err = nil
	}
	return printed, err
}

// Names that definitions use to move a job: an action and its attributes.
const (
	moveAction   = "move-job"
	movedJob     = "move.job"
	movedToQueue = "move.queue"
)

// Move moves a job by an action of the definition.
func (s *scheduler) Move(ctx context.Context, id, queue string) error {
	controller, err := s.platform.Controller(s.target)
	if err != nil {
		return err
	}
	definition := controller.Definition
	if !slices.ContainsFunc(definition.CommandsOf(config.ButtonAction), func(c *config.Command) bool { return c.Name == moveAction }) {
		return fmt.Errorf("definition %q has no action %q, so jobs cannot be moved", definition.Name, moveAction)
	}
	_, err = controller.Action(ctx, moveAction, job.Submission{Invisible: true, Values: []job.Assignment{{Name: movedJob, Value: id}, {Name: movedToQueue, Value: queue}}})
	if err == nil {
		err = s.platform.Refresh(s.target)
	}
	return err
}

// Reflected returns the number of the newest event that the model reflects.
func (s *scheduler) Reflected() int64 { return s.platform.Reflected(s.target) }

// EachTouched calls do with the tags of jobs that have events after a given one.
func (s *scheduler) EachTouched(ctx context.Context, after int64, do func(tag string)) (int64, error) {
	return s.store.EachTouched(ctx, after, do)
}
