package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/listing"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/job"
)

const (
	// How long rmctl does not look up a submission again after an undecided query.
	undecidedPause = 5 * time.Minute
	lookUpLimit    = 16 // submissions that one poll looks up
)

// isForgotten reports whether the scheduler would have forgotten the job of a submission
// by now.
func (c *tracker) isForgotten(job job.Job) bool {
	lookUp := c.definition.Command(config.FindJob)
	return lookUp != nil && lookUp.Remembers > 0 && c.now().After(job.Created.Add(lookUp.Remembers))
}

// settle decides about submissions without a job, as a part of a poll. It adopts those with a
// listed tag, and looks up some of the others if that is due. The listing may be nil.
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
	for i := range open {
		id, isListed := ids[open[i].Tag]
		if !isListed {
			continue
		}
		seen, _ := listed.Row(id)
		if open[i], err = c.acceptListed(ctx, open[i], id, seen); err != nil {
			return err
		}
		turn.Moved = true
	}
	return c.lookUpEach(ctx, turn, slices.DeleteFunc(open, func(j job.Job) bool { return j.ID != "" || !c.isLookedUp(j) }))
}

// isLookedUp reports whether a poll looks a submission up now.
func (c *tracker) isLookedUp(j job.Job) bool {
	switch {
	case c.definition.Command(config.FindJob) == nil, c.isForgotten(j):
		return false
	case j.Phase == job.PhaseRejected:
		return recovery.IsDue(j, c.now())
	}
	settled := j.Created.Add(c.submitLimit() + settling)
	return !c.now().Before(settled) && !c.now().Before(j.LastQueried().Add(undecidedPause))
}

// lookUpEach looks submissions up, as many as a poll does.
func (c *tracker) lookUpEach(ctx context.Context, turn *poller.Turn, jobs []job.Job) error {
	never := func() bool { return false }
	return inBatches(ctx, c, turn, jobs[:min(len(jobs), lookUpLimit)], never, func(batch []job.Job) (isFound bool, err error) {
		found, problems := c.recoverEach(ctx, batch, nil)
		for i := range problems {
			problems[i] = c.noteUndecided(ctx, batch[i], problems[i])
		}
		return slices.ContainsFunc(found, func(job job.Job) bool { return job.ID != "" }), errors.Join(problems...)
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
	return c.store.MarkStale(context.WithoutCancel(ctx), j.Tag, unconfirmed.Because(), c.now())
}
