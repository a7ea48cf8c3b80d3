package monitor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// work puts processes of a job on record, each written as node and state.
func (r *record) work(tag string, processes ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes[tag] = nil
	for rank, text := range processes {
		node, processState, _ := strings.Cut(text, " ")
		r.processes[tag] = append(r.processes[tag], job.Process{Rank: rank, Node: node, State: job.ProcessState(processState)})
	}
}

// uses returns by whom each node is used, in the order of the nodes.
func (w *watch) uses() string {
	var uses []string
	for _, id := range w.ids(model.Node) {
		uses = append(uses, id+" "+w.value(model.Node, id, vocabulary.AttributeNodeExtraState))
	}
	return strings.Join(uses, ", ")
}

func TestNodesShowWhetherProcessesRunOnThem(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		var nodes []row
		for _, id := range []string{"n1", "n2", "n3", "n4", "n5"} {
			nodes = append(nodes, rowOf(id, "state=UP", "cpus=4", "cpusUsed=4"))
		}
		w.source.set(model.Node, nil, nodes...)
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "owner=me", "nodes=n[1-4]"), rowOf("9", "state=RUNNING", "owner=her", "nodes=n[4-5]"))
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Running}})
		w.record.work("tag-1", "n1 RUNNING", "n1 EXITED", "n2.cluster EXITED", "n2 EXITED_SIGNALLED", "n3 UNKNOWN", "n5 EXITED", "elsewhere RUNNING")
		w.begin()
		require.Equal(t, "n1 RUNNING_PROCESS, n2 EXITED_PROCESS, n3 USER_ALLOC_EXCL, n4 USER_ALLOC_SHARED, n5 OTHER_ALLOC_EXCL", w.uses(), "n5 is not of the job any more")

		w.record.work("tag-1", "n1 EXITED", "n1 EXITED", "n2 STARTING")
		w.settle(3 * time.Second)
		require.Equal(t, "n1 EXITED_PROCESS, n2 RUNNING_PROCESS, n3 USER_ALLOC_EXCL, n4 USER_ALLOC_SHARED, n5 OTHER_ALLOC_EXCL", w.uses(), "the record alone says so, without a listing")

		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "owner=me", "nodes=n[1-4]"), rowOf("2", "state=RUNNING", "owner=me", "nodes=n1"))
		w.again()
		require.Contains(t, w.uses(), "n1 USER_ALLOC_EXCL, n2 RUNNING_PROCESS", "of the other job on n1 nobody knows whether it works")

		w.source.set(model.Job, nil, rowOf("1", "state=COMPLETED", "owner=me", "nodes=n[1-4]"))
		w.again()
		require.Equal(t, "n1 NONE, n2 NONE, n3 NONE, n4 NONE, n5 NONE", w.uses(), "a job that has ended has no nodes")
	})
}

func TestNodesOfProcessesAreShownWithoutANodeListing(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		for _, kind := range []model.Kind{model.Queue, model.Node, model.Job} {
			w.source.lacks[kind] = true
		}
		w.record.set(job.Job{Tag: "tag-1", Observation: job.Observation{Detail: job.Running}}, job.Job{Tag: "tag-2", Observation: job.Observation{Detail: job.Completed}})
		w.record.work("tag-1", "hosta RUNNING", "hostb EXITED", strings.Repeat("x", 2000)+" RUNNING", " RUNNING", "hostc UNKNOWN")
		w.record.work("tag-2", "hostd EXITED")
		w.begin()
		require.Equal(t, "hosta RUNNING_PROCESS, hostb EXITED_PROCESS, hostc USER_ALLOC_SHARED", w.uses())
		require.Equal(t, "UP", w.value(model.Node, "hosta", vocabulary.AttributeNodeState))
		require.Equal(t, "3", w.value(model.Machine, "cluster", "numNodes"))
		require.Equal(t, "queue node job", w.own(vocabulary.AttributeUnlisted))

		w.record.set(job.Job{Tag: "tag-1", Observation: job.Observation{Detail: job.Completed}})
		w.settle(3 * time.Second)
		require.Empty(t, w.ids(model.Node), "the job that they were of has ended")
		require.Equal(t, "UP", w.value(model.Machine, "cluster", vocabulary.AttributeMachineState))
		require.Empty(t, w.problems())
	})
}
