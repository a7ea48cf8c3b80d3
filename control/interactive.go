package control

import (
	"context"
	"errors"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/state"
)

// Terminal is what an interactive job is attached to.
type Terminal = command.Attachment

// RunInteractive runs an interactive job attached to a terminal until it ends
// and returns it with its exit code.
func (c *Controller) RunInteractive(ctx context.Context, s Submission, terminal Terminal) (jobstore.Job, error) {
	p, err := c.prepare(ctx, s, true)
	if err != nil {
		return jobstore.Job{}, err
	}
	if err := c.put(ctx, p); err != nil {
		return jobstore.Job{}, err
	}
	background := context.WithoutCancel(ctx)
	accepted := &acceptOnce{controller: c, prepared: p}
	terminal.Progress = func() { accepted.whenNamed(background) }
	result, runErr := c.runner.Run(ctx, command.Request{
		Command:  p.submit,
		Scope:    command.Scope{Environment: p.env, Job: p.tag},
		Launch:   s.Launch,
		Outcomes: c.definition.Outcomes,
		Types:    c.types,
		Attach:   &terminal,
	})
	if err := unstage(background, c.connection, p.files); err != nil {
		c.log.Warn("files of a submission were left behind", "error", err)
	}
	var failed *command.Error
	if errors.As(runErr, &failed) && !failed.Ambiguous() {
		return jobstore.Job{}, &SubmitError{Tag: p.tag, Err: errors.Join(runErr, c.store.Reject(background, p.tag, runErr.Error()))}
	}
	if err := accepted.finally(background); err != nil {
		return jobstore.Job{}, errors.Join(runErr, err)
	}
	if result.ExitCode < 0 {
		return c.outOfSight(background, p.tag, runErr)
	}
	job, err := c.store.Observe(background, p.tag, c.ending(ctx, p, result))
	return job, errors.Join(runErr, err)
}

// outOfSight records that the connection to a job was lost: nobody has seen its end.
func (c *Controller) outOfSight(ctx context.Context, tag string, lost error) (jobstore.Job, error) {
	err := c.store.MarkStale(ctx, tag, lost.Error(), c.now())
	job, lookUpErr := c.store.ByTag(ctx, tag)
	return job, errors.Join(lost, err, lookUpErr)
}

// ending is what the end of the local process says of its job.
func (c *Controller) ending(ctx context.Context, p *prepared, result *command.Result) jobstore.Observation {
	detail := state.Completed
	switch {
	case ctx.Err() != nil:
		detail = state.Canceled
	case result.ExitCode != 0:
		detail = state.Failed
	}
	code := result.ExitCode
	return jobstore.Observation{Detail: detail, ExitCode: &code, Observed: c.now(), Source: p.submit.Name}
}

// acceptOnce records the id of an interactive job as soon as it is known: the
// one that the job's output names, else the tag of the submission.
type acceptOnce struct {
	controller *Controller
	prepared   *prepared
	done       bool
	err        error
}

func (a *acceptOnce) whenNamed(ctx context.Context) {
	if id := a.prepared.job.Text(attribute.FieldName); id != "" && !a.done {
		a.accept(ctx, id)
	}
}

func (a *acceptOnce) finally(ctx context.Context) error {
	if !a.done {
		id := a.prepared.job.Text(attribute.FieldName)
		if id == "" {
			id = a.prepared.tag
		}
		a.accept(ctx, id)
	}
	return a.err
}

func (a *acceptOnce) accept(ctx context.Context, id string) {
	a.done = true
	acceptance := a.controller.acceptance(a.prepared, id, &command.Result{Started: a.controller.now()})
	if acceptance.Detail == state.Submitted {
		acceptance.Detail = state.Running
	}
	_, a.err = a.controller.store.Accept(ctx, a.prepared.tag, acceptance)
}
