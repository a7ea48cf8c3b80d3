package bridge_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/proxy"
)

// The state of the last session survives an agent that could not be started.
func TestReturningClientsSendTheLastEventAfterAFailure(t *testing.T) {
	var starts atomic.Int32
	last := make(chan string, 1)
	c := open(t, func(a *agenttest.Agent) {
		switch starts.Add(1) {
		case 1:
			a.Begin("details,resume")
			a.Events(announced, "dc 2 1 4 2 jobId=77 jobState=TERMINATED", "eb 1 1 1 lastEvent=41")
			submit := a.Await(proxy.SubmitJob)
			a.Send(submit.Refuse(0, "no"))
		case 2:
		default:
			start := a.Begin("details,resume")
			event, _ := start.Attributes.Value(proxy.LastEventAttribute)
			last <- event
			a.Events(announced, "eb 1 1 1 lastEvent=41")
			quit(a)
		}
	})
	require.Len(t, rows(t, c, "jobs"), 1)
	_, _, _, err := run(t, c, "submit", "--", "x")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, _, code, err := run(t, c, "jobs", "77")
		return err == nil && code == 0 && starts.Load() > 2
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, "41", <-last)
	require.Len(t, rows(t, c, "jobs"), 1)
}

// A job may end and be removed between two queries.
func TestJobsThatEndAndAreRemovedAtOnceHaveEnded(t *testing.T) {
	gone := make(chan struct{})
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced, "dc 2 1 4 2 jobId=77 jobState=RUNNING")
		<-gone
		a.Events("e6 1 4 1 jobState=COMPLETED", "f1 4")
		quit(a)
	})
	require.Len(t, rows(t, c, "jobs"), 1)
	close(gone)
	require.Eventually(t, func() bool { return len(rows(t, c, "jobs")) == 0 }, time.Minute, time.Millisecond)
	require.Equal(t, "COMPLETED", rows(t, c, "jobs", "77")[0]["detail"])
}
