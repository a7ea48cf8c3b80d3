package recovery

import (
	"context"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Dismiss stops following a submission without an outcome, or a job whose end will never
// be observed, at the request of the user. rmctl does not query the scheduler for it any
// more. The last known state stays on record, with the reason. Dismiss refuses a job that
// the scheduler still knows: it may be running.
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
		return job, fmt.Errorf("job %s has ended (%s): nothing to dismiss", job.ID, job.Detail.Word())
	case job.Stale && job.StaleReason != "":
		why = job.StaleReason
	case job.Missing:
		why = fmt.Sprintf("no longer known to the scheduler since %s", job.MissingSince.Format(time.DateTime))
	default:
		return job, fmt.Errorf("job %s was %s at %s and its scheduler still knows it: cancel it, or refresh it with rmctl status",
			job.ID, job.Detail, job.Observed.Format(time.DateTime))
	}
	return store.Dismiss(ctx, job.Tag, byUser+": "+why)
}
