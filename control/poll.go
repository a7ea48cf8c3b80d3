package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// How often a scheduler is asked. The definition sets the shortest interval; the
// others bound how far it grows.
const (
	defaultInterval = 5 * time.Second
	longestInterval = time.Minute
	// A scheduler is not kept busy with our queries for more than a twentieth of the time,
	// from the beginning of one to that of the next or, after an outlier, of all of late.
	quietFactor = 20
	// A poll that takes longer than this, beyond what its listing may take, without
	// renewing its claim is one of a process that hangs.
	pollLease  = 30 * time.Second
	claimPause = 50 * time.Millisecond
	// So long a user waits without wondering.
	shortPatience = time.Second
	directLimit   = 64 // jobs that one poll asks for one by one
	directWidth   = 4  // of these at the same time
)

// After so many failures in a row a target is paused: it is asked only now and
// then, to see whether it is back.
const (
	pausingFailures = 8
	longestBackOff  = 5 * time.Minute
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
	patience, err := c.patience(ctx, jobs, freshness)
	if err != nil {
		return jobs, err
	}
	pollErr := c.poll(ctx, list, freshness, patience)
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

// patience is how long to wait for the moment at which the definition lets its
// scheduler be asked again: as long as it takes for a fresh answer, shortly for
// jobs that it was never asked for.
func (c *Controller) patience(ctx context.Context, jobs []job.Job, freshness Freshness) (time.Duration, error) {
	if freshness == Fresh {
		return longestInterval, nil
	}
	for _, job := range jobs {
		if !isAsked(&job) || !c.isUnasked(job.Source, job.Missing, job.Stale) {
			continue
		}
		// Another process may have asked meanwhile.
		now, err := c.store.ByTag(ctx, job.Tag)
		if err != nil || c.isUnasked(now.Source, now.Missing, now.Stale) {
			return shortPatience, err
		}
	}
	return 0, nil
}

// isUnasked reports whether all that is known of a job is what its submit command,
// as the source, told.
func (c *Controller) isUnasked(source string, missing, stale bool) bool {
	submit := c.definition.Submit(false)
	return submit != nil && source == submit.Name && !missing && !stale
}

// updateEach asks for jobs one by one.
func (c *Controller) updateEach(ctx context.Context, jobs []job.Job, freshness Freshness) ([]job.Job, error) {
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
func (c *Controller) poll(ctx context.Context, list *config.Command, freshness Freshness, patience time.Duration) error {
	asked, insists := c.now(), freshness == Fresh
	if patience > 0 {
		freshness = Fresh // what is known is not enough
	}
	var slow outlier
	dueAt := func(last jobstore.Poll) time.Time {
		if insists && last.Failures > 0 {
			last.Failures, last.Took = 0, 0 // a user who asks does not wait for the end of a back-off
		}
		due := c.dueAt(last, freshness, asked)
		if slow.isLast(last) {
			last.Took = 0
			due = earlier(due, later(slow.due, c.dueAt(last, freshness, asked)))
		}
		return due
	}
	for {
		claim := jobstore.Claim{PollKey: c.ownJobs(), Target: c.target, Holder: c.holder, Lease: pollLease + limitOf(list), Now: c.now(), IsGone: isHolderGone,
			Due: func(last jobstore.Poll) bool { return !c.now().Before(dueAt(last)) }}
		last, granted, err := c.store.ClaimPoll(ctx, claim)
		switch {
		case err != nil:
			return err
		case granted:
			return c.makePoll(ctx, list, claim, last)
		}
		known := slow
		if slow, err = c.outlierOf(ctx, last); err != nil {
			return err
		}
		switch {
		case slow != known && claim.Due(last):
			continue // it is due after all
		case last.Holder == "" && insists && last.Failures == 0 && !last.Begun.After(asked) && dueAt(last).After(asked.Add(patience)):
			return &TooSoonError{Until: dueAt(last), Took: last.Took}
		case last.Holder == "" && (last.Failures > 0 && !insists || last.Begun.After(asked) || dueAt(last).After(asked.Add(patience))):
			return pollFailure(last) // what is known is recent enough, or nobody is to ask now
		case freshness == Recent && !claim.Due(last):
			return pollFailure(last) // what is known is recent enough, though somebody asks
		}
		if err := c.pause(ctx, claimPause); err != nil {
			return err
		}
	}
}

// dueAt returns when a target may be asked again. A user who wants a fresh answer
// still waits for the definition's interval, and takes the answer of a query that
// has begun since then.
func (c *Controller) dueAt(last jobstore.Poll, freshness Freshness, asked time.Time) time.Time {
	if last.Begun.IsZero() || last.Begun.After(c.now()) { // a clock was set back
		return time.Time{}
	}
	shortest := c.shortestInterval()
	wait := max(shortest, last.Took*quietFactor)
	switch {
	case last.Failures > 0:
		// A query that hung until its time was up does not tell how long a good one takes.
		wait = max(min(wait, longestBackOff), shortest, c.backOff(shortest, last))
	case freshness == Fresh:
		if last.Begun.After(asked) {
			wait = max(wait, longestInterval) // it was asked for us, too
		}
	default:
		wait = max(wait, min(last.Begun.Sub(last.Changed)/6, max(longestInterval, shortest)))
	}
	return last.Begun.Add(wait)
}

// backOff returns how long a target is left alone that failed: twice as long each
// time, and not exactly, so that many users do not come back at one moment.
func (c *Controller) backOff(shortest time.Duration, last jobstore.Poll) time.Duration {
	wait := shortest << min(last.Failures-1, 20)
	if wait <= 0 || wait > longestBackOff {
		wait = longestBackOff
	}
	return wait + time.Duration(c.jitter()*float64(wait)/4)
}

// makePoll asks for all jobs of the targets that share the query and records what was learned.
func (c *Controller) makePoll(ctx context.Context, list *config.Command, claim jobstore.Claim, last jobstore.Poll) error {
	kept := context.WithoutCancel(ctx) // the claim has to end, however the caller's work does
	next := jobstore.Poll{Begun: c.now(), Changed: last.Changed}
	if next.Changed.IsZero() {
		next.Changed = next.Begun
	}
	open, err := c.openJobs(ctx, last.Targets)
	var asked asking
	if err == nil {
		next.Jobs = open.Len()
		if asked, err = c.askFor(ctx, list, claim, last.Targets, open); asked.moved {
			next.Changed = c.now()
		}
		next.Took = asked.busy
	}
	switch {
	case ctx.Err() != nil:
		// Giving up tells nothing of the target.
		next.Failures, next.Error, next.Failure, next.Paused = last.Failures, last.Error, last.Failure, last.Paused
	case isQueryFailure(err) && !asked.listed: // else it answers, but for some jobs, which tell so
		next.Failures, next.Error, next.Failure, next.Paused = last.Failures+1, wordsOf(err), failureOf(err), last.Paused
		if IsUnreached(err) {
			next.Took = 0
		}
		if next.Failures >= pausingFailures && next.Paused.IsZero() {
			next.Paused = c.now()
		}
	case err == nil && last.Failures > 0:
		next.Took = 0 // it may have waited for the end of the outage
	}
	return errors.Join(err, c.store.FinishPoll(kept, claim, next, nil))
}

// An asking is what came of the commands of a poll.
type asking struct {
	moved  bool          // whether any job is in another state, or was found
	listed bool          // whether there is a whole listing
	busy   time.Duration // that the scheduler was kept busy: of commands at the same time the sum
}

// add adds what some more commands gave, so many at the same time since a time.
func (a *asking) add(c *Controller, moved bool, atOnce int, since time.Time) {
	a.moved = a.moved || moved
	a.busy += time.Duration(atOnce) * c.now().Sub(since)
}

// askFor asks with one listing, then one by one for those jobs that it does not
// tell about, and looks for those of submissions that have none.
func (c *Controller) askFor(ctx context.Context, list *config.Command, claim jobstore.Claim, targets []string, open jobstore.Roll) (asked asking, err error) {
	begun := c.now()
	var listed *listing
	if open.Len() > 1 {
		listed, err = c.listOpen(ctx, list, claim, open)
		asked.add(c, false, 1, begun)
		if err != nil {
			failure := &QueryError{Err: err}
			if listed != nil && len(listed.rows) > 0 { // what a part of the commands told counts
				if asked.moved, _, err = c.compare(ctx, open, listed); err != nil {
					return asked, errors.Join(failure, err)
				}
				err = failure.Err
			}
			if errors.Is(ctx.Err(), context.Canceled) {
				return asked, failure
			}
			return asked, errors.Join(failure, c.store.MarkRollStale(context.WithoutCancel(ctx), open, err.Error(), begun))
		}
		asked.listed = true
	}
	moved, untold, err := c.compare(ctx, open, listed)
	asked.moved = moved
	if err != nil {
		return asked, err
	}
	err = c.askEach(ctx, claim, untold, &asked)
	return asked, errors.Join(err, c.settle(ctx, claim, targets, listed, &asked))
}

// compare records what a listing, nil where none was made, tells about jobs, and
// returns those that it does not tell about.
func (c *Controller) compare(ctx context.Context, open jobstore.Roll, listed *listing) (moved bool, untold []unlisted, err error) {
	if listed == nil {
		err = c.store.EachOf(ctx, open, func(job *job.Job) error {
			untold = append(untold, c.unlistedOf(job))
			return nil
		})
		return false, untold, err
	}
	err = c.store.ObserveRoll(ctx, open, listed.begun, func(job *job.Job) (job.Observation, bool) {
		seen, isListed := listed.about(job)
		switch {
		case isListed:
			moved = moved || seen.Detail != job.Detail
		case isAsked(job):
			untold = append(untold, c.unlistedOf(job))
		}
		return seen, isListed
	})
	return moved, untold, err
}

// An unlisted job is one that a listing does not tell about: as much of it as
// decides whether it is asked for by itself.
type unlisted struct {
	tag          string
	missingCount int
	asked, again time.Time // when it was asked for last, and when it may be again
}

func (c *Controller) unlistedOf(job *job.Job) unlisted {
	again := askedAgain(job)
	if askable := c.askableAt(job); askable.After(again) {
		again = askable
	}
	return unlisted{job.Tag, job.MissingCount, job.LastQueried(), again}
}

func tagsOf(jobs []job.Job) []string {
	tags := make([]string, len(jobs))
	for i, job := range jobs {
		tags[i] = job.Tag
	}
	return tags
}

// askEach asks for jobs one by one, those first that were seen longest ago: where
// these are too many for one poll the others come next.
func (c *Controller) askEach(ctx context.Context, claim jobstore.Claim, jobs []unlisted, asked *asking) (err error) {
	jobs = slices.DeleteFunc(jobs, func(job unlisted) bool { return c.now().Before(job.again) })
	slices.SortStableFunc(jobs, func(a, b unlisted) int {
		return cmp.Or(cmp.Compare(a.missingCount, b.missingCount), a.asked.Compare(b.asked))
	})
	for batch := range slices.Chunk(jobs[:min(len(jobs), directLimit)], directWidth) {
		claim.Now = c.now()
		if held, renewErr := c.store.RenewPoll(ctx, claim); renewErr != nil || !held {
			return errors.Join(err, renewErr) // another process has taken over
		}
		begun := c.now()
		moved, batchErr := c.askForThese(ctx, batch)
		asked.add(c, moved, len(batch), begun)
		err = errors.Join(err, batchErr)
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

// askForThese asks for some jobs, each by itself and all at the same time.
func (c *Controller) askForThese(ctx context.Context, batch []unlisted) (moved bool, err error) {
	tags := make([]string, len(batch))
	for i, job := range batch {
		tags[i] = job.tag
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
	updated, err := c.updateEach(ctx, jobs, Fresh)
	for i := range updated {
		moved = moved || updated[i].Detail != jobs[i].Detail
	}
	return moved, err
}

// askedAgain returns when to ask again for a job that is missing: seldom once it
// has been missing for long, but never never.
func askedAgain(job *job.Job) time.Time {
	if !job.Missing || job.MissingCount < maxForgotten {
		return time.Time{}
	}
	return job.MissingSince.Add(time.Minute << min(job.MissingCount-maxForgotten, 12))
}

// Resume ends the pause of a target that could not be asked, and reports whether
// there was one.
func (c *Controller) Resume(ctx context.Context) (bool, error) {
	return c.store.ResumePoll(ctx, c.ownJobs())
}
