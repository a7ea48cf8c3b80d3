package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// longestSubmissionID bounds the clients' submission ids, in bytes.
const longestSubmissionID = 1000

// A submitted is a submission without an answer yet.
type submitted struct {
	commands    []proxy.Command // several if the client repeated the command
	job         job.Job         // once submitted
	isDone      bool
	isAnnounced bool // to the client with the id of the submission
}

// submit submits a job.
func (s *session) submit(command proxy.Command) error {
	id, _ := command.Attributes.Value(attributeSubmission)
	switch {
	case id == "":
		return s.answer(command, errors.New("the submission has no jobSubId"))
	case len(id) > longestSubmissionID:
		return s.answer(command, fmt.Errorf("the jobSubId has more than %d bytes", longestSubmissionID))
	}
	tag := s.names.tag(id)
	s.names.byTag[tag] = strings.Clone(id) // without the rest of its frame
	if underWay, isKnown := s.submissions[tag]; isKnown {
		underWay.commands = append(underWay.commands, command)
		return nil
	}
	s.submissions[tag] = &submitted{commands: []proxy.Command{command}}
	attributes := s.withQueue(command.Attributes)
	var accepted job.Job
	var failed error
	s.perform(func(ctx context.Context) { accepted, failed = s.carryOut(ctx, tag, attributes) }, func() error { return s.done(tag, accepted, failed) })
	return nil
}

// withQueue returns attributes with the name of the queue instead of its id.
func (s *session) withQueue(attributes proxy.Attributes) proxy.Attributes {
	named := make(proxy.Attributes, 0, len(attributes))
	for _, attribute := range attributes {
		if attribute.ID == vocabulary.AttributeJobQueue {
			attribute.Value, _ = s.ids.find(model.Queue, attribute.Value)
		}
		named = append(named, attribute)
	}
	return named
}

// carryOut starts a submission.
func (s *session) carryOut(ctx context.Context, tag string, attributes proxy.Attributes) (job.Job, error) {
	definition, err := s.options.Scheduler.Definition(ctx)
	if err != nil {
		return job.Job{}, err
	}
	submission, err := submissionOf(attributes, definition)
	if err != nil {
		return job.Job{}, err
	}
	submission.Tag = tag
	if submission.Debug && definition.Submit(true) == nil {
		return s.options.Scheduler.Debug(ctx, withoutDebugger(submission), attributes.Values(attributeDebugArguments))
	}
	return s.options.Scheduler.Submit(ctx, submission)
}

// done answers a completed submission after announcing its job.
func (s *session) done(tag string, accepted job.Job, failed error) error {
	submission := s.submissions[tag]
	if failed != nil {
		delete(s.submissions, tag)
		delete(s.names.byTag, tag)
		for _, command := range submission.commands {
			if err := s.answer(command, failed); err != nil {
				return err
			}
		}
		return nil
	}
	submission.job, submission.isDone = accepted, true
	if err := s.follow(); err != nil {
		return err
	}
	if !submission.isAnnounced {
		if err := cmp.Or(s.announceAgain(tag, submission), s.announceEarly(tag, submission)); err != nil {
			return err
		}
	}
	time.AfterFunc(announceLimit, func() {
		s.pass(func() error {
			if s.submissions[tag] != submission {
				return nil
			}
			submission.isAnnounced = true // or cannot be announced
			return s.settle()
		})
	})
	return s.settle()
}

// announceAgain announces a job that the client knows without its submission id, or one that was withheld
// because its id is the tag.
func (s *session) announceAgain(tag string, submission *submitted) error {
	if _, isOpen := s.protocol.Events(); !isOpen {
		return nil
	}
	element, isThere := s.sent.Get(model.Job, submission.job.ID)
	if !isThere || tagOf(element) != tag {
		return nil
	}
	to := s.packer(proxy.New, model.Job)
	if err := s.addNew(to, element); err != nil {
		return err
	}
	return to.flush()
}

// announceEarly announces a job before the model has it, which may take until the next listing. Only
// rmctl clients process the changes that follow.
func (s *session) announceEarly(tag string, submission *submitted) error {
	id := submission.job.ID
	_, isOpen := s.protocol.Events()
	_, isKnown := s.ids.known(model.Job, id)
	queue, hasQueue := s.queueOf(&submission.job)
	if submission.isAnnounced || !isOpen || isKnown || !hasQueue || id == "" || !s.peer.has(featureDetails) {
		return nil
	}
	name, _ := s.names.of(tag, s.peer.isOwn)
	attributes := proxy.Attributes{{ID: vocabulary.AttributeName, Value: cmp.Or(submission.job.Name, id)}}
	if observed := submission.job.Observed; observed.IsZero() || !observed.Before(s.begun) { // otherwise the state is unconfirmed
		attributes = append(attributes, proxy.Attribute{ID: vocabulary.AttributeJobState, Value: string(model.JobState(&submission.job.Observation))})
	}
	attributes = append(attributes, proxy.Attribute{ID: attributeJobID, Value: id}, proxy.Attribute{ID: attributeSubmission, Value: name})
	to := s.packer(proxy.New, model.Job)
	if err := to.add(s.ids.text(model.Queue, queue), s.ids.reserve(model.Job, id), attributes); err != nil {
		return err
	}
	s.early[tag], submission.isAnnounced = id, true
	return to.flush()
}

// queueOf returns the queue, if known, of a job that is not in the model yet.
func (s *session) queueOf(j *job.Job) (string, bool) {
	if _, known := s.sent.Get(model.Queue, j.Queue); known {
		return j.Queue, true
	}
	for _, queue := range s.inOrder(model.Queue, s.sent) {
		return queue.ID(), j.Queue == ""
	}
	return "", false
}

// replaceEarly removes a job announced early that the model has with another id.
func (s *session) replaceEarly(shown *model.Element) error {
	id, isEarly := s.early[tagOf(shown)]
	if !isEarly {
		return nil
	}
	delete(s.early, tagOf(shown))
	if _, isThere := s.sent.Get(model.Job, id); isThere {
		return nil
	}
	number, _ := s.ids.release(model.Job, id)
	return s.event(proxy.Update{Change: proxy.Removed, Kind: model.Job, Groups: []proxy.Group{{IDs: proxy.IDsOf(number)}}})
}

// settle answers submissions whose jobs are announced, or will be once the client requests events.
func (s *session) settle() error {
	_, isOpen := s.protocol.Events()
	for tag, submission := range s.submissions {
		if !submission.isDone || isOpen && !submission.isAnnounced {
			continue
		}
		delete(s.submissions, tag)
		for _, command := range submission.commands {
			if err := s.answer(command, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
