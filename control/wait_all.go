package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/state"
)

// How often a wait looks whether another process has learned something.
const (
	shortestLook = 250 * time.Millisecond
	longestLook  = time.Second
)

// WaitAll waits for many jobs of this target as Wait does for one, with queries
// that all processes share where the definition can list jobs. It returns the
// jobs as they were known last, in their order, and the first error of each that
// could not be waited for. A target that is paused does not end a wait.
func (c *Controller) WaitAll(ctx context.Context, jobs []jobstore.Job, until state.Detail, changed func(jobstore.Job)) ([]jobstore.Job, error) {
	w := &wait{controller: c, jobs: slices.Clone(jobs), until: until, changed: changed}
	for i, job := range jobs {
		if err := c.waitable(job); err != nil {
			return jobs, err
		}
		if !w.isOver(job) {
			w.pending = append(w.pending, i)
		}
	}
	if c.definition.Command(config.ListJobs) == nil {
		return w.jobs, w.each(ctx)
	}
	return w.jobs, w.all(ctx)
}

// A wait is what WaitAll is at.
type wait struct {
	controller *Controller
	jobs       []jobstore.Job
	pending    []int // indexes of the jobs that are still waited for
	until      state.Detail
	changed    func(jobstore.Job)
}

func (w *wait) isOver(job jobstore.Job) bool {
	return job.Detail.Ended() || reached(job.Detail, w.until)
}

// each waits for one job after the other, as far as there is no listing.
func (w *wait) each(ctx context.Context) error {
	var problems []error
	for _, i := range w.pending {
		var err error
		w.jobs[i], err = w.controller.Wait(ctx, w.jobs[i], w.until, w.changed)
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// all waits with shared queries.
func (w *wait) all(ctx context.Context) error {
	var problems []error
	pace := pace{shortest: shortestLook, longest: longestLook}
	for len(w.pending) > 0 {
		seen, err := w.controller.store.LastEvent(ctx)
		if err != nil {
			return err
		}
		moved, err := w.look(ctx)
		if err != nil && !isQueryFailure(err) && !errors.Is(err, ErrPaused) || ctx.Err() != nil {
			return errors.Join(append(problems, err, ctx.Err())...)
		}
		problems = append(problems, w.settle()...)
		if len(w.pending) == 0 {
			break
		}
		if err := w.controller.untilNews(ctx, seen, &pace, moved); err != nil {
			return errors.Join(append(problems, err)...)
		}
	}
	return errors.Join(problems...)
}

// look brings the jobs up to date and tells of those that have moved.
func (w *wait) look(ctx context.Context) (moved bool, err error) {
	asked := make([]jobstore.Job, len(w.pending))
	for k, i := range w.pending {
		asked[k] = w.jobs[i]
	}
	updated, err := w.controller.Update(ctx, asked, Recent)
	for k, i := range w.pending {
		before := w.jobs[i]
		w.jobs[i] = updated[k]
		if updated[k].Detail != before.Detail || updated[k].Native != before.Native {
			moved = true
			if w.changed != nil {
				w.changed(updated[k])
			}
		}
	}
	return moved, err
}

// settle takes the jobs from the wait that are over, or that nobody knows any more.
func (w *wait) settle() []error {
	var problems []error
	w.pending = slices.DeleteFunc(w.pending, func(i int) bool {
		job := w.jobs[i]
		err := w.controller.missing(job, job.MissingCount)
		if job.Successor != "" {
			err = &MissingError{Job: job}
		}
		if err != nil {
			problems = append(problems, err)
			return true
		}
		return w.isOver(job)
	})
	return problems
}

// untilNews waits until a process has recorded something, or a query may be due.
func (c *Controller) untilNews(ctx context.Context, seen int64, pace *pace, moved bool) error {
	due := c.now().Add(c.shortestInterval())
	length := pace.next(moved)
	for {
		if err := c.pause(ctx, length); err != nil {
			return err
		}
		last, err := c.store.LastEvent(ctx)
		if err != nil || last != seen || !c.now().Before(due) {
			return err
		}
	}
}

// shortestInterval is how often the definition lets the jobs be listed.
func (c *Controller) shortestInterval() time.Duration {
	if list := c.definition.Command(config.ListJobs); list != nil && list.Interval > 0 {
		return list.Interval
	}
	return defaultInterval
}
