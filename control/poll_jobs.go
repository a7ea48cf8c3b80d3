package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/follow"
	"github.com/rmctl/rmctl/internal/listing"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// An ownPoll is one query for the jobs on record of all targets that share it.
type ownPoll struct {
	*tracker
	list        *config.Command
	isWanted    func(tag string) bool // by the user of this process
	open        jobstore.Roll
	listed      *listing.Listing // nil if none was made
	endedListed bool             // whether ended jobs were listed together
}

// query makes one listing, unless at most one job is open, which is queried by itself.
func (o *ownPoll) query(ctx context.Context, turn *poller.Turn) (err error) {
	o.open, err = o.store.OpenJobs(ctx, o.openFilters(turn.Targets)...)
	turn.Jobs = len(o.open)
	if err != nil || len(o.open) <= 1 {
		return err
	}
	begun := o.now()
	o.listed, err = o.listOpen(ctx, o.list, turn, o.open)
	turn.AddBusy(1, begun)
	if err != nil {
		return &QueryError{Err: err}
	}
	turn.Answered = true
	return nil
}

// apply records the listed states. Then it queries the jobs that the listing lacks, and looks
// for those of submissions without a job. If the listing failed, the jobs that it lacks are in
// doubt.
func (o *ownPoll) apply(ctx context.Context, turn *poller.Turn, failure error) error {
	defer o.tracked.Observe(ctx, turn.Targets...)
	if failure != nil {
		return o.applyPart(ctx, turn, failure)
	}
	unlisted, err := o.compare(ctx, turn)
	if err != nil {
		return err
	}
	unlisted, err = o.compareEnded(ctx, turn, follow.Due(unlisted, o.now()))
	if err == nil {
		err = o.queryEach(ctx, turn, unlisted)
	}
	return errors.Join(err, o.settle(ctx, turn, o.listed))
}

// applyPart records the rows of the commands that succeeded before one failed.
func (o *ownPoll) applyPart(ctx context.Context, turn *poller.Turn, failure error) error {
	var query *QueryError
	if !errors.As(failure, &query) {
		return failure
	}
	if o.listed != nil && o.listed.Len() > 0 {
		if _, err := o.compare(ctx, turn); err != nil {
			return errors.Join(failure, err)
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return failure
	}
	return errors.Join(failure, o.store.MarkRollStale(context.WithoutCancel(ctx), o.open, query.Err.Error(), turn.Begun))
}

// compare records the listed states of the open jobs and returns the jobs that the listing
// lacks: all of them without a listing.
func (o *ownPoll) compare(ctx context.Context, turn *poller.Turn) (unlisted []follow.Unlisted, err error) {
	if o.listed == nil {
		err = o.store.EachOf(ctx, o.open, func(job *job.Job) error {
			unlisted = append(unlisted, follow.UnlistedJob(job, o.isWanted(job.Tag)))
			return nil
		})
		return unlisted, err
	}
	err = o.store.ObserveRoll(ctx, o.open, o.listed.Begun, func(job *job.Job) (job.Observation, bool) {
		seen, isListed := o.listed.About(job)
		switch {
		case isListed:
			turn.Moved = turn.Moved || seen.Detail != job.Detail
		case isQueryable(job):
			unlisted = append(unlisted, follow.UnlistedJob(job, o.isWanted(job.Tag)))
		}
		return seen, isListed
	})
	return unlisted, err
}

func tagsOf(jobs []job.Job) []string {
	tags := make([]string, len(jobs))
	for i, job := range jobs {
		tags[i] = job.Tag
	}
	return tags
}

// compareEnded lists together those of the jobs that have ended, if they are more than a few,
// records how they ended, and returns the others.
func (o *ownPoll) compareEnded(ctx context.Context, turn *poller.Turn, jobs []follow.Unlisted) ([]follow.Unlisted, error) {
	list := o.definition.Command(config.ListEnded)
	if list == nil || len(jobs) <= directWidth {
		return jobs, nil
	}
	tags := make([]string, len(jobs))
	for i, job := range jobs {
		tags[i] = job.Tag
	}
	known, err := o.recordedJobs(ctx, tags)
	if err != nil {
		return jobs, err
	}
	begun, isOpen := o.now(), hasTag(known)
	listed, err := o.listEnded(ctx, list, known)
	turn.AddBusy(1, begun)
	o.endedListed = err == nil
	if err != nil { // for example without accounting; queries of single jobs report the failure
		o.log.Info("listing ended jobs together failed", "error", err)
	}
	settled := map[string]bool{}
	err = o.store.ObserveRoll(ctx, o.open, listed.Begun, func(job *job.Job) (job.Observation, bool) {
		seen, isListed := listed.About(job)
		if !isOpen(job.Tag) || !isListed || !seen.Detail.Ended() {
			return seen, false
		}
		settled[job.Tag], turn.Moved = true, true
		return seen, true
	})
	return slices.DeleteFunc(jobs, func(job follow.Unlisted) bool { return settled[job.Tag] }), err
}

// singlesLimit is how long a poll queries jobs one by one. The next poll continues.
const singlesLimit = 20 * time.Second

// queryEach queries jobs one by one. After a listing of ended jobs it does so only as long as the
// next poll can follow soon: its listing may have most of them, as accounting lags behind.
func (o *ownPoll) queryEach(ctx context.Context, turn *poller.Turn, jobs []follow.Unlisted) error {
	end := o.now().Add(singlesLimit)
	isEnough := func() bool { return o.now().After(end) || o.endedListed && turn.IsUsedUp() }
	return inBatches(ctx, o.tracker, turn, jobs, isEnough, func(batch []follow.Unlisted) (hasMoved bool, err error) {
		return o.queryBatch(ctx, batch)
	})
}

// inBatches queries single jobs as a part of a poll, a few at a time, and stops when
// another process has taken over.
func inBatches[T any](ctx context.Context, c *tracker, turn *poller.Turn, jobs []T, isEnough func() bool, query func(batch []T) (hasMoved bool, err error)) error {
	var problems []error
	for batch := range slices.Chunk(jobs, directWidth) {
		if held, err := turn.Renew(ctx); err != nil || !held {
			return errors.Join(append(problems, err)...)
		}
		begun := c.now()
		hasMoved, err := query(batch)
		problems = append(problems, err)
		turn.Moved = turn.Moved || hasMoved
		turn.AddBusy(len(batch), begun)
		if ctx.Err() != nil || isEnough() {
			break
		}
	}
	return errors.Join(problems...)
}

// queryBatch queries some jobs, each by itself and all at the same time.
func (c *tracker) queryBatch(ctx context.Context, batch []follow.Unlisted) (moved bool, err error) {
	tags := make([]string, len(batch))
	for i, job := range batch {
		tags[i] = job.Tag
	}
	known, err := c.store.ByTags(ctx, tags)
	if err != nil {
		return false, err
	}
	jobs := make([]job.Job, 0, len(known))
	for _, tag := range tags {
		if job, isKnown := known[tag]; isKnown {
			jobs = append(jobs, job)
		}
	}
	updated, err := c.queryEachOf(ctx, jobs)
	for i := range updated {
		moved = moved || updated[i].Detail != jobs[i].Detail
	}
	return moved, err
}
