package waiting

import (
	"cmp"
	"sync"

	"github.com/rmctl/rmctl/internal/hooks"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

// A report shows what becomes of jobs that are waited for: each change of state or, of many
// jobs on a terminal, a line that counts, and the jobs that failed.
type report struct {
	waiter *Waiter
	until  job.Detail
	ends   *hooks.Ends

	lock     sync.Mutex
	progress *terminal.Progress // nil to show each change
	over     map[string]bool    // by tag or id, the jobs that are waited for no longer
}

func (r *report) counts(all int) {
	r.over = map[string]bool{}
	r.progress = terminal.StartProgress(r.waiter.Messages, false, "waiting for jobs", all)
}

// observe records the current state of a job.
func (r *report) observe(j job.Job) error {
	r.ends.Observe(j)
	if r.progress != nil && (j.Detail.Ended() || Reached(j.DetailOrUndetermined(), r.until)) {
		r.over[cmp.Or(j.Tag, j.Target+"/"+j.ID)] = true
		r.progress.Set(len(r.over))
	}
	return nil
}

// changed takes note of a job that has changed, and shows it.
func (r *report) changed(j job.Job) {
	r.lock.Lock()
	defer r.lock.Unlock()
	_ = r.observe(j) // which returns nil
	switch {
	case r.progress == nil:
		r.waiter.Show(j)
	case j.Detail.Ended() && ExitCode(j) != 0:
		r.progress.Print(func() { r.waiter.Show(j) })
	}
}
