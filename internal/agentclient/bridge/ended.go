package bridge

import (
	"sync"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

func hasEnded(job *model.Element) bool {
	return job.State() == vocabulary.StateTerminated || job.State() == vocabulary.StateError
}

// areUnfinished reports whether the agent has jobs that this user submitted here and that have
// not ended.
func areUnfinished(session *agentclient.Session) bool {
	manager := managerOf(session)
	if manager == nil {
		return false
	}
	for element := range manager.All(model.Job) {
		if !hasEnded(element) && given(element, attributeSubmission) != "" {
			return true
		}
	}
	return false
}

// mostCanceled bounds the jobs that are known to have been canceled.
const mostCanceled = 10_000

// canceled are the jobs that were canceled last. The zero value is empty.
type canceled struct {
	mutex sync.Mutex
	jobs  map[string]bool
	order []string // the oldest first
}

func (c *canceled) add(id string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.jobs == nil {
		c.jobs = map[string]bool{}
	}
	if !c.jobs[id] {
		c.order = append(c.order, id)
	}
	c.jobs[id] = true
	if len(c.order) > mostCanceled {
		delete(c.jobs, c.order[0])
		c.order = c.order[1:]
	}
}

func (c *canceled) has(id string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.jobs[id]
}
