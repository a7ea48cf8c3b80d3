// Package selection finds the jobs that a user names.
package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// A Finder finds jobs on record or, if they are not, at their schedulers.
type Finder struct {
	Target string // the chosen target; empty for all jobs on record, and the default target for others

	Store      func(context.Context) (*jobstore.Store, error)
	Targets    func() (*settings.Targets, error)
	Controller func(ctx context.Context, target string) (*control.Controller, error)
	Note       func(string) // gets messages for the user
}

func (f *Finder) note(format string, arguments ...any) { f.Note(fmt.Sprintf(format, arguments...)) }

// A NameError means that a text names no job, or several.
type NameError struct{ reason string }

// Error implements error.
func (e *NameError) Error() string { return e.reason }

// Jobs finds jobs by name: the scheduler's id, TARGET/ID, or the tag of the submission. A
// job that is not on record is looked up at the chosen target. With an error it returns the
// jobs that it found, but none if a name is invalid or ambiguous.
func (f *Finder) Jobs(ctx context.Context, names []string) ([]Handle, error) {
	return f.each(ctx, names, f.Job)
}

// JobsToShow is Jobs without the controllers of jobs that have ended: whoever only shows a
// job does not need its definition, which takes longer to read than the record.
func (f *Finder) JobsToShow(ctx context.Context, names []string) ([]Handle, error) {
	return f.each(ctx, names, f.jobToShow)
}

func (f *Finder) each(ctx context.Context, names []string, find func(context.Context, string) (Handle, error)) ([]Handle, error) {
	jobs := make([]Handle, 0, len(names))
	var problems []error
	for _, name := range names {
		found, err := f.eachNamed(ctx, name, find)
		switch {
		case err == nil:
			jobs = append(jobs, found...)
		case isUnclear(err), ctx.Err() != nil:
			return nil, err
		default:
			problems = append(problems, err)
		}
	}
	return jobs, errors.Join(problems...)
}

