package monitor

import (
	"iter"

	"github.com/rmctl/rmctl/internal/hostlist"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// JobsOn yields the jobs that use a node, ordered by id: jobs whose list of nodes has it, and
// jobs with processes on it. It looks at all jobs of the resource manager.
func JobsOn(m *model.Manager, node string) iter.Seq[*model.Element] {
	return func(yield func(*model.Element) bool) {
		seen := map[string]bool{}
		for process := range m.OnNode(node) {
			seen[process.Parent()] = true
		}
		isNode := func(name string) bool {
			_, isNode := m.Get(model.Node, name)
			return isNode
		}
		for job := range m.All(model.Job) {
			has := seen[job.ID()]
			if nodes, isTold := job.Value(vocabulary.AttributeJobNodes); isTold && !has && hasNodes(job.State()) {
				has = hostlist.Names(nodes.Text(), node, isNode)
			}
			if has && !yield(job) {
				return
			}
		}
	}
}

// hasNodes reports whether jobs in a state have their nodes.
func hasNodes(state model.State) bool {
	return state == vocabulary.StateRunning || state == vocabulary.StateSuspended || state == vocabulary.StateStarted
}
