package control

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/internal/repeated"
	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// search looks up the submissions with some numbers. If a command is the same for several of
// them, such as one that lists the jobs of a user, it runs once. To make commands equal,
// submissions of similar age are looked up with the age of the oldest.
func (c *session) search(ctx context.Context, lookUp *config.Command, jobs []job.Job, open []int, progress func(done int)) map[int]recovery.Finding {
	search := recovery.Search{Now: c.now(), Width: directWidth, Progress: progress, Begin: func(oldest time.Time) recovery.LookUp {
		shared := *c
		shared.connection, shared.mark = repeated.New(c.connection), newMark()
		return func(ctx context.Context, j job.Job) recovery.Finding { return shared.lookUp(ctx, lookUp, j, oldest) }
	}}
	return search.Run(ctx, jobs, open)
}

// lookUp queries the scheduler for the job of a tag: x:find-job, and its fallbacks while
// the job is not found. The submission may be made as late as the oldest one that is looked
// up in the same way.
func (c *session) lookUp(ctx context.Context, lookUp *config.Command, j job.Job, oldest time.Time) recovery.Finding {
	env, err := c.lookUpEnvironment(ctx, lookUp, j, oldest)
	if err != nil {
		return recovery.Finding{Err: err}
	}
	var outcome config.OutcomeKind
	var found recovery.Finding
	isDamaged := false // an unusable record may belong to the job
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
			return recovery.Finding{Err: err}
		}
		if accepted.ID != "" {
			return recovery.Finding{Job: accepted}
		}
		found.IsAbsent = found.IsAbsent || recovery.ProvesAbsence(tried, result, outcome, j.Created, c.now())
		isDamaged = isDamaged || result.Answer != nil && result.Answer.Rejections > 0
		if result.Answer != nil && result.Answer.Absence != nil {
			found.Candidates = append(found.Candidates, result.Answer.Absence.Candidates...)
		}
	}
	found.IsAbsent = found.IsAbsent && !isDamaged
	return found
}

// lookUpEnvironment is jobEnvironment for looking a submission up.
func (c *session) lookUpEnvironment(ctx context.Context, lookUp *config.Command, j job.Job, oldest time.Time) (*attribute.Environment, error) {
	env, err := c.jobEnvironment(ctx, j)
	if err != nil {
		return nil, err
	}
	launched, err := requested.Of(j)
	if err != nil {
		launched = job.Submission{Script: "unknown"} // which may give its job any name
	}
	submission.SetLaunch(env, launched)
	env.SetVariable(submission.AttributeTag, j.Tag)
	submission.SetCreated(env, oldest, c.now(), c.zoneOf(lookUp).OrLocal())
	return env, nil
}

// lookUpBy queries for the job of a tag with one command. The id is empty if the command does
// not find it.
func (c *session) lookUpBy(ctx context.Context, tried *config.Command, env *attribute.Environment, j job.Job) (job.Job, *command.Result, error) {
	key := uuid.NewString()
	named := submission.JobAttribute(env, key, "", "")
	clearFacts(env)
	result, err := c.runFor(ctx, tried, env, key, command.Reading{Tag: j.Tag})
	id, problem := printedID(named)
	if err == nil && named.Text(attribute.FieldName) != "" {
		err = problem
	}
	if err != nil || result.Outcome == config.NotFound || id == "" {
		return job.Job{}, result, err
	}
	accepted := c.acceptance(&prepared{tag: j.Tag, env: env, job: named, submit: tried}, id, result)
	if detail, known := job.ParseDetail(attribute.Text(named.Value())); known {
		accepted.Detail = detail
	} else {
		accepted.Observed = j.Created // it was accepted then, and may run by now
	}
	return accepted, result, nil
}
