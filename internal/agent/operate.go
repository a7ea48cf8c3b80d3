package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

const cancel Operation = "cancel"

// operations are the operations that share one command of clients.
var operations = []Operation{"hold", "release", "suspend", "resume"}

// operate executes a command about a job.
func (s *session) operate(command proxy.Command) error {
	given, _ := command.Attributes.Value(attributeJobID)
	id, known := s.ids.find(model.Job, given)
	if !known {
		return s.answer(command, fmt.Errorf("unknown job %q", given))
	}
	do, err := s.operation(command, id)
	if err != nil {
		return s.answer(command, err)
	}
	var failed error
	s.perform(func(ctx context.Context) { failed = do(ctx) }, func() error { return s.answer(command, failed) })
	return nil
}

// operation returns what a command does to a job.
func (s *session) operation(command proxy.Command, id string) (func(context.Context) error, error) {
	scheduler := s.options.Scheduler
	switch command.ID {
	case proxy.TerminateJob:
		return func(ctx context.Context) error { return scheduler.Operate(ctx, id, cancel) }, nil
	case proxy.MoveJob:
		given, _ := command.Attributes.Value(vocabulary.AttributeJobQueue)
		queue, known := s.ids.find(model.Queue, given)
		if !known {
			return nil, fmt.Errorf("unknown queue %q", given)
		}
		return func(ctx context.Context) error { return scheduler.Move(ctx, id, queue) }, nil
	}
	word, _ := command.Attributes.Value(proxy.OperationAttribute)
	operation := Operation(word)
	switch {
	case !s.peer.has(featureOperations):
		return nil, errors.New("only rmctl clients may send CHANGE_JOB")
	case !slices.Contains(operations, operation):
		return nil, fmt.Errorf("unknown operation %q: use hold, release, suspend or resume", word)
	}
	return func(ctx context.Context) error { return scheduler.Operate(ctx, id, operation) }, nil
}
