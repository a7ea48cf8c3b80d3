package control

import (
	"cmp"
	"context"
	"fmt"

	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// refuseSecond returns an error if the command of a submission is kept open and another such
// command is alive. If two submissions are recorded at the same time, the earlier one
// continues. The tag is empty before the submission is recorded.
func (c *attendant) refuseSecond(ctx context.Context, p *prepared, tag string) error {
	if !p.submit.KeepOpen {
		return nil
	}
	jobs, err := c.store.List(ctx, jobstore.Filter{Target: c.target})
	if err != nil {
		return err
	}
	var own job.Job
	for _, job := range jobs {
		if job.Tag == tag {
			own = job
		}
	}
	for _, job := range jobs {
		if job.Tag == tag || !job.Interactive || job.Definition != c.definition.File || job.Connection != c.sessionKey() || !c.isAttached(job) {
			continue
		}
		if tag != "" && isEarlier(own, job) {
			continue // the other one finds this one
		}
		name := cmp.Or(job.ID, job.Tag)
		return fmt.Errorf("job %s keeps the command of definition %q open, which may be alive once at a time; "+
			"feed that job with rmctl send %s, or end it with rmctl cancel %s", name, c.definition.Name, name, name)
	}
	return nil
}

func isEarlier(one, other job.Job) bool {
	return cmp.Or(one.Created.Compare(other.Created), cmp.Compare(one.Tag, other.Tag)) < 0
}

// isAttached reports whether the process of an interactive job is alive. A stale job that
// this process no longer runs has ended unrecorded.
func (c *tracker) isAttached(job job.Job) bool {
	if !mayBeAttached(job) || !presence.IsAlive(job.Submitter) || job.Missing && c.isKnownByProcess(job) {
		return false
	}
	if job.Submitter != presence.ThisProcess() {
		return true
	}
	_, isOpen := c.open.Load(job.Tag)
	return !job.Stale || isOpen
}

// mayBeAttached reports whether no end of an interactive job is on record.
func mayBeAttached(j job.Job) bool {
	return j.Interactive && !j.Detail.Ended() && j.Phase != job.PhaseRejected && j.Phase != job.PhaseDismissed
}
