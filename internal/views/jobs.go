package views

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Job returns a job of a resource manager by its id or by the tag of its
// submission: from the record, or from the scheduler if it was submitted in another way.
// Errors are as of [Views.Controller], and *control.NotFoundError.
func (p *Views) Job(ctx context.Context, manager, id string) (job.Job, error) {
	if _, err := p.Manager(manager); err != nil {
		return job.Job{}, err
	}
	if strings.ContainsFunc(id, unicode.IsControl) { // no scheduler gives such an id, and no command can be given one with a zero byte
		return job.Job{}, &control.NotFoundError{ID: id, Target: manager}
	}
	j, err := p.Recorded(ctx, manager, id)
	if !errors.Is(err, jobstore.ErrNotFound) {
		return j, err
	}
	controller, err := p.Controller(manager)
	if err != nil {
		return job.Job{}, err
	}
	return controller.Look(ctx, id)
}

// Recorded returns the newest job on record of an id or a tag. The error matches
// [jobstore.ErrNotFound] if there is no such job.
func (p *Views) Recorded(ctx context.Context, manager, id string) (job.Job, error) {
	j, err := p.options.Store.ByTag(ctx, id)
	if err == nil && j.Target == manager {
		return j, nil
	}
	if err != nil && !errors.Is(err, jobstore.ErrNotFound) {
		return job.Job{}, err
	}
	found, err := p.options.Store.Find(ctx, id, manager)
	if err != nil {
		return job.Job{}, err
	}
	return found[0], nil
}

// LatestJobs calls each with the rows of the newest listing of jobs: what the agent of a target has now,
// or as [control.Controller.LatestRows] does. Errors are as of [Views.Controller] and that.
func (p *Views) LatestJobs(ctx context.Context, manager string, each func(command.Row) error) (polls.Listing, error) {
	controller, err := p.Controller(manager)
	if err != nil {
		return polls.Listing{}, err
	}
	known, err := p.Manager(manager)
	if err != nil || known.Target.Agent == nil {
		return controller.LatestRows(ctx, config.ListJobs, each)
	}
	begun := p.options.Now()
	listed, err := controller.Rows(ctx, config.ListJobs, config.AllJobs, each)
	return polls.Listing{Begun: begun, NotUnderstood: listed.NotUnderstood, Again: listed.Again}, err
}

// Submit submits a job to a resource manager that is STARTED, and has the new
// picture drawn soon. Errors are as of [Views.Controller] and
// [control.Controller.Submit].
func (p *Views) Submit(ctx context.Context, manager string, s job.Submission) (job.Job, error) {
	controller, err := p.Controller(manager)
	if err != nil {
		return job.Job{}, err
	}
	job, err := controller.Submit(ctx, s)
	p.lookSoon(manager)
	return job, err
}

// Operate does something to a job of a resource manager that is STARTED, and has
// the new picture drawn soon. Errors are as of [Views.Job] and
// [control.Controller.Operate].
func (p *Views) Operate(ctx context.Context, manager, id string, operation control.Operation) error {
	controller, err := p.Controller(manager)
	if err != nil {
		return err
	}
	job, err := p.Job(ctx, manager, id)
	if err != nil {
		return err
	}
	err = p.operate(ctx, controller, operation, job)
	p.lookSoon(manager)
	return err
}

// operate ends an interactive job that is alive where its process is held.
func (p *Views) operate(ctx context.Context, controller *control.Controller, operation control.Operation, job job.Job) error {
	if operation == control.Cancel {
		switch controller.Holder(job) {
		case control.HeldByProgram:
			_, err := controller.EndHeld(ctx, job)
			return err
		case control.HeldByHost:
			if p.options.EndHosted != nil {
				return p.options.EndHosted(ctx, job)
			}
		}
	}
	return controller.Operate(ctx, operation, job)
}
