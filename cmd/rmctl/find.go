package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// found is a job and the controller of its target, nil if the target cannot be used or the
// controller is not needed.
type found struct {
	job.Job
	controller *control.Controller
}

// targetJobs are the jobs of one controller.
type targetJobs struct {
	controller *control.Controller
	jobs       []job.Job
	places     []int // of the jobs in the list of all
}

// byController groups the jobs that match by controller.
func byController(jobs []found, matches func(found) bool) []*targetJobs {
	var groups []*targetJobs
	for i, job := range jobs {
		if !matches(job) {
			continue
		}
		at := slices.IndexFunc(groups, func(group *targetJobs) bool { return group.controller == job.controller })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &targetJobs{controller: job.controller})
		}
		groups[at].jobs = append(groups[at].jobs, job.Job)
		groups[at].places = append(groups[at].places, i)
	}
	return groups
}

// update replaces the jobs in the list of all.
func (t *targetJobs) update(all []found, updated []job.Job) {
	for i, place := range t.places {
		all[place].Job = updated[i]
	}
}

// findJobs finds jobs by name: the scheduler's id, TARGET/ID, or the tag of the submission. A
// job that is not on record is looked up at the chosen target. With an error it returns the
// jobs that it found, but none if a name is invalid or ambiguous.
func (a *app) findJobs(ctx context.Context, names []string) ([]found, error) {
	return findEach(ctx, names, a.findJob)
}

// findEach is findJobs with a function that finds one job.
func findEach(ctx context.Context, names []string, find func(context.Context, string) (found, error)) ([]found, error) {
	jobs := make([]found, 0, len(names))
	var problems []error
	for _, name := range names {
		job, err := find(ctx, name)
		switch {
		case err == nil:
			jobs = append(jobs, job)
		case isA[*unclearError](err), ctx.Err() != nil:
			return nil, err
		default:
			problems = append(problems, err)
		}
	}
	return jobs, errors.Join(problems...)
}

// An unclearError means that a name could not be looked up on record.
type unclearError struct{ err error }

func (e *unclearError) Error() string { return e.err.Error() }
func (e *unclearError) Unwrap() error { return e.err }

func (a *app) findJob(ctx context.Context, name string) (found, error) {
	one, err := a.findUnended(ctx, name)
	if err == nil && one.controller == nil {
		one.controller, err = a.controllerOfJob(ctx, one.Target, cmp.Or(one.ID, one.Tag))
	}
	return one, err
}

// findUnended is findJob without the controller of a job that has ended: whoever only shows it
// does not need its definition, which takes longer to read than the record.
func (a *app) findUnended(ctx context.Context, name string) (found, error) {
	job, err := a.recordedJob(ctx, name)
	if errors.Is(err, jobstore.ErrNotFound) {
		return a.lookFor(ctx, name)
	}
	if err != nil {
		return found{}, &unclearError{err}
	}
	if job.Detail.Ended() {
		return found{Job: job}, nil
	}
	controller, err := a.controllerOfJob(ctx, job.Target, cmp.Or(job.ID, job.Tag))
	return found{job, controller}, err
}

// controllerOfJob returns the controller of the target of a job on record.
func (a *app) controllerOfJob(ctx context.Context, target, job string) (*control.Controller, error) {
	controller, err := a.controller(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", job, err)
	}
	return controller, nil
}

// lookFor queries the scheduler for a job that is not on record.
func (a *app) lookFor(ctx context.Context, name string) (found, error) {
	target, id, err := a.splitJob(name)
	if err != nil {
		return found{}, err
	}
	controller, err := a.controllerOfJob(ctx, target, id)
	if err != nil {
		return found{}, err
	}
	job, err := controller.Look(ctx, id)
	if before, _, isCut := strings.Cut(id, "/"); isCut && isA[*control.NotFoundError](err) {
		if targets, _ := a.client().Targets(); targets != nil {
			if _, unknown := targets.Find(before); unknown != nil {
				err = fmt.Errorf("%w; and %v", err, unknown)
			}
		}
	}
	return found{job, controller}, err
}

// recordedJob finds a job on record. If there is none, the error matches jobstore.ErrNotFound.
func (a *app) recordedJob(ctx context.Context, name string) (job.Job, error) {
	return a.recorded(ctx, name, (*jobstore.Store).ByTag, (*jobstore.Store).Find)
}

// recordedBrief is recordedJob for a brief job; see [jobstore.Store.EachBrief].
func (a *app) recordedBrief(ctx context.Context, name string) (job.Job, error) {
	byTag := func(store *jobstore.Store, ctx context.Context, tag string) (known job.Job, err error) {
		err = store.EachBrief(ctx, []string{tag}, func(found *job.Job) { known = *found })
		if err == nil && known.Tag == "" {
			err = jobstore.ErrNotFound
		}
		return known, err
	}
	return a.recorded(ctx, name, byTag, (*jobstore.Store).FindBrief)
}

// recorded finds a job on record by its tag, or else by its id at a target.
func (a *app) recorded(
	ctx context.Context, name string,
	byTag func(*jobstore.Store, context.Context, string) (job.Job, error),
	byID func(store *jobstore.Store, ctx context.Context, id, target string) ([]job.Job, error),
) (job.Job, error) {
	target, id, err := a.splitJob(name)
	if err != nil {
		return job.Job{}, err
	}
	store, err := a.client().Store(ctx)
	if err != nil {
		return job.Job{}, err
	}
	if uuid.Validate(id) == nil {
		if known, err := byTag(store, ctx, id); err == nil {
			return known, nil
		}
	}
	candidates, err := byID(store, ctx, id, target)
	if err != nil {
		return job.Job{}, err
	}
	known := candidates[0]
	for _, other := range candidates[1:] {
		if other.Target != known.Target {
			return job.Job{}, usage("job %q is known at %s and at %s; write %s/%s or %s/%s",
				id, known.Target, other.Target, known.Target, id, other.Target, id)
		}
	}
	return known, nil
}

// withControllers returns jobs with the controllers of their targets. If a target cannot be
// used, its jobs have none, and the error says why.
func (a *app) withControllers(ctx context.Context, jobs []job.Job) ([]found, error) {
	all := make([]found, 0, len(jobs))
	unusable := map[string]bool{}
	var problems []error
	for _, job := range jobs {
		if unusable[job.Target] {
			all = append(all, found{job, nil})
			continue
		}
		controller, err := a.controller(ctx, job.Target)
		if err != nil {
			unusable[job.Target] = true
			problems = append(problems, fmt.Errorf("target %q: %w", job.Target, err))
		}
		all = append(all, found{job, controller})
	}
	return all, errors.Join(problems...)
}

// splitJob splits a name into target and id. The text before a slash is only a target if there
// is one of that name.
func (a *app) splitJob(name string) (target, id string, err error) {
	if name == "" {
		return "", "", usage("an empty text is no job")
	}
	targets, err := a.client().Targets()
	if err != nil {
		return "", "", err
	}
	if before, after, cut := strings.Cut(name, "/"); cut && after != "" {
		if _, err := targets.Find(before); err == nil && before != "" {
			return before, after, nil
		}
	}
	if a.target != "" {
		if _, err := targets.Find(a.target); err != nil {
			return "", "", err
		}
	}
	return a.target, name, nil
}