// eachNamed finds the jobs of a name or of a range.
func (f *Finder) eachNamed(ctx context.Context, name string, find func(context.Context, string) (Handle, error)) ([]Handle, error) {
	whole, isRange, err := f.Range(ctx, name)
	if err != nil {
		return nil, err
	}
	names := []string{name}
	if isRange {
		names = names[:0]
		for i := range whole {
			names = append(names, whole[i].Tag)
		}
	}
	jobs := make([]Handle, len(names))
	for i := range names {
		if jobs[i], err = find(ctx, names[i]); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// Job finds a job by name, as Jobs does.
func (f *Finder) Job(ctx context.Context, name string) (Handle, error) {
	one, err := f.jobToShow(ctx, name)
	if err == nil && one.Controller == nil {
		one.Controller, err = f.ControllerOf(ctx, one.Job)
	}
	return one, err
}

func (f *Finder) jobToShow(ctx context.Context, name string) (Handle, error) {
	job, err := f.Recorded(ctx, name)
	if errors.Is(err, jobstore.ErrNotFound) {
		return f.Listed(ctx, name)
	}
	if err != nil {
		return Handle{}, &unclearError{err}
	}
	if job.Detail.Ended() {
		return Handle{Job: job}, nil
	}
	controller, err := f.ControllerOf(ctx, job)
	return Handle{job, controller}, err
}

// ControllerOf returns the controller of the target of a job.
func (f *Finder) ControllerOf(ctx context.Context, j job.Job) (*control.Controller, error) {
	controller, err := f.Controller(ctx, j.Target)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", cmp.Or(j.ID, j.Tag), err)
	}
	return controller, nil
}

// Listed queries the scheduler for a job that is not on record.
func (f *Finder) Listed(ctx context.Context, name string) (Handle, error) {
	target, id, err := f.Split(name)
	if err != nil {
		return Handle{}, err
	}
	controller, err := f.ControllerOf(ctx, job.Job{Target: target, ID: id})
	if err != nil {
		return Handle{}, err
	}
	found, err := controller.Look(ctx, id)
	_, isUnknown := errors.AsType[*control.NotFoundError](err)
	if before, _, isCut := strings.Cut(id, "/"); isCut && isUnknown {
		if targets, _ := f.Targets(); targets != nil {
			if _, unknown := targets.Find(before); unknown != nil {
				err = fmt.Errorf("%w, and %v", err, unknown)
			}
		}
	}
	return Handle{found, controller}, err
}

// Recorded finds a job on record. If it is not there, the error matches jobstore.ErrNotFound.
func (f *Finder) Recorded(ctx context.Context, name string) (job.Job, error) {
	return f.recorded(ctx, name, (*jobstore.Store).ByTag, (*jobstore.Store).Find)
}

// RecordedBrief is Recorded for a brief job; see [jobstore.Store.EachBrief].
func (f *Finder) RecordedBrief(ctx context.Context, name string) (job.Job, error) {
	byTag := func(store *jobstore.Store, ctx context.Context, tag string) (known job.Job, err error) {
		err = store.EachBrief(ctx, []string{tag}, func(found *job.Job) { known = *found })
		if err == nil && known.Tag == "" {
			err = jobstore.ErrNotFound
		}
		return known, err
	}
	return f.recorded(ctx, name, byTag, (*jobstore.Store).FindBrief)
}

// recorded finds a job on record by its tag, or else by its id at a target.
func (f *Finder) recorded(
	ctx context.Context, name string,
	byTag func(*jobstore.Store, context.Context, string) (job.Job, error),
	byID func(store *jobstore.Store, ctx context.Context, id, target string) ([]job.Job, error),
) (job.Job, error) {
	target, id, err := f.Split(name)
	if err != nil {
		return job.Job{}, err
	}
	store, err := f.Store(ctx)
	if err != nil {
		return job.Job{}, err
	}
	if uuid.Validate(id) == nil {
		if known, err := byTag(store, ctx, id); err == nil {
			return known, nil
		}
	}
	candidates, err := byID(store, ctx, id, target)
	if errors.Is(err, jobstore.ErrNotFound) && id == newest {
		tag, newestErr := newestOf(ctx, store, target)
		if newestErr != nil {
			return job.Job{}, newestErr
		}
		return byTag(store, ctx, tag)
	}
	if err != nil {
		return job.Job{}, err
	}
	known := candidates[0]
	for _, other := range candidates[1:] {
		if other.Target != known.Target {
			return job.Job{}, &NameError{fmt.Sprintf("ambiguous job %q: on record for targets %s and %s\nuse %s/%s or %s/%s",
				id, known.Target, other.Target, known.Target, id, other.Target, id)}
		}
	}
	return known, nil
}

// KnowsTarget returns an error if the chosen target neither exists nor has jobs on record: it
// may be mistyped.
func (f *Finder) KnowsTarget(ctx context.Context, store *jobstore.Store) error {
	if f.Target == "" {
		return nil
	}
	recorded, err := store.List(ctx, jobstore.Filter{Target: f.Target, All: true, Limit: 1})
	if err != nil || len(recorded) > 0 {
		return err
	}
	targets, err := f.Targets()
	if err == nil {
		_, err = targets.Find(f.Target)
	}
	return err
}

// Split splits a name into target and id. The text before a slash is only a target if there
// is one of that name.
func (f *Finder) Split(name string) (target, id string, err error) {
	if name == "" {
		return "", "", &NameError{"empty job id"}
	}
	targets, err := f.Targets()
	if err != nil {
		return "", "", err
	}
	if before, after, cut := strings.Cut(name, "/"); cut && after != "" {
		if _, err := targets.Find(before); err == nil && before != "" {
			return before, after, nil
		}
	}
	if f.Target != "" {
		if _, err := targets.Find(f.Target); err != nil {
			return "", "", err
		}
	}
	return f.Target, name, nil
}
