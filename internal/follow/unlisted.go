package follow

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/job"
)

// How often in a row, and for how long, a scheduler may not know a job before that means
// anything. A list that is incomplete for a moment must not end a wait.
const (
	MaxForgotten     = 4
	LongestForgotten = 15 * time.Second
)

// An Unlisted decides when to query a job that a listing lacks.
type Unlisted struct {
	Tag          string
	isWanted     bool
	missingCount int
	seen, again  time.Time // when its scheduler last had it, and when it may be queried again
}

// UnlistedJob returns the Unlisted of a job.
func UnlistedJob(j *job.Job, isWanted bool) Unlisted {
	return Unlisted{j.Tag, isWanted, j.MissingCount, j.Observed, nextQuery(j)}
}

// Due returns the jobs that may be queried at a time: those that are wanted first, and then
// those that the scheduler will forget first.
func Due(jobs []Unlisted, now time.Time) []Unlisted {
	jobs = slices.DeleteFunc(jobs, func(job Unlisted) bool { return now.Before(job.again) })
	sorting.Stable(jobs, func(a, b Unlisted) int {
		if a.isWanted != b.isWanted {
			return map[bool]int{true: -1, false: 1}[a.isWanted]
		}
		return cmp.Or(cmp.Compare(a.missingCount, b.missingCount), a.seen.Compare(b.seen))
	})
	return jobs
}

// nextQuery returns when to query a missing job again: the longer it has been missing, the
// more rarely, but queries never stop.
func nextQuery(j *job.Job) time.Time {
	if !j.Missing || j.MissingCount < MaxForgotten {
		return time.Time{}
	}
	const growth, longest = 1.25, 48 * time.Hour
	after := float64(LongestForgotten) * math.Pow(growth, float64(j.MissingCount-MaxForgotten))
	return j.MissingSince.Add(time.Duration(min(after, float64(longest)*float64(j.MissingCount))))
}
