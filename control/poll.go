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
	// So long a user waits without wondering.
	shortPatience = time.Second
	directLimit   = 64 // jobs that one poll asks for one by one
	directWidth   = 4  // of these at the same time
)

// Update returns what is known of jobs of this target, asking their scheduler
// where that is due: with one listing for all jobs of this user, whichever
// process asks for whichever of them, and one by one for those that the listing
// does not tell about. Other processes that ask meanwhile get the same answer. A
// failure to ask is a *QueryError; the jobs are returned with it as they were
// known. While the target is paused nothing is asked and the error matches
// [ErrPaused]; where a fresh answer would take more than a minute it is a
// *TooSoonError.
func (c *Controller) Update(ctx context.Context, jobs []job.Job, freshness Freshness) ([]job.Job, error) {
	list := c.definition.Command(config.ListJobs)
	if list == nil || !slices.ContainsFunc(jobs, func(job job.Job) bool { return isAsked(&job) }) {
		return c.updateEach(ctx, jobs, freshness)
	}
	wish, err := c.wish(ctx, jobs, freshness)
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
			updated[i], err = c.Status(ctx, job, freshness)
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

// isAsked reports whether a listing may tell about a job.
func isAsked(j *job.Job) bool {
	return j.ID != "" && j.Tag != "" && !j.Detail.Ended() && j.Phase != job.PhaseDismissed && j.Successor == "" && !(j.Interactive && j.ID == j.Tag)
}

// wish is how new an answer is to be: as new as may be where the user asks for that.
// Jobs that were never asked for are worth a moment's wait.
func (c *tracker) wish(ctx context.Context, jobs []job.Job, freshness Freshness) (poller.Wish, error) {
	if freshness == Fresh {
		return poller.Insist, nil
	}
	for _, job := range jobs {
		if !isAsked(&job) || !c.isUnasked(job.Source, job.Missing, job.Stale) {
			continue
		}
		// Another process may have asked meanwhile.
		now, err := c.store.ByTag(ctx, job.Tag)
		if err != nil || c.isUnasked(now.Source, now.Missing, now.Stale) {
			return poller.Wish{Patience: shortPatience}, err
		}
	}
	return poller.Wish{}, nil
}

// isUnasked reports whether all that is known of a job is what its submit command,
// as the source, told.
func (c *tracker) isUnasked(source string, missing, stale bool) bool {
	submit := c.definition.Submit(false)
	return submit != nil && source == submit.Name && !missing && !stale
}

// updateEach asks for jobs one by one.
func (c *tracker) updateEach(ctx context.Context, jobs []job.Job, freshness Freshness) ([]job.Job, error) {
	updated := slices.Clone(jobs)
	problems := make([]error, len(jobs))
	var group errgroup.Group
	group.SetLimit(directWidth)
	for i := range updated {
		group.Go(func() error {
			updated[i], problems[i] = c.Status(ctx, updated[i], freshness)
			return nil
		})
	}
	_ = group.Wait() // its functions return nil; errors are in problems
	return updated, errors.Join(problems...)
}

// ErrPaused is matched by the error for a target that was not asked, since asking
// it has failed again and again.
var ErrPaused = errors.New("the target is paused")

// TooSoonError tells that a fresh answer was wanted, but that the scheduler is not
// to be asked again for more than a minute: its last query took so long that the
// next one has to wait. The jobs are as they were seen last.
type TooSoonError struct {
	Until time.Time     // when the scheduler may be asked again
	Took  time.Duration // how long its last query took
}

// Error tells that what is shown is older, and when the scheduler is asked again.
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
	return errorOf(outcome.Last)
}

// Resume ends the pause of a target that could not be asked, and reports whether
// there was one.
func (c *Controller) Resume(ctx context.Context) (bool, error) {
	return c.store.ResumePoll(ctx, c.ownJobs())
}
