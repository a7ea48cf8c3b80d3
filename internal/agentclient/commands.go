package agentclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/proxy"
)

// namePatience is how long to wait for the announcement of a job after its submission was accepted.
const namePatience = 10 * time.Second

// An Accepted is a job that the agent accepted.
type Accepted struct {
	Job        string // id in the model
	Submission string // jobSubId
}

// Submit submits a job. It adds jobSubId unless that is given; queueId is the id of a queue in the model.
// Errors are *RefusedError, *UnidentifiedError and *NoAnswerError, or the reason for the end of the
// session. The job may exist after *UnidentifiedError, *NoAnswerError or the end of the session.
func (s *Session) Submit(ctx context.Context, attributes proxy.Attributes) (Accepted, error) {
	id, given := attributes.Value(attributeSubmission)
	if !given || id == "" {
		id = uuid.NewString()
		attributes = append(proxy.Attributes{{ID: attributeSubmission, Value: id}}, attributes...)
	}
	expected := s.state.expect(id, attributes)
	err := s.submit(ctx, attributes)
	if _, isRefused := errors.AsType[*RefusedError](err); isRefused {
		return Accepted{Submission: id}, err // even if it was announced meanwhile
	}
	if job, known := s.state.jobOf(expected); known {
		return Accepted{job, id}, nil
	}
	if err != nil {
		return Accepted{Submission: id}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, namePatience, &UnidentifiedError{id})
	defer cancel()
	select {
	case <-expected.found:
		job, _ := s.state.jobOf(expected)
		return Accepted{job, id}, nil
	case <-ctx.Done():
		return Accepted{Submission: id}, context.Cause(ctx)
	case <-s.done:
		return Accepted{Submission: id}, s.ended()
	}
}

// submit submits with the id of the queue, and with its name if the agent refuses the id.
func (s *Session) submit(ctx context.Context, attributes proxy.Attributes) error {
	at := slices.IndexFunc(attributes, func(a proxy.Attribute) bool { return a.ID == vocabulary.AttributeJobQueue })
	if at < 0 {
		_, err := s.ask(ctx, proxy.SubmitJob, attributes)
		return err
	}
	wire, name, known := s.state.queueWire(attributes[at].Value)
	if !known {
		_, err := s.ask(ctx, proxy.SubmitJob, attributes)
		return err
	}
	attributes = slices.Clone(attributes)
	attributes[at].Value = wire
	_, err := s.ask(ctx, proxy.SubmitJob, attributes)
	if refused, isRefused := errors.AsType[*RefusedError](err); isRefused && name != wire && namesQueue(refused.Text) {
		attributes[at].Value = name
		_, err = s.ask(ctx, proxy.SubmitJob, attributes)
	}
	return err
}

// namesQueue reports whether the text of a refusal mentions the queue.
func namesQueue(text string) bool { return strings.Contains(strings.ToLower(text), "queue") }

// Terminate ends a job.
func (s *Session) Terminate(ctx context.Context, job string) error {
	wire, known := s.state.wire(job)
	if !known {
		return &UnknownJobError{job}
	}
	_, err := s.ask(ctx, proxy.TerminateJob, proxy.Attributes{{ID: attributeJobID, Value: wire}})
	return err
}

// Operate holds, releases, suspends or resumes a job. It requires an rmctl agent.
func (s *Session) Operate(ctx context.Context, operation, job string) error {
	return s.change(ctx, proxy.ChangeJob, operation, job, proxy.Attribute{ID: proxy.OperationAttribute, Value: operation})
}

// Move moves a job to another queue. It requires an rmctl agent.
func (s *Session) Move(ctx context.Context, job, queue string) error {
	wire, _, known := s.state.queueWire(queue)
	if !known {
		wire = queue
	}
	return s.change(ctx, proxy.MoveJob, "moving a job", job, proxy.Attribute{ID: vocabulary.AttributeJobQueue, Value: wire})
}

// change sends a command that only rmctl supports.
func (s *Session) change(ctx context.Context, id proxy.CommandID, what, job string, how proxy.Attribute) error {
	if !slices.Contains(s.Features(), featureOperations) {
		return &UnsupportedError{what}
	}
	wire, known := s.state.wire(job)
	if !known {
		return &UnknownJobError{job}
	}
	_, err := s.ask(ctx, id, proxy.Attributes{{ID: attributeJobID, Value: wire}, how})
	return err
}

// Output returns the output of a job's stream that events have delivered, at most 1 MiB, and whether
// there is any.
func (s *Session) Output(job string, stream Stream) (io.ReadSeeker, bool) {
	text, known := s.state.outputs.get(job, stream)
	return bytes.NewReader(text), known
}

// Suspend stops events. Some agents ignore it: then the error is a *NoAnswerError, and the session
// continues.
func (s *Session) Suspend(ctx context.Context) error {
	_, err := s.ask(ctx, proxy.StopEvents, nil)
	return err
}

// Resume requests events again.
func (s *Session) Resume(ctx context.Context) error { return s.startEvents(ctx) }

// Close ends the session with QUIT, which ends the agent. It returns nil.
func (s *Session) Close() error {
	s.mu.Lock()
	command, err := s.protocol.Begin(proxy.Quit, nil)
	s.isQuiting = true
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.life, quitPatience)
	defer cancel()
	if err == nil && s.send(ctx, command) == nil {
		select {
		case <-s.done:
		case <-ctx.Done():
		}
	}
	s.cancel(errClosed)
	<-s.done
	return nil
}
