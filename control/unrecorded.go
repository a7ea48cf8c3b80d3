package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// recordLate records the outcomes of submissions that could not be recorded before. Until
// then, a submission of a process that is alive counts as being made.
func (c *tracker) recordLate(ctx context.Context) {
	if err := c.store.SettleLate(ctx); err != nil && ctx.Err() == nil {
		c.log.Warn("still cannot record the outcome of a submission", "error", err)
	}
}

// recordEnd records how the process of an interactive job has ended, which only this
// process has observed.
func (c *tracker) recordEnd(ctx context.Context, tag string, end job.Observation) (job.Job, error) {
	job, err := c.store.Settle(ctx, jobstore.Outcome{Tag: tag, Ended: &end})
	if isKept(err) {
		err = fmt.Errorf("the job has ended (%s, exit code %d); this is kept next to the record until there is room: %w", end.Detail, *end.ExitCode, err)
	}
	return job, err
}

// isKept reports whether unrecorded data is kept next to the record.
func isKept(err error) bool { return errors.Is(err, jobstore.ErrKept) }

// doubt records that the outcome of a submission is unknown.
func (c *tracker) doubt(ctx context.Context, tag string, why error) error {
	_, err := c.store.Settle(ctx, jobstore.Outcome{Tag: tag, Doubted: why.Error()})
	return err
}

// refused records that a submission was not made.
func (c *tracker) refused(ctx context.Context, tag string, why error) error {
	_, err := c.store.Settle(ctx, jobstore.Outcome{Tag: tag, Refused: why.Error()})
	return err
}

// accepted records the job that a submission has become.
func (c *tracker) accepted(ctx context.Context, tag string, as job.Job) (job.Job, error) {
	return c.store.Settle(ctx, jobstore.Outcome{Tag: tag, ID: as.ID, ShortID: as.ShortID, Accepted: &as.Observation})
}
