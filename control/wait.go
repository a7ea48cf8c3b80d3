package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// pause waits, or until ctx is done.
func pause(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// maxFailures is the number of consecutive failed queries that end a wait: a restart of the
// controller must not end one.
const maxFailures = 60

// A MissingError reports that the end of a job was not seen and cannot be: its scheduler has
// forgotten it, or it has no scheduler and its process is gone.
type MissingError struct {
	Job    job.Job
	Reason string // empty where its scheduler has forgotten it
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("job %s: %s; it was last seen %s at %s",
		e.Job.ID, cmp.Or(e.Reason, "its scheduler no longer knows it"), e.Job.Detail, e.Job.Observed.Format(time.DateTime))
}

// Wait queries a job until it has ended or has reached a state: a detail, a primary state or a
// word; empty for the end. It calls changed, which may be nil, at every change. It tolerates
// failing queries for a while. If the job cannot be queried at all, it returns an error at
// once.
func (c *tracker) Wait(ctx context.Context, j job.Job, until job.Detail, changed func(job.Job)) (job.Job, error) {
	if err := c.waitable(j); err != nil {
		return j, err
	}
	defer c.tracked.Observe(ctx, c.target)
	if c.definition.Command(config.ListJobs) != nil {
		jobs, err := c.WaitAll(ctx, []job.Job{j}, until, changed)
		return jobs[0], err
	}
	w := singleWait{tracker: c}
	pace, changedAt := c.jobPace(), cmp.Or(j.Created, c.now())
	for {
		before := j
		var err error
		j, err = c.queryStatus(ctx, j)
		moved := j.Detail != before.Detail || j.Native != before.Native
		if moved {
			changedAt = c.now()
		}
		if moved && changed != nil {
			changed(j)
		}
		if err := w.judge(ctx, j, err); err != nil {
			return j, err
		}
		if j.Detail.Ended() || reached(j.Detail, until) {
			return j, nil
		}
		if err := c.pause(ctx, pace.After(c.now().Sub(changedAt))); err != nil {
			return j, err
		}
	}
}

// A singleWait is a wait for one job that no listing has.
type singleWait struct {
	tracker             *tracker
	forgotten, failures int // queries in a row that did not find the job, and that failed
}

// judge returns why the wait ends after a query, nil if it continues.
func (w *singleWait) judge(ctx context.Context, job job.Job, err error) error {
	var query *QueryError
	switch {
	case errors.As(err, &query) && w.failures < maxFailures && ctx.Err() == nil:
		w.failures++
	case err != nil:
		return err
	case job.Successor != "" && !job.Detail.Ended():
		return &MissingError{Job: job, Reason: "its id was given to another job"}
	case job.Missing:
		w.forgotten++
		return w.tracker.missing(job, w.forgotten)
	default:
		w.forgotten, w.failures = 0, 0
	}
	return nil
}

// waitable returns why the end of a job would never be seen.
func (c *tracker) waitable(j job.Job) error {
	switch {
	case j.Phase == job.PhaseDismissed:
		return &MissingError{Job: j, Reason: j.Error}
	case j.Detail.Ended(), j.Interactive:
		return nil
	case j.ID == "":
		return fmt.Errorf("submission %s has no job id; there is nothing to wait for", j.Tag)
	}
	_, err := c.resolver.Command(config.GetJobStatus)
	return err
}

func reached(detail, until job.Detail) bool {
	return until != "" && slices.Contains([]string{string(detail), string(detail.Primary()), detail.Word()}, string(until))
}
