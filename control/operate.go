package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
)

// An Operation is something that can be done to a job.
type Operation string

// The operations, each with the command of the definition that does it.
const (
	Cancel  Operation = "cancel"
	Suspend Operation = "suspend"
	Resume  Operation = "resume"
	Hold    Operation = "hold"
	Release Operation = "release"
)

var operations = map[Operation]struct {
	command config.CommandElement
	done    string // as a participle
}{
	Cancel:  {config.TerminateJob, "canceled"},
	Suspend: {config.SuspendJob, "suspended"},
	Resume:  {config.ResumeJob, "resumed"},
	Hold:    {config.HoldJob, "held"},
	Release: {config.ReleaseJob, "released"},
}

// An EndedError reports an operation on an ended job.
type EndedError struct {
	ID        string
	Operation Operation
	Detail    string
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("job %s cannot be %s: it has ended (%s)", e.ID, operations[e.Operation].done, e.Detail)
}

// A StageError reports an operation that is not allowed in the stage of the job.
type StageError struct {
	ID        string
	Operation Operation
	Detail    job.Detail
	Only      []config.Stage
}

func (e *StageError) Error() string {
	var stages []string
	for _, stage := range e.Only {
		if !strings.HasPrefix(string(stage), "word:") { // which users need not know
			stages = append(stages, string(stage))
		}
	}
	return fmt.Sprintf("job %s cannot be %s: it is %s, and only a %s job can be", e.ID, operations[e.Operation].done, e.Detail, strings.Join(stages, " or "))
}

// Supports reports whether the definition has the command of an operation.
func (c *Controller) Supports(operation Operation) bool {
	return c.definition.Command(operations[operation].command) != nil
}

// Operate does something to a job through the definition's command for it. That
// does not change the job's state: the next query shows the effect.
func (c *attendant) Operate(ctx context.Context, operation Operation, j job.Job) error {
	if j.ID == "" {
		return fmt.Errorf("submission %s has no job id yet; nothing can be done to it", j.Tag)
	}
	which, err := c.operable(ctx, operation, j)
	if err != nil {
		return err
	}
	if err := c.requireStage(ctx, which, operation, j); err != nil {
		return err
	}
	env, err := c.jobEnvironment(ctx, j)
	if err != nil {
		return err
	}
	submission.JobAttribute(env, j.ID, j.ID, j.ShortID)
	result, err := c.runFor(ctx, which, env, j.ID, command.Reading{Job: j.ID})
	outcome, err := outcomeOf(result, err)
	var unmarked error
	if j.Tag != "" && mayHaveWorked(outcome, err) {
		// The state observed before may no longer hold; the next look queries again.
		unmarked = c.store.MarkStale(context.WithoutCancel(ctx), j.Tag, transition.Requested(string(operation)), c.now())
	}
	if j.Tag != "" && operation == Cancel && err == nil && isAccepted(result, outcome) {
		unmarked = errors.Join(unmarked, c.store.MarkCanceled(context.WithoutCancel(ctx), j.Tag, job.Observation{
			Observed: c.now(), Source: which.Name, Evidence: result.Stdout + result.Stderr}))
	}
	switch outcome {
	case config.NotFound:
		err = &NotFoundError{ID: j.ID, Target: c.target}
	case config.Finished:
		err = &EndedError{ID: j.ID, Operation: operation, Detail: "says the scheduler"}
	}
	return errors.Join(err, unmarked)
}

// operable returns the command of an operation, or why it cannot be done to a job.
func (c *attendant) operable(ctx context.Context, operation Operation, job job.Job) (*config.Command, error) {
	which, lacking := c.resolver.Command(operations[operation].command)
	detail := job.Detail
	if !detail.Ended() && c.isKnownByProcess(job) && (lacking != nil || job.ID == job.Tag) {
		// No scheduler knows the job: the state of its process counts.
		seen, err := c.statusByProcess(ctx, job.Tag)
		switch {
		case err != nil:
			return nil, err
		case seen.Missing:
			return nil, &MissingError{Job: seen, Reason: seen.StaleReason}
		case lacking != nil && seen.StaleReason != "":
			lacking = fmt.Errorf("%w; %s", lacking, seen.StaleReason)
		}
		detail = seen.Detail
	}
	if detail.Ended() && (lacking == nil || job.Interactive) { // an interactive job is canceled without a command, too
		return nil, &EndedError{ID: job.ID, Operation: operation, Detail: string(detail)}
	}
	return which, lacking
}

// requireStage queries a job whose operation is for some stages only, and returns why it cannot
// be done.
func (c *attendant) requireStage(ctx context.Context, which *config.Command, operation Operation, j job.Job) error {
	if len(which.Only) == 0 {
		return nil
	}
	now, err := c.query(ctx, j)
	switch {
	case err != nil:
		return fmt.Errorf("job %s was not %s: its state is unknown: %w", j.ID, operations[operation].done, err)
	case now.forgotten:
		return &NotFoundError{ID: j.ID, Target: c.target}
	case now.Detail.Ended():
		return &EndedError{ID: j.ID, Operation: operation, Detail: string(now.Detail)}
	case !slices.ContainsFunc(which.Only, func(stage config.Stage) bool { return isAnyInStage(now.Observation, stage) }):
		return &StageError{ID: j.ID, Operation: operation, Detail: now.DetailOrUndetermined(), Only: which.Only}
	}
	return nil
}

// isAnyInStage reports whether a job, or any of its tasks, is in a stage.
func isAnyInStage(now job.Observation, stage config.Stage) bool {
	if word, isWord := strings.CutPrefix(string(stage), "word:"); isWord {
		return now.Native == word
	}
	for state := range reader.ParseMemory(now.Tasks).Tasks {
		if isInStage(state, stage) {
			return true
		}
	}
	return isInStage(now.Detail, stage)
}

// isInStage reports whether a job in a state is in a stage. One whose state is unknown is in none.
func isInStage(detail job.Detail, stage config.Stage) bool {
	switch stage {
	case config.Waiting:
		return detail.Primary() == job.Submitted
	case config.Running:
		return detail.Primary() == job.Running || detail.Primary() == job.Suspended
	}
	return detail != job.Undetermined && string(detail) == string(stage)
}

// isAccepted reports whether the scheduler accepted a command on a job. That its exit code is
// ignored does not mean that it did.
func isAccepted(result *command.Result, outcome config.OutcomeKind) bool {
	return outcome == config.Succeeded && (result.ExitCode <= 0 || result.Outcome == config.Done)
}

// mayHaveWorked reports whether a command on a job may have had its effect.
func mayHaveWorked(outcome config.OutcomeKind, err error) bool {
	var failed *command.Error
	return err == nil || outcome == config.Doubtful || errors.As(err, &failed) && failed.Ambiguous()
}
