package agentclient

import (
	"sync"

	"github.com/rmctl/rmctl/model"
)

// mostEnded bounds the ended jobs that are remembered after the agent removed them.
const mostEnded = 10_000

// endedJobs remembers jobs that had ended when the agent removed them. Readers of the model may miss
// their end between two snapshots.
type endedJobs struct {
	mu    sync.Mutex
	jobs  map[string]*model.Element
	order []string // oldest first
}

// add remembers a job if it has ended.
func (e *endedJobs) add(job *model.Element) {
	if !model.Ended(model.Job, job.State()) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.jobs == nil {
		e.jobs = map[string]*model.Element{}
	}
	if _, known := e.jobs[job.ID()]; !known {
		e.order = append(e.order, job.ID())
	}
	e.jobs[job.ID()] = job
	if len(e.order) > mostEnded {
		delete(e.jobs, e.order[0])
		e.order = e.order[1:]
	}
}

func (e *endedJobs) get(job string) (*model.Element, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	element, known := e.jobs[job]
	return element, known
}

// rememberJobs remembers the jobs that the removal of an element removes.
func (s *State) rememberJobs(before *model.Manager, kind model.Kind, e *element) {
	switch kind {
	case model.Job:
		if job, known := before.Get(kind, e.id); known {
			s.ended.add(job)
		}
	case model.Queue:
		for job := range before.Children(model.Job, e.id) {
			s.ended.add(job)
		}
	}
}
