package recovery

import (
	"time"

	"github.com/rmctl/rmctl/job"
)

// rmctl records a submission as not made if its scheduler has no such job after a while.
// The scheduler may still accept it: rmctl looks for the tag of the submission for longer,
// in each listing, and with x:find-job at growing intervals.
const (
	firstLateLook = time.Minute // after the first look-up without a job; each later delay is twice as long
	// LastLateLook is how long after a submission its job is looked for at most.
	LastLateLook = 24 * time.Hour
)

// IsDue reports whether it is time to look again for the job of a submission that is on
// record as not made.
func IsDue(j job.Job, now time.Time) bool {
	if j.Phase != job.PhaseRejected || !j.Missing || j.MissingCount < 1 {
		return false
	}
	again := j.MissingSince.Add(firstLateLook << min(j.MissingCount-1, 20))
	return !now.Before(again) && now.Before(j.Created.Add(LastLateLook))
}
