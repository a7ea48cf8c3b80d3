package control

import (
	"context"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Dismiss puts aside, by the will of the user, a submission without an outcome or a
// job whose end nobody will see: it is asked for no more. The state that was seen
// last stays on record, beside why nobody knows better. A job that a scheduler has
// told about, and has not forgotten since, is refused: it may be running.
func Dismiss(ctx context.Context, store *jobstore.Store, job job.Job) (job.Job, error) {
	const byUser = "dismissed by the user"
	if job.ID == "" {
		if err := store.Reject(ctx, job.Tag, byUser); err != nil {
			return job, err
		}
		return store.ByTag(ctx, job.Tag)
	}
	why := ""
	switch {
	case job.Detail.Ended():
		return job, fmt.Errorf("job %s has ended (%s): there is nothing to dismiss", job.ID, job.Detail)
	case job.Stale && job.StaleReason != "":
		why = job.StaleReason
	case job.Missing:
		why = fmt.Sprintf("no longer known to the scheduler since %s", job.MissingSince.Format(time.DateTime))
	default:
		return job, fmt.Errorf("job %s was seen %s at %s, and its scheduler has not forgotten it: cancel it, or look again with rmctl status",
			job.ID, job.Detail, job.Observed.Format(time.DateTime))
	}
	return store.Dismiss(ctx, job.Tag, byUser+": "+why)
}
