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
	// defaultInterval is the shortest time between two queries where the definition
	// sets none.
	defaultInterval = 5 * time.Second
	// How long a user waits before losing patience.
	shortPatience = time.Second

	directLimit = 64 // jobs that one poll queries one by one
	directWidth = 4  // of these at the same time
)

// Update returns jobs of this target as they are now. Where a query is due, or fresh is
// set, it queries their scheduler: with one listing for all jobs of this user,
// whichever process wants whichever of them, and one by one for those that the listing
// lacks. Other processes that call it meanwhile get the same answer.
//
// If a query fails, the error is a *QueryError, and the jobs have their last known states.
// While the target is paused Update queries nothing, and the error matches [ErrPaused]. If
// a fresh answer would take more than a minute, the error is a *TooSoonError.
func (c *Controller) Update(ctx context.Context, jobs []job.Job, fresh bool) ([]job.Job, error) {
	list := c.definition.Command(config.ListJobs)
	if list == nil || !slices.ContainsFunc(jobs, func(job job.Job) bool { return isQueryable(&job) }) {
		return c.updateEach(ctx, jobs, fresh)
	}
	wish, err := c.wish(ctx, jobs, fresh)
	if err != nil {
		return jobs, err
	}
	pollErr := c.poll(ctx, list, wish)
	var tooSoon *TooSoonError
	if pollErr != nil && !isQueryFailure(pollErr) && !errors.Is(pollErr, ErrPaused) && !errors.As(pollErr, &tooSoon) {
		return jobs, pollErr
	}
	recorded, err := c.store.ByTags(ctx, tagsOf(jobs))
	if err != nil {
		return jobs, errors.Join(pollErr, err)
	}
	updated := slices.Clone(jobs)
	var problems []error
	for i, job := range jobs {
		now, isRecorded := recorded[job.Tag]
		switch {
		case job.Tag == "" || job.ID == "" || job.Interactive:
			updated[i], err = c.Status(ctx, job, fresh)
			problems = append(problems, err)
		case isRecorded:
			// What was submitted does not change.
			now.Attributes, now.Arguments, now.Script, now.Request = job.Attributes, job.Arguments, job.Script, job.Request
			updated[i] = now
		default:
			problems = append(problems, fmt.Errorf("looking up job %s: %w", job.ID, jobstore.ErrNotFound))
		}
	}
	return updated, errors.Join(append([]error{pollErr}, problems...)...)
}

// isQueryable reports whether a listing may have news of a job.
func isQueryable(j *job.Job) bool {
	return j.ID != "" && j.Tag != "" && !j.Detail.Ended() && j.Phase != job.PhaseDismissed && j.Successor == "" && !(j.Interactive && j.ID == j.Tag)
}

// wish returns how new an answer must be: as new as possible if the user insists. For jobs
// that were never queried it includes a short wait.
func (c *tracker) wish(ctx context.Context, jobs []job.Job, fresh bool) (poller.Wish, error) {
	if fresh {
		return poller.Insist, nil
	}
	for _, job := range jobs {
		if !isQueryable(&job) || !c.isUnqueried(job.Source, job.Missing, job.Stale) {
			continue
		}
		// Another process may have queried it meanwhile.
		now, err := c.store.ByTag(ctx, job.Tag)
		if err != nil || c.isUnqueried(now.Source, now.Missing, now.Stale) {
			return poller.Wish{Patience: shortPatience}, err
		}
	}
	return poller.Wish{}, nil
}

// isUnqueried reports whether all that is known of a job comes from its submit command.
func (c *tracker) isUnqueried(source string, missing, stale bool) bool {
	submit := c.definition.Submit(false)
	return submit != nil && source == submit.Name && !missing && !stale
}

// updateEach queries jobs one by one.
func (c *tracker) updateEach(ctx context.Context, jobs []job.Job, fresh bool) ([]job.Job, error) {
	updated := slices.Clone(jobs)
	problems := make([]error, len(jobs))
	var group errgroup.Group
	group.SetLimit(directWidth)
	for i := range updated {
		group.Go(func() error {
			updated[i], problems[i] = c.Status(ctx, updated[i], fresh)
			return nil
		})
	}
	_ = group.Wait() // its functions return nil; errors are in problems
	return updated, errors.Join(problems...)
}

// ErrPaused is matched by the error for a target that rmctl does not query after repeated
// failures.
var ErrPaused = errors.New("the target is paused")

// A TooSoonError says that there is no fresh answer yet: after a slow query rmctl does not
// query the scheduler for more than a minute. The jobs have their last known states.
type TooSoonError struct {
	Until time.Time     // when the scheduler may be queried again
	Took  time.Duration // how long its last query took
}

// Error says that what is shown is older, and when the next query may be made.
func (e *TooSoonError) Error() string {
	return fmt.Sprintf("what is shown was seen earlier: the scheduler took %s for the last query, and is not asked again before %s", e.Took.Round(time.Millisecond), e.Until.Format(time.TimeOnly))
}

// poll makes the shared query of the target if it is due, or waits for the
// process that makes it.
func (c *tracker) poll(ctx context.Context, list *config.Command, wish poller.Wish) error {
	jobs := &ownPoll{tracker: c, list: list}
	outcome, err := c.poller.Jobs(ctx, poller.Request{
		Key: c.ownJobs(), Target: c.target, Interval: c.Interval(), Limit: limitOf(list),
		Query: jobs.query, Apply: jobs.apply, FailureOf: pollFailureOf,
	}, wish)
	switch {
	case err != nil || outcome.Made:
		return err
	case !outcome.Due.IsZero():
		return &TooSoonError{Until: outcome.Due, Took: outcome.Last.Took}
	}
	return earlierError(list, outcome.Last)
}

// resume ends the pause of a target whose queries failed, and reports whether there was
// one.
func (c *Controller) resume(ctx context.Context) (bool, error) {
	return c.store.Polls().Resume(ctx, c.ownJobs())
}
