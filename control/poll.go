package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

const (
	// defaultInterval is the shortest time between two queries if the definition sets none.
	defaultInterval = 5 * time.Second
	// How long a user waits before losing patience.
	shortPatience = time.Second

	directWidth  = 4  // jobs that are queried one by one at the same time
	directAtOnce = 16 // jobs that a user may want to be queried one by one, without a listing
)

// Update returns jobs of this target with their current states. If a query is due, it queries
// the scheduler: with one listing for all jobs of this user, and then one by one for jobs that
// the listing lacks. Other processes that call it meanwhile share the answer.
//
// If fresh is set, each job has a current answer, or one that another process got less than a
// second before: a few jobs are queried directly, more of them with a listing, for which
// Update waits until the definition allows it. A job without such an answer is marked stale,
// and the error gives the reason.
//
// If a query fails, the error is a *QueryError, and the jobs have their last known states.
// While the target is paused Update queries nothing unless fresh is set, and the error matches
// [ErrPaused]. If no listing is allowed for more than a minute, the error is a *TooSoonError.
func (c *Controller) Update(ctx context.Context, jobs []job.Job, fresh bool) ([]job.Job, error) {
	defer c.tracked.Observe(ctx, c.target) // once their states are on record
	list := c.definition.Command(config.ListJobs)
	switch {
	case list == nil || !slices.ContainsFunc(jobs, func(job job.Job) bool { return isQueryable(&job) }):
		return c.updateEach(ctx, jobs, func(ctx context.Context, job job.Job) (job.Job, error) { return c.Status(ctx, job, fresh) })
	case fresh:
		return c.updateFresh(ctx, list, jobs)
	}
	wish, err := c.wish(ctx, jobs)
	if err != nil {
		return jobs, err
	}
	pollErr := c.poll(ctx, list, wish, hasTag(jobs))
	if pollErr != nil && !isQueryFailure(pollErr) && !errors.Is(pollErr, ErrPaused) {
		return jobs, pollErr
	}
	updated, err := c.recordedNow(ctx, jobs, func(ctx context.Context, job job.Job) (job.Job, error) { return c.Status(ctx, job, false) })
	return updated, errors.Join(pollErr, err)
}

// hasTag returns a function that reports whether any of the jobs has a tag.
func hasTag(jobs []job.Job) func(string) bool {
	tags := make(map[string]bool, len(jobs))
	for _, job := range jobs {
		tags[job.Tag] = true
	}
	return func(tag string) bool { return tags[tag] }
}

// recordedNow returns jobs with their recorded states. It queries jobs that no listing
// updates.
func (c *tracker) recordedNow(ctx context.Context, jobs []job.Job, query statusFunc) ([]job.Job, error) {
	recorded, err := c.store.ByTags(ctx, tagsOf(jobs))
	if err != nil {
		return jobs, err
	}
	updated := slices.Clone(jobs)
	var problems []error
	for i, job := range jobs {
		now, isRecorded := recorded[job.Tag]
		switch {
		case job.Tag == "" || job.ID == "" || job.Interactive:
			updated[i], err = query(ctx, job)
			problems = append(problems, err)
		case isRecorded:
			// The submission does not change.
			now.Attributes, now.Arguments, now.Script, now.Request = job.Attributes, job.Arguments, job.Script, job.Request
			updated[i] = now
		default:
			problems = append(problems, fmt.Errorf("looking up job %s: %w", job.ID, jobstore.ErrNotFound))
		}
	}
	return updated, errors.Join(problems...)
}

// isQueryable reports whether a listing may have news of a job.
func isQueryable(j *job.Job) bool {
	return j.ID != "" && j.Tag != "" && !j.Detail.Ended() && j.Phase != job.PhaseDismissed && j.Successor == "" && !(j.Interactive && j.ID == j.Tag)
}

// wish returns how new an answer must be. For jobs that were never queried it includes a
// short wait.
func (c *tracker) wish(ctx context.Context, jobs []job.Job) (poller.Wish, error) {
	for _, job := range jobs {
		if !isQueryable(&job) || !c.isUnqueried(&job) {
			continue
		}
		// Another process may have just queried it.
		now, err := c.store.ByTag(ctx, job.Tag)
		if err != nil || c.isUnqueried(&now) {
			return poller.Wish{Patience: shortPatience}, err
		}
	}
	return poller.Wish{}, nil
}

// isUnqueried reports whether only the submit command has reported about a job.
func (c *tracker) isUnqueried(j *job.Job) bool {
	submit := c.definition.Submit(false)
	return submit != nil && j.Source == submit.Name && !j.Missing && !j.Stale
}

// A statusFunc returns the current state of a job.
type statusFunc func(context.Context, job.Job) (job.Job, error)

// updateEach updates jobs one by one, a few at the same time.
func (c *tracker) updateEach(ctx context.Context, jobs []job.Job, query statusFunc) ([]job.Job, error) {
	updated := slices.Clone(jobs)
	problems := make([]error, len(jobs))
	var group errgroup.Group
	group.SetLimit(directWidth)
	for i := range updated {
		group.Go(func() error {
			updated[i], problems[i] = query(ctx, updated[i])
			return nil
		})
	}
	_ = group.Wait() // its functions return nil; errors are in problems
	return updated, errors.Join(problems...)
}

// queryEachOf queries jobs one by one, a few at the same time.
func (c *tracker) queryEachOf(ctx context.Context, jobs []job.Job) ([]job.Job, error) {
	return c.updateEach(ctx, jobs, c.queryStatus)
}

// ErrPaused is matched by the error for a target that rmctl does not query after repeated
// failures.
var ErrPaused = errors.New("the target is paused")

// A TooSoonError reports that there is no fresh answer yet: the definition, or a slow
// scheduler, allows no listing for more than a minute. The jobs have their last known states.
type TooSoonError struct {
	Until time.Time // when the jobs may be listed again
}

// Error says that the shown states are older, and when the next listing is possible.
func (e *TooSoonError) Error() string {
	return fmt.Sprintf("showing earlier states: the jobs are listed again at %s; name a few jobs to query only those", e.Until.Format(time.TimeOnly))
}

// poll makes the shared query of the target if it is due, or waits for the process that makes
// it. Wanted jobs come first.
func (c *tracker) poll(ctx context.Context, list *config.Command, wish poller.Wish, isWanted func(tag string) bool) error {
	jobs := &ownPoll{tracker: c, list: list, isWanted: isWanted}
	outcome, err := c.poller.Jobs(ctx, poller.Request{
		Key: c.ownJobs(), Target: c.target, Interval: c.Interval(), Limit: limitOf(list), Share: list.Busy,
		Query: jobs.query, Apply: jobs.apply, FailureOf: pollFailureOf,
	}, wish)
	switch {
	case err != nil || outcome.Made:
		return err
	case !outcome.Due.IsZero():
		return &TooSoonError{Until: outcome.Due}
	}
	return earlierError(list, outcome.Last)
}

// resume ends the pause of a target whose queries failed, and reports whether there was
// one.
func (c *Controller) resume(ctx context.Context) (bool, error) {
	return c.store.Polls().Resume(ctx, c.ownJobs())
}
