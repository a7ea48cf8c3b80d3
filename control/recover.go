package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// An UnconfirmedError reports that the outcome of a submission is still unknown.
type UnconfirmedError = recovery.UnconfirmedError

// settling is how long after the time limit of a submit command its scheduler may still
// accept the job.
const settling = 30 * time.Second

// Recover finds out what became of a submission without a recorded outcome: rmctl was
// killed, the connection broke or the submit command took too long. If the scheduler has
// the job, Recover adopts it. If it certainly has not, the submission becomes
// job.PhaseRejected; Recover looks it up again later, as the scheduler may accept it late.
// While neither is certain, the error is an *UnconfirmedError. Recover never submits
// anything.
//
// [jobstore.Store.Unresolved] and [jobstore.Store.Unseen] return such submissions.
func (c *tracker) Recover(ctx context.Context, j job.Job) (job.Job, error) {
	jobs, problems := c.recoverEach(ctx, []job.Job{j}, nil)
	return jobs[0], problems[0]
}

// RecoverEach is Recover for several submissions, which it looks up together. It returns an
// error for each, nil for those that are decided. It calls progress, which may be nil, with
// how many it has looked up.
func (c *Controller) RecoverEach(ctx context.Context, jobs []job.Job, progress func(done int)) ([]job.Job, []error) {
	return c.recoverEach(ctx, jobs, progress)
}

func (c *tracker) recoverEach(ctx context.Context, jobs []job.Job, progress func(done int)) ([]job.Job, []error) {
	c.recordLate(ctx)
	jobs, problems := slices.Clone(jobs), make([]error, len(jobs))
	lookUp := c.definition.Command(config.FindJob)
	var open []int
	for i := range jobs {
		var isOpen bool
		if jobs[i], isOpen, problems[i] = recovery.Current(ctx, c.store, jobs[i]); isOpen {
			open = append(open, i)
		}
	}
	if lookUp != nil {
		c.recoverByLookUp(ctx, lookUp, jobs, problems, open, progress)
		return jobs, problems
	}
	for _, i := range open {
		jobs[i], problems[i] = c.recoverWithoutLookUp(ctx, jobs[i])
	}
	return jobs, problems
}

// recoverWithoutLookUp decides about a submission that no command can find, as far as
// possible.
func (c *tracker) recoverWithoutLookUp(ctx context.Context, j job.Job) (job.Job, error) {
	switch {
	case j.Phase == job.PhaseRejected:
		return j, nil // only a listing may find it
	case j.Interactive && presence.PresenceOf(j.Submitter) == presence.Elsewhere:
		return j, recovery.Unconfirmed(&j, fmt.Sprintf("process %s may still be submitting it; check on that host", presence.ProcessName(j.Submitter)), nil)
	case j.Interactive:
		// Its process was a child of the dead one, and has no other name than the tag.
		return j, c.reject(ctx, &j, "rmctl ended before the job was seen to run")
	}
	return j, recovery.Unconfirmed(&j, fmt.Sprintf("definition %q cannot search for submissions (it has no x:find-job); use the scheduler's own commands", c.definition.Name), nil)
}

// recoverByLookUp looks up the submissions with some numbers and records the results.
func (c *tracker) recoverByLookUp(ctx context.Context, lookUp *config.Command, jobs []job.Job, problems []error, open []int, progress func(done int)) {
	queried := c.now() // the scheduler may accept the job during the query
	searched := c.search(ctx, lookUp, jobs, open, progress)
	for _, i := range open {
		if found := searched[i]; found.Err == nil && found.Job.ID != "" {
			jobs[i], problems[i] = c.store.Accept(ctx, jobs[i].Tag, found.Job)
		}
	}
	// Jobs recorded for one submission by now are no candidates for another one.
	unfound := recovery.Unfound{Store: c.store, Claims: c.claims(), Queried: queried, Now: c.now, Settling: c.submitLimit() + settling, Remembers: lookUp.Remembers}
	for _, i := range open {
		if found := searched[i]; found.Err != nil || found.Job.ID == "" {
			jobs[i], problems[i] = unfound.Decide(ctx, jobs[i], found)
		}
	}
}

// reject records that a submission was not made, and that there is nothing to look for.
func (c *tracker) reject(ctx context.Context, job *job.Job, reason string) error {
	err := c.store.Reject(ctx, job.Tag, reason)
	if err != nil && !errors.Is(err, jobstore.ErrDecided) {
		return err
	}
	*job, err = c.store.ByTag(ctx, job.Tag) // also if another process has just found it
	return err
}

// submitLimit is how long a submit command may run.
func (c *session) submitLimit() time.Duration { return limitOf(c.definition.Submit(false)) }

// limitOf is how long a command may run.
func limitOf(of *config.Command) time.Duration {
	if of != nil && of.Timeout > 0 {
		return of.Timeout
	}
	return command.DefaultTimeout
}
