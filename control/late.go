package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/listing"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/job"
)

// rmctl records a submission as not made if its scheduler has no such job after a while.
// The scheduler may still accept it: rmctl looks for the tag of the submission for longer,
// in each listing, and with x:find-job at growing intervals.
const (
	firstLateLook = time.Minute // after it was found that there is no job; each later distance is twice as long
	// LastLateLook is how long after a submission its job is looked for at most.
	LastLateLook = 24 * time.Hour
	// How long rmctl does not look up a submission again after an undecided query.
	undecidedPause = 5 * time.Minute
	lookUpLimit    = 16 // submissions that one poll looks up
)

// IsLookedForAgain reports whether it is time to look again for the job of a
// submission that is on record as not made.
func IsLookedForAgain(j job.Job, now time.Time) bool {
	if j.Phase != job.PhaseRejected || !j.Missing || j.MissingCount < 1 {
		return false
	}
	again := j.MissingSince.Add(firstLateLook << min(j.MissingCount-1, 20))
	return !now.Before(again) && now.Before(j.Created.Add(LastLateLook))
}

// isForgotten reports whether the scheduler would have forgotten the job of a submission
// by now.
func (c *tracker) isForgotten(job job.Job) bool {
	lookUp := c.definition.Command(config.FindJob)
	return lookUp != nil && lookUp.Remembers > 0 && c.now().After(job.Created.Add(lookUp.Remembers))
}

// settle finds out what became of submissions without a job, as a part of a poll. It adopts
// those whose tags are listed, and looks up some of the others if it is time. The listing
// may be nil.
func (c *tracker) settle(ctx context.Context, turn *poller.Turn, listed *listing.Listing) error {
	c.recordLate(ctx)
	open, err := c.openSubmissions(ctx, turn.Targets)
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(j job.Job) bool {
		return j.Phase == job.PhaseIntended && presence.IsAlive(j.Submitter)
	})
	if len(open) == 0 {
		return nil
	}
	ids := listed.ByIdentity()
	var due []job.Job
	for _, job := range open {
		id, isListed := ids[job.Tag]
		switch {
		case isListed:
			seen, _ := listed.Row(id)
			if _, err := c.acceptListed(ctx, job, id, seen); err != nil {
				return err
			}
			turn.Moved = true
		case c.isLookedUp(job):
			due = append(due, job)
		}
	}
	return c.lookUpEach(ctx, turn, due)
}

// isLookedUp reports whether a poll looks a submission up now.
func (c *tracker) isLookedUp(j job.Job) bool {
	switch {
	case c.definition.Command(config.FindJob) == nil, c.isForgotten(j):
		return false
	case j.Phase == job.PhaseRejected:
		return IsLookedForAgain(j, c.now())
	}
	settled := j.Created.Add(c.submitLimit() + settling)
	return !c.now().Before(settled) && !c.now().Before(j.LastQueried().Add(undecidedPause))
}

// lookUpEach looks submissions up, as many as a poll does.
func (c *tracker) lookUpEach(ctx context.Context, turn *poller.Turn, jobs []job.Job) error {
	return inBatches(ctx, c, turn, jobs[:min(len(jobs), lookUpLimit)], func(batch []job.Job) (isFound bool, err error) {
		problems := make([]error, len(batch))
		var group errgroup.Group
		for i, job := range batch {
			group.Go(func() error {
				batch[i], problems[i] = c.Recover(ctx, job)
				problems[i] = c.noteUndecided(ctx, job, problems[i])
				return nil
			})
		}
		_ = group.Wait() // its functions return nil; errors are in problems
		return slices.ContainsFunc(batch, func(job job.Job) bool { return job.ID != "" }), errors.Join(problems...)
	})
}

// noteUndecided records that a query decided nothing, and returns other errors.
func (c *tracker) noteUndecided(ctx context.Context, j job.Job, err error) error {
	var unconfirmed *UnconfirmedError
	switch {
	case !errors.As(err, &unconfirmed), ctx.Err() != nil:
		return err
	case j.Phase == job.PhaseRejected:
		return nil // the next look is on record already
	}
	return c.store.MarkStale(context.WithoutCancel(ctx), j.Tag, unconfirmed.because(), c.now())
}
