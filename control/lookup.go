package control

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// lookUp queries the scheduler for the job of a tag: x:find-job, and its fallbacks while
// the job is not found. The id is empty if there is certainly none.
func (c *session) lookUp(ctx context.Context, lookUp *config.Command, j job.Job) (job.Job, error) {
	env, err := c.jobEnvironment(ctx, j)
	if err != nil {
		return job.Job{}, err
	}
	env.SetVariable(submission.AttributeTag, j.Tag)
	submission.SetCreated(env, j.Created, c.now(), c.zoneOf(lookUp).OrLocal())
	var outcome config.OutcomeKind
	isAbsent, isDamaged := false, false // a record that says nothing may be of the job
	for _, tried := range append([]*config.Command{lookUp}, lookUp.Fallbacks...) {
		isFallback := tried != lookUp
		if isFallback && !triedAfter(tried, outcome) {
			continue
		}
		accepted, result, err := c.lookUpBy(ctx, tried, env, j)
		if isFallback && errors.Is(err, remote.ErrCommandNotFound) {
			outcome = config.NotFound
			continue
		}
		outcome, err = outcomeOf(result, err)
		if err != nil {
			return job.Job{}, err
		}
		if accepted.ID != "" {
			return accepted, nil
		}
		isAbsent = isAbsent || c.provesAbsence(tried, result, outcome, j)
		isDamaged = isDamaged || result.Answer != nil && result.Answer.Rejections > 0
	}
	if !isAbsent || isDamaged {
		return job.Job{}, errAbsenceUnproved
	}
	return job.Job{}, nil
}

var errAbsenceUnproved = errors.New("the scheduler does not list it, which proves nothing by now")

// lookUpBy queries for the job of a tag with one command. The id is empty if the command
// does not have it.
func (c *session) lookUpBy(ctx context.Context, tried *config.Command, env *attribute.Environment, j job.Job) (job.Job, *command.Result, error) {
	key := uuid.NewString()
	named := submission.JobAttribute(env, key, "", "")
	clearFacts(env)
	result, err := c.runFor(ctx, tried, env, key, command.Reading{Tag: j.Tag})
	id := named.Text(attribute.FieldName)
	if err != nil || result.Outcome == config.NotFound || id == "" {
		return job.Job{}, result, err
	}
	accepted := c.acceptance(&prepared{tag: j.Tag, env: env, job: named, submit: tried}, id, result)
	if detail, known := job.ParseDetail(attribute.Text(named.Value())); known {
		accepted.Detail = detail
	}
	return accepted, result, nil
}

// provesAbsence reports whether a command that does not have the job of a submission proves
// that there is none.
func (c *session) provesAbsence(tried *config.Command, result *command.Result, outcome config.OutcomeKind, j job.Job) bool {
	if tried.Read == nil || result.Answer == nil || outcome != config.Succeeded {
		return tried.Read == nil
	}
	return result.Answer.Absence.Proves(j.Created, c.now())
}
