package coalloc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// An outcome is the result of a submission.
type outcome struct {
	job    job.Job
	isHeld bool
	err    error // why there is no job
	doubt  bool  // a job may exist nevertheless
}

// A submission submits one part.
type submission struct {
	store  *jobstore.Store
	place  *place
	part   Part
	serial int
	tag    string
	onHold bool // if the definition can
	pass   *rendezvous.Pass
	// isRemoved reports whether the part was deleted.
	isRemoved func() bool
}

var errRemoved = errors.New("the part was deleted before its submission")

// lastSubmission is how long a submission may still take after the ensemble was closed.
const lastSubmission = 10 * time.Second

// make submits the part, unless its tag is on record.
func (s *submission) make(ctx context.Context) outcome {
	known, err := s.store.ByTag(ctx, s.tag)
	switch {
	case err == nil:
		return s.recover(ctx, known)
	case !errors.Is(err, jobstore.ErrNotFound):
		return outcome{err: err, doubt: true}
	case s.isRemoved():
		return outcome{err: errRemoved}
	}
	l, request, isHeld, err := s.prepare(ctx)
	if err != nil {
		return outcome{err: err}
	}
	if s.isRemoved() {
		return outcome{err: errRemoved}
	}
	// The result of an interrupted submission may be hard to find out.
	patient, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastSubmission, cancel) })
	defer stop()
	j, err := l.controller.Submit(patient, request)
	s.place.noteLost(err)
	var failed *control.SubmitError
	return outcome{job: j, isHeld: isHeld, err: err, doubt: errors.As(err, &failed) && failed.Unknown}
}

// prepare returns the submission once the target has a session and the pass. If the link is lost meanwhile, it
// repeats that on the next link: nothing has been submitted yet.
func (s *submission) prepare(ctx context.Context) (l *link, request job.Submission, isHeld bool, err error) {
	for range mostPreparations {
		next, linkErr := s.place.linkAfter(ctx, l)
		if linkErr != nil {
			return nil, request, false, linkErr
		}
		l = next
		request, isHeld, err = s.request(l)
		if err == nil {
			err = l.startSession(ctx)
		}
		if err == nil {
			err = s.writePass(ctx, l)
		}
		if !errors.Is(err, remote.ErrUnreachable) {
			break
		}
		s.place.noteLost(err)
	}
	return l, request, isHeld, err
}

// recover finds out the result of a recorded submission.
func (s *submission) recover(ctx context.Context, j job.Job) outcome {
	// A scheduler may accept a job after rmctl searched for it; a late process shows that.
	if j.ID == "" && (j.Phase != job.PhaseRejected || s.isRemoved()) {
		l, err := s.place.anyLink(ctx)
		if err == nil {
			j, err = l.controller.Recover(ctx, j)
			s.place.noteLost(err)
		}
		if err != nil {
			return outcome{err: err, doubt: true}
		}
	}
	if j.ID == "" {
		return outcome{err: fmt.Errorf("the job was not submitted: %s", j.Error)}
	}
	return outcome{job: j, isHeld: s.onHold && j.Detail.OnHold()}
}

// attributeHold is the attribute of definitions that submits a job on hold.
const attributeHold = "hold"

// request returns what is submitted.
func (s *submission) request(l *link) (request job.Submission, isHeld bool, err error) {
	if request, err = s.part.SubmissionOn(l.controller.Definition, l.defaults); err != nil {
		return request, false, err
	}
	request.Tag, request.Ensemble, request.Part = s.tag, s.pass.Ensemble, s.part.Label
	if !request.Track {
		request.RankFrom = "" // it is in the pass
	}
	if request.Script == "" {
		request.Wrapper = []string{l.program, "run", "--pass", l.pass(s.serial), "--"}
	} else {
		request.Environment.Variables = append(slices.Clone(request.Environment.Variables),
			job.Variable{Name: "COALLOC_PASS", Value: l.pass(s.serial)}, job.Variable{Name: "COALLOC_TOKEN_FILE", Value: l.pass(s.serial)})
	}
	if s.onHold && canHold(l.controller) {
		isHeld = !request.Assigns(attributeHold)
		assign(&request, attributeHold, "true")
	}
	return request, isHeld, nil
}

// assign gives an attribute a value unless the request has one for it.
func assign(request *job.Submission, name, value string) {
	if !request.Assigns(name) {
		request.Values = append(slices.Clone(request.Values), job.Assignment{Name: name, Value: value})
	}
}

// canHold reports whether a definition can submit jobs on hold and release them.
func canHold(c *control.Controller) bool {
	return c.Supports(control.Release) && slices.ContainsFunc(c.Definition.Attributes, func(a *config.Attribute) bool {
		return a.Name() == attributeHold && a.Text(attribute.FieldType) == "boolean"
	})
}

// writePass writes the pass of the part.
func (s *submission) writePass(ctx context.Context, l *link) error {
	text, err := s.pass.Encode()
	if err != nil {
		return err
	}
	if err := l.controller.Connection.WriteFile(ctx, l.pass(s.serial), bytes.NewReader(text), 0o600); err != nil {
		return fmt.Errorf("writing the pass of part %s: %w", s.part.Label, err)
	}
	return nil
}

// passReserve is how much longer than the commit limit a process waits: a user who has to log in extends that limit.
const passReserve = 24 * time.Hour

// passOf returns the pass of a part. It has no directory, as the definition starts the job in that of the part.
func (e *Ensemble) passOf(serial, index int, part Part) *rendezvous.Pass {
	pass := &rendezvous.Pass{
		Ensemble: e.id, Serial: serial, Index: index, Label: part.Label, Gate: string(part.Gate), Count: part.Count, Parts: len(e.machine.Parts()),
		Joins: !part.Independent, Exchange: !part.Independent, RankFrom: part.Submission.RankFrom, Fingerprint: e.key.Fingerprint(), Secret: e.key.PartSecret(serial),
	}
	if limit := e.machine.Ensemble().CommitLimit; limit > 0 {
		pass.Wait = limit + passReserve
	}
	pass.Arguments = append([]string{cmp.Or(part.Submission.Executable, part.Submission.Script)}, part.Submission.Arguments...)
	for _, v := range part.Submission.Environment.Variables {
		pass.Environment = append(pass.Environment, v.Name+"="+v.Value)
	}
	return pass
}
