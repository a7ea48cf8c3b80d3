package control

import (
	"context"
	"errors"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/job"
)

// updateFresh is Update with a fresh answer for each job.
func (c *tracker) updateFresh(ctx context.Context, list *config.Command, jobs []job.Job) ([]job.Job, error) {
	wanted, err := c.unanswered(ctx, jobs)
	if err != nil {
		return jobs, err
	}
	var pollErr error
	if len(wanted.open) > directAtOnce {
		pollErr = c.poll(ctx, list, poller.Insist, hasTag(wanted.open))
		if err := wanted.update(ctx, c); err != nil {
			return jobs, errors.Join(pollErr, err)
		}
	}
	if pollErr == nil {
		_, pollErr = c.queryEachOf(ctx, wanted.open)
		if err := wanted.update(ctx, c); err != nil {
			return jobs, errors.Join(pollErr, err)
		}
	}
	updated, err := c.recordedNow(ctx, jobs, c.queryStatus)
	isOpen := hasTag(wanted.open)
	for i := range updated {
		if pollErr != nil && updated[i].Tag != "" && isOpen(updated[i].Tag) && !updated[i].Stale {
			updated[i].Stale, updated[i].StaleReason = true, pollErr.Error()
		}
	}
	return updated, errors.Join(pollErr, err)
}

// unansweredJobs are those without an answer that is new enough.
type unansweredJobs struct {
	since  time.Time
	misses map[string]int // how often each was missing at first, by tag
	open   []job.Job
}

// unanswered returns those of some jobs that a listing may have news of and that no process
// has queried just now.
func (c *tracker) unanswered(ctx context.Context, jobs []job.Job) (*unansweredJobs, error) {
	u := &unansweredJobs{since: c.now().Add(-c.sharedFor())}
	for _, job := range jobs {
		if isQueryable(&job) && !job.Interactive {
			u.open = append(u.open, job)
		}
	}
	return u, u.update(ctx, c)
}

// update removes the jobs that have an answer by now.
func (u *unansweredJobs) update(ctx context.Context, c *tracker) error {
	recorded, err := c.store.ByTags(ctx, tagsOf(u.open))
	if err != nil {
		return err
	}
	misses := u.misses
	if misses == nil {
		u.misses = map[string]int{}
	}
	var open []job.Job
	for _, known := range u.open {
		now, isRecorded := recorded[known.Tag]
		if !isRecorded || !isQueryable(&now) {
			continue
		}
		if misses == nil {
			u.misses[now.Tag] = now.MissingCount
		}
		// The record has no time for a repeated absence.
		isAnswered := now.LastQueried().After(u.since) || now.MissingCount > u.misses[now.Tag]
		if c.isUnqueried(&now) || now.Stale || !isAnswered {
			open = append(open, now)
		}
	}
	u.open = open
	return nil
}
