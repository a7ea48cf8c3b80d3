package control

import (
	"context"
	"fmt"
	"sync"

	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// An OpenError tells that a command which is kept open is alive already: there
// may be one at a time of a definition over a connection.
type OpenError struct {
	Definition string
	Job        string // whose command is alive: its id, or the tag of its submission
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("job %s keeps the command of definition %q open, which may be alive once at a time; "+
		"feed that job with rmctl send %s, or end it with rmctl cancel %s", e.Job, e.Definition, e.Job, e.Job)
}

// refuseSecond returns an error if the command of a submission is to be kept
// open and another one is alive. Of two submissions that were put at the same
// time the one that was made first goes on; tag is that of the submission once
// it was put.
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
			continue // that one will find this one
		}
		name := job.ID
		if name == "" {
			name = job.Tag
		}
		return &OpenError{Definition: c.definition.Name, Job: name}
	}
	return nil
}

func isEarlier(one, other job.Job) bool {
	if !one.Created.Equal(other.Created) {
		return one.Created.Before(other.Created)
	}
	return one.Tag < other.Tag
}

// isAttached reports whether the process of an interactive job is alive. Of jobs
// that this process has let go of nobody recorded the end.
func (c *tracker) isAttached(job job.Job) bool {
	if !mayBeAttached(job) || !presence.IsAlive(job.Submitter) || job.Missing && c.isKnownByProcess(job) {
		return false
	}
	if job.Submitter != presence.ThisProcess() {
		return true
	}
	return !job.Stale || c.open.has(job.Tag)
}

// mayBeAttached reports whether no end of an interactive job is on record.
func mayBeAttached(j job.Job) bool {
	return j.Interactive && !j.Detail.Ended() && j.Phase != job.PhaseRejected && j.Phase != job.PhaseDismissed
}

// openTags are the tags of the interactive jobs that a controller runs.
type openTags struct {
	lock sync.Mutex
	tags map[string]bool
}

func (o *openTags) add(tag string) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.tags == nil {
		o.tags = map[string]bool{}
	}
	o.tags[tag] = true
}

func (o *openTags) remove(tag string) {
	o.lock.Lock()
	defer o.lock.Unlock()
	delete(o.tags, tag)
}

func (o *openTags) has(tag string) bool {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.tags[tag]
}
