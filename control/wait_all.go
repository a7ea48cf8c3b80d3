package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/follow"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

const (
	// How often a wait checks for new events on record.
	eventLook = 250 * time.Millisecond
	// How often it checks its jobs without events.
	lookAtAll = time.Minute
)

// WaitAll is Wait for many jobs of this target, with queries that all processes share if the
// definition can list jobs. It returns the jobs with their last known states, in order, and
// the first error of each job that it could not wait for. A paused target does not end a wait.
func (c *tracker) WaitAll(ctx context.Context, jobs []job.Job, until job.Detail, changed func(job.Job)) ([]job.Job, error) {
	for _, job := range jobs {
		if err := c.waitable(job); err != nil {
			return jobs, err
		}
	}
	jobs = slices.Clone(jobs)
	defer c.tracked.Observe(ctx, c.target)
	if c.definition.Command(config.ListJobs) == nil {
		return jobs, c.waitEach(ctx, jobs, until, changed)
	}
	w := newWait(c, until, changed)
	for i := range jobs {
		if !w.isOver(jobs[i].Detail) {
			w.add(&jobs[i])
		}
	}
	err := w.all(ctx)
	return jobs, errors.Join(err, c.renew(context.WithoutCancel(ctx), jobs))
}

// WaitRecorded is WaitAll for recorded jobs, by the tags of their submissions. It takes little
// memory for each. The results are in the store.
func (c *Controller) WaitRecorded(ctx context.Context, tags []string, until job.Detail, changed func(job.Job)) error {
	if c.definition.Command(config.ListJobs) == nil {
		jobs, err := c.recordedJobs(ctx, tags)
		if err == nil {
			_, err = c.WaitAll(ctx, jobs, until, changed)
		}
		return err
	}
	defer c.tracked.Observe(ctx, c.target)
	w := newWait(c.tracker, until, changed)
	if err := w.addRecorded(ctx, tags); err != nil {
		return err
	}
	return w.all(ctx)
}

// renew updates jobs from the record.
func (c *tracker) renew(ctx context.Context, jobs []job.Job) error {
	recorded, err := c.store.ByTags(ctx, tagsOf(jobs))
	for i, job := range jobs {
		now, isRecorded := recorded[job.Tag]
		if !isRecorded || job.Interactive {
			continue
		}
		// The submission does not change.
		now.Attributes, now.Arguments, now.Script, now.Request = job.Attributes, job.Arguments, job.Script, job.Request
		jobs[i] = now
	}
	return err
}

// recordedJobs returns the recorded jobs of submissions, without their submissions.
func (c *tracker) recordedJobs(ctx context.Context, tags []string) ([]job.Job, error) {
	recorded, err := c.store.ByTags(ctx, tags)
	if err != nil {
		return nil, err
	}
	jobs := make([]job.Job, len(tags))
	for i, tag := range tags {
		known, isRecorded := recorded[tag]
		if !isRecorded {
			return nil, fmt.Errorf("looking up submission %s: %w", tag, jobstore.ErrNotFound)
		}
		jobs[i] = known
	}
	return jobs, nil
}

