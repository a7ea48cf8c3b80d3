package bridge

import (
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
