package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// A Handle is a job and the controller of its target, nil if the target cannot be used or the
// controller is not needed.
type Handle struct {
	job.Job
	Controller *control.Controller
}

// Label returns what users call the job: target and id, and the label of its part or its name if it has one.
func (h Handle) Label() string {
	label := h.Target + "/" + cmp.Or(h.ID, h.Tag)
	if name := cmp.Or(h.Part, h.Name); name != "" {
		label += " " + name
	}
	return label
}

// A Group is the jobs of one controller.
type Group struct {
	Controller *control.Controller
	jobs       []job.Job
	places     []int // of the jobs in the list of all
}

// ByController groups the jobs that match by controller.
func ByController(jobs []Handle, matches func(Handle) bool) []*Group {
	var groups []*Group
	for i, job := range jobs {
		if !matches(job) {
			continue
		}
		at := slices.IndexFunc(groups, func(group *Group) bool { return group.Controller == job.Controller })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &Group{Controller: job.Controller})
		}
		groups[at].jobs = append(groups[at].jobs, job.Job)
		groups[at].places = append(groups[at].places, i)
	}
	return groups
}

// Refresh queries the states of jobs on record, those of all targets at the same time, and
// updates the jobs. It goes on when a query fails, and returns all errors.
func Refresh(ctx context.Context, jobs []Handle, fresh bool) error {
	_, err := refresh(ctx, jobs, fresh)
	return err
}

// refresh is Refresh that also returns the controllers whose queries failed.
func refresh(ctx context.Context, jobs []Handle, fresh bool) (failed map[*control.Controller]bool, err error) {
	groups := ByController(jobs, func(job Handle) bool { return job.Tag != "" && job.Controller != nil }) // the others were just looked up
	problems := make([]error, len(groups))
	var running errgroup.Group
	for i, group := range groups {
		running.Go(func() error {
			updated, err := group.Controller.Update(ctx, group.jobs, fresh)
			for i, place := range group.places {
				jobs[place].Job = updated[i]
			}
			problems[i] = err
			return nil
		})
	}
	_ = running.Wait() // its functions return nil; errors are in problems
	failed = map[*control.Controller]bool{}
	for i, group := range groups {
		failed[group.Controller] = problems[i] != nil
	}
	return failed, errors.Join(problems...)
}

// WithControllers returns jobs with the controllers of their targets. The jobs of an unusable
// target have none, and the error gives the reason.
func (f *Finder) WithControllers(ctx context.Context, jobs []job.Job) ([]Handle, error) {
	all := make([]Handle, 0, len(jobs))
	unusable := map[string]bool{}
	var problems []error
	for _, job := range jobs {
		if unusable[job.Target] {
			all = append(all, Handle{job, nil})
			continue
		}
		controller, err := f.Controller(ctx, job.Target)
		if err != nil {
			unusable[job.Target] = true
			problems = append(problems, fmt.Errorf("target %q: %w", job.Target, err))
		}
		all = append(all, Handle{job, controller})
	}
	return all, errors.Join(problems...)
}
