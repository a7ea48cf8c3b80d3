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

// areUnfinished reports whether the agent has unfinished jobs that this user submitted in this session.
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

// mostCanceled bounds the canceled jobs that are remembered.
const mostCanceled = 10_000

// canceled are the latest canceled jobs. The zero value is empty.
type canceled struct {
	mutex sync.Mutex
	jobs  map[string]bool
	order []string // oldest first
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
