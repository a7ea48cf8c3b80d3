package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// An awaited job is one that is waited for. Of one that is on record, as nearly all
// are, no more is kept than how to look it up: there may be tens of thousands.
type awaited struct {
	tag        string   // of the submission; empty for a job that is not on record
	other      *job.Job // which this is then
	controller *control.Controller
}

// awaitedJobs finds the jobs to wait for by what a user calls them, as findJobs does.
func (a *app) awaitedJobs(ctx context.Context, names []string) ([]awaited, error) {
	jobs := make([]awaited, 0, len(names))
	for _, name := range names {
		job, err := a.awaitedJob(ctx, name)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func (a *app) awaitedJob(ctx context.Context, name string) (awaited, error) {
	job, err := a.recordedBrief(ctx, name)
	if errors.Is(err, jobstore.ErrNotFound) {
		other, err := a.lookFor(ctx, name)
		return awaited{other: &other.Job, controller: other.controller}, err
	}
	if err != nil {
		return awaited{}, err
	}
	controller, err := a.controllerOfJob(ctx, job.Target, cmp.Or(job.ID, job.Tag))
	return awaited{tag: job.Tag, controller: controller}, err
}

// awaitedBy returns the jobs by who takes care of them.
func awaitedBy(jobs []awaited) map[*control.Controller][]awaited {
	groups := map[*control.Controller][]awaited{}
	for _, job := range jobs {
		groups[job.controller] = append(groups[job.controller], job)
	}
	return groups
}

// readAtOnce is how many jobs are read from the store at once, which bounds the memory for it.
const readAtOnce = 256

// eachAwaited gives the jobs to a function, in their order, as they are on record now.
func (a *app) eachAwaited(ctx context.Context, jobs []awaited, do func(job.Job) error) error {
	for some := range slices.Chunk(jobs, readAtOnce) {
		var tags []string
		for _, job := range some {
			if job.tag != "" {
				tags = append(tags, job.tag)
			}
		}
		recorded, err := a.store.ByTags(ctx, tags)
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
