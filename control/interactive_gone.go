package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/follow"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/job"
)

// isKnownByProcess reports whether no scheduler knows a job: the process that it is
// attached to, and nobody else, records its end.
func (c *tracker) isKnownByProcess(job job.Job) bool {
	return job.Interactive && (job.ID == job.Tag || c.definition.Command(config.GetJobStatus) == nil)
}

// statusByProcess returns the record of such a job. If its process is gone and recorded
// no end, the job is missing from then on, or has ended if its scheduler accepted to cancel
// it. Whether a process of another host lives is unknown here: the record counts, and the
// doubt is returned but not recorded.
func (c *tracker) statusByProcess(ctx context.Context, tag string) (job.Job, error) {
	job, err := c.store.ByTag(ctx, tag)
	switch {
	case err != nil || job.Detail.Ended():
		return job, err
	case job.Missing && !job.CancelAccepted.IsZero():
		return c.endLost(ctx, job)
	case job.Missing:
		return job, nil
	}
	switch presence.PresenceOf(job.Submitter) {
	case presence.IsGone:
		c.recordLate(ctx) // it may have had no room to record the end
		job, err = c.store.ByTag(ctx, tag)
		switch {
		case err != nil || job.Detail.Ended():
			return job, err
		case !job.CancelAccepted.IsZero():
			return c.endLost(ctx, job)
		}
		return c.lose(ctx, tag, fmt.Sprintf("the process that it was attached to (%s) is gone without having seen its end", presence.ProcessName(job.Submitter)))
	case presence.Elsewhere:
		job.Stale = true
		job.StaleReason = fmt.Sprintf("process %s may still be attached to it; check on that host", presence.ProcessName(job.Submitter))
	}
	return job, nil
}

// endLost records the end of a job whose process is gone and whose scheduler accepted to
// cancel it.
func (c *tracker) endLost(ctx context.Context, lost job.Job) (job.Job, error) {
	return c.store.Observe(ctx, lost.Tag, job.Observation{
		Detail: job.Completed, Observed: c.now(),
		Reason: fmt.Sprintf("the process that it was attached to (%s) is gone", presence.ProcessName(lost.Submitter)),
	})
}

// lose records that the end of a job will never be observed, and why. It does not change a job
// whose end is already on record.
func (c *tracker) lose(ctx context.Context, tag, reason string) (job.Job, error) {
	now := c.now()
	job, err := c.store.MarkMissing(ctx, tag, now)
	if err != nil || !job.Missing {
		return job, err
	}
	if err := c.store.MarkStale(ctx, tag, reason, now); err != nil {
		return job, err
	}
	return c.store.ByTag(ctx, tag)
}

// missing returns why a wait for a job ends whose end cannot be seen any more, nil if it may
// continue. The scheduler is queried a few more times first.
func (c *tracker) missing(j job.Job, forgotten int) error {
	switch {
	case j.Phase == job.PhaseDismissed:
		return &MissingError{Job: j, Reason: j.Error}
	case !j.Missing:
		return nil
	case c.isKnownByProcess(j):
		return &MissingError{Job: j, Reason: j.StaleReason}
	case forgotten >= follow.MaxForgotten && c.now().Sub(j.MissingSince) >= follow.LongestForgotten && !c.isAbsenceAwaited(j):
		return &MissingError{Job: j}
	}
	return nil
}

// absencePatience is how long a wait continues for a missing job, if the definition gives long
// absence a state.
const absencePatience = time.Hour

// isAbsenceAwaited reports whether that a job is missing will soon mean a state.
func (c *tracker) isAbsenceAwaited(j job.Job) bool {
	status := c.definition.Command(config.GetJobStatus)
	if status == nil || c.now().Sub(j.MissingSince) >= absencePatience {
		return false
	}
	return slices.ContainsFunc(append([]*config.Command{status}, status.Fallbacks...), func(each *config.Command) bool {
		return each.Read != nil && each.Read.Absent != nil && each.Read.Absent.Is != ""
	})
}