// waitEach waits for one job after the other, for definitions without a listing.
func (c *tracker) waitEach(ctx context.Context, jobs []job.Job, until job.Detail, changed func(job.Job)) error {
	var problems []error
	for i := range jobs {
		if jobs[i].Detail.Ended() || reached(jobs[i].Detail, until) {
			continue
		}
		var err error
		jobs[i], err = c.Wait(ctx, jobs[i], until, changed)
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// A wait waits for many jobs with shared queries.
type wait struct {
	tracker *tracker
	until   job.Detail
	changed func(job.Job)

	followed *follow.Jobs
	direct   directLooks
	single   []*job.Job // that need their own queries
}

func newWait(c *tracker, until job.Detail, changed func(job.Job)) *wait {
	if changed == nil {
		changed = func(job.Job) {}
	}
	return &wait{tracker: c, until: until, changed: changed, followed: follow.New(c.store, c.target, c.now, c.isUnqueried), direct: c.directLooks()}
}

func (w *wait) isOver(detail job.Detail) bool { return detail.Ended() || reached(detail, w.until) }

// add adds a job to the wait.
func (w *wait) add(job *job.Job) {
	if job.Tag == "" || job.ID == "" || job.Interactive {
		w.single = append(w.single, job)
		return
	}
	w.followed.Add(job)
}

// addRecorded adds jobs that are on record.
func (w *wait) addRecorded(ctx context.Context, tags []string) error {
	if err := w.followed.FromNow(ctx); err != nil {
		return err
	}
	plain := make(map[string]bool, len(tags)) // whether shared queries are enough for the job
	err := w.tracker.store.EachBrief(ctx, tags, func(j *job.Job) {
		plain[j.Tag] = j.ID != "" && j.Phase != job.PhaseDismissed && !j.Interactive
		if plain[j.Tag] && !w.isOver(j.Detail) {
			w.followed.Add(j)
		}
	})
	if err == nil && w.followed.Count() > 0 {
		_, err = w.tracker.resolver.Command(config.GetJobStatus)
	}
	for _, tag := range tags {
		if err == nil && !plain[tag] {
			plain[tag] = true
			err = w.addByTag(ctx, tag)
		}
	}
	return err
}

// addByTag adds the job of a tag, if its end can be observed.
func (w *wait) addByTag(ctx context.Context, tag string) error {
	job, err := w.tracker.store.ByTag(ctx, tag)
	if err == nil {
		err = w.tracker.waitable(job)
	}
	if err == nil && !w.isOver(job.Detail) {
		w.add(&job)
	}
	return err
}

// all waits until nothing is left to wait for.
func (w *wait) all(ctx context.Context) error {
	var problems []error
	for w.count() > 0 {
		moved, ended, err := w.look(ctx)
		problems = append(problems, ended...)
		if err != nil && !isQueryFailure(err) && !errors.Is(err, ErrPaused) || ctx.Err() != nil {
			return errors.Join(append(problems, err, ctx.Err())...)
		}
		if w.count() == 0 {
			break
		}
		if moved {
			continue
		}
		if err := w.untilNews(ctx); err != nil {
			return errors.Join(append(problems, err)...)
		}
	}
	return errors.Join(problems...)
}

func (w *wait) count() int { return w.followed.Count() + len(w.single) }

// look makes a query if one is due, reports the jobs that have moved, and removes the jobs
// that are over, or whose end will never be observed, which are the problems.
func (w *wait) look(ctx context.Context) (moved bool, problems []error, err error) {
	pollErr := w.poll(ctx)
	if pollErr != nil && !isQueryFailure(pollErr) && !errors.Is(pollErr, ErrPaused) {
		return false, nil, pollErr
	}
	err = w.followed.EachChange(ctx, func(job job.Job, hasMoved bool) (isDone bool) {
		moved = moved || hasMoved
		isDone, problem := w.report(job, hasMoved)
		if problem != nil {
			problems = append(problems, problem)
		}
		return isDone
	})
	if err != nil || len(w.single) == 0 {
		return moved, problems, errors.Join(pollErr, err)
	}
	hasMoved, singleProblems, err := w.lookAtSingle(ctx)
	return moved || hasMoved, append(problems, singleProblems...), errors.Join(pollErr, err)
}

// poll queries the jobs directly while that is quicker, or else makes the shared query if
// it is due and may concern any of them.
func (w *wait) poll(ctx context.Context) error {
	if w.followed.Count() == 0 && !slices.ContainsFunc(w.single, isQueryable) {
		return nil
	}
	if isQueried, err := w.direct.look(ctx, w.followed); err != nil || isQueried {
		return err
	}
	wish := poller.Wish{}
	isUnqueried, err := w.followed.HasUnqueried(ctx)
	if err != nil {
		return err
	}
	if isUnqueried {
		wish.Patience = shortPatience
	}
	return w.tracker.poll(ctx, w.tracker.definition.Command(config.ListJobs), wish, w.followed.Has)
}

// report reports a job as it is now, and returns whether the wait for it is over; a problem
// is why it is over without an end.
func (w *wait) report(job job.Job, hasMoved bool) (isDone bool, problem error) {
	if hasMoved {
		w.direct.moved(job.Tag)
		w.changed(job)
	}
	problem = w.tracker.missing(job, job.MissingCount)
	if job.Successor != "" {
		problem = &MissingError{Job: job}
	}
	return problem != nil || w.isOver(job.Detail), problem
}

// lookAtSingle queries each job that shared queries do not cover.
func (w *wait) lookAtSingle(ctx context.Context) (moved bool, problems []error, err error) {
	before := make([]job.Job, len(w.single))
	for i, job := range w.single {
		before[i] = *job
	}
	updated, err := w.tracker.updateEach(ctx, before, func(ctx context.Context, job job.Job) (job.Job, error) { return w.tracker.Status(ctx, job, false) })
	left := w.single[:0]
	for i, job := range w.single {
		*job = updated[i]
		hasMoved := job.Detail != before[i].Detail || job.Native != before[i].Native
		moved = moved || hasMoved
		isDone, problem := w.report(*job, hasMoved)
		if problem != nil {
			problems = append(problems, problem)
		}
		if !isDone {
			left = append(left, job)
		}
	}
	w.single = left
	return moved, problems, err
}

// untilNews waits until a process has recorded an event, or a query may be due.
func (w *wait) untilNews(ctx context.Context) error {
	c := w.tracker
	due := w.direct.next
	if due.IsZero() {
		due = c.now().Add(min(c.Interval(), lookAtAll))
	}
	for {
		if err := c.pause(ctx, max(time.Millisecond, min(eventLook, due.Sub(c.now())))); err != nil {
			return err
		}
		isNews, err := w.followed.IsNews(ctx)
		if err != nil || isNews || !c.now().Before(due) {
			return err
		}
	}
}

// Interval returns how often the definition and the target allow a listing: the shortest time
// from the beginning of one listing to that of the next.
func (c *tracker) Interval() time.Duration {
	return c.intervalOf(c.definition.Command(config.ListJobs))
}

// intervalOf is the shortest time between two runs of a command, which may be nil.
func (c *session) intervalOf(query *config.Command) time.Duration {
	if query != nil && query.Interval > 0 {
		return max(query.Interval, c.leastInterval)
	}
	return max(defaultInterval, c.leastInterval)
}
