package waiting

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// An Awaited job is one that is waited for. For a job on record, as nearly all are, it keeps
// only the tag: there may be tens of thousands.
type Awaited struct {
	tag        string   // of the submission; empty for a job that is not on record
	other      *job.Job // a job that is not on record
	controller *control.Controller
}

// Submitted returns a job on record to wait for.
func Submitted(submitted selection.Handle) Awaited {
	return Awaited{tag: submitted.Tag, controller: submitted.Controller}
}

// Jobs finds the jobs to wait for.
func (w *Waiter) Jobs(ctx context.Context, chosen []selection.Chosen) ([]Awaited, error) {
	jobs := make([]Awaited, 0, len(chosen))
	for _, one := range chosen {
		job, err := w.job(ctx, one.Name)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func (w *Waiter) job(ctx context.Context, name string) (Awaited, error) {
	job, err := w.Finder.RecordedBrief(ctx, name)
	if errors.Is(err, jobstore.ErrNotFound) {
		other, err := w.Finder.Listed(ctx, name)
		return Awaited{other: &other.Job, controller: other.Controller}, err
	}
	if err != nil {
		return Awaited{}, err
	}
	controller, err := w.Finder.ControllerOf(ctx, job)
	return Awaited{tag: job.Tag, controller: controller}, err
}

// awaitedBy groups jobs by controller.
func awaitedBy(jobs []Awaited) map[*control.Controller][]Awaited {
	groups := map[*control.Controller][]Awaited{}
	for _, job := range jobs {
		groups[job.controller] = append(groups[job.controller], job)
	}
	return groups
}

// readAtOnce is how many jobs are read from the store at once, which bounds the memory for it.
const readAtOnce = 256

// Each calls a function with each job in its currently recorded state, in order.
func (w *Waiter) Each(ctx context.Context, jobs []Awaited, do func(job.Job) error) error {
	store, err := w.Finder.Store(ctx)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(jobs, readAtOnce) {
		var tags []string
		for _, job := range some {
			if job.tag != "" {
				tags = append(tags, job.tag)
			}
		}
		recorded, err := store.ByTags(ctx, tags)
		if err != nil {
			return err
		}
		for _, job := range some {
			now, isRecorded := recorded[job.tag]
			switch {
			case job.tag == "":
				now = *job.other
			case !isRecorded:
				return fmt.Errorf("looking up submission %s: %w", job.tag, jobstore.ErrNotFound)
			}
			if err := do(now); err != nil {
				return err
			}
		}
	}
	return nil
}
