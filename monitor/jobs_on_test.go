package monitor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

func TestANodeHasItsCurrentJobs(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Node, nil, rowOf("n2", "state=UP"), rowOf("n3", "state=UP"))
		w.source.set(model.Job, nil,
			rowOf("has it", "state=RUNNING", "nodes=n[1-3]"),
			rowOf("is suspended", "state=USER_SUSPENDED", "nodes=n1,n2.example.org"),
			rowOf("has others", "state=RUNNING", "nodes=n[3-20]"),
			rowOf("has a longer name", "state=RUNNING", "nodes=n22"),
			rowOf("had it", "state=COMPLETED", "nodes=n2"),
			rowOf("waits for it", "state=QUEUED_ACTIVE", "nodes=n2"),
			rowOf("has a process", "state=RUNNING"),
			rowOf("has no nodes", "state=RUNNING"))
		w.record.set(job.Job{Tag: "tag", ID: "has a process", Observation: job.Observation{Detail: job.Running}})
		w.record.work("tag", "n2 RUNNING", "n2 RUNNING")
		w.begin()
		var ids []string
		for job := range monitor.JobsOn(w.manager(), "n2") {
			ids = append(ids, job.ID())
		}
		require.Equal(t, []string{"has a process", "has it", "is suspended"}, ids)
		waiting, known := w.manager().Get(model.Job, "waits for it")
		require.True(t, known)
		_, hasNodes := waiting.Value(vocabulary.AttributeJobNodes)
		require.False(t, hasNodes, "it has none yet")
		for range monitor.JobsOn(w.manager(), "n2") {
			break // a caller can stop early
		}
		for job := range monitor.JobsOn(w.manager(), "n4") {
			require.Equal(t, "has others", job.ID(), "a node that is not listed has jobs all the same")
		}
	})
}
