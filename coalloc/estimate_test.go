package coalloc_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
)

func TestPartsThatWaitHaveTheStartThatTheirSchedulerExpects(t *testing.T) {
	status := coalloc.Status{Parts: []coalloc.PartStatus{
		{Target: "est", State: coalloc.PartPending, JobID: "7", Reason: "Resources"},
		{Target: "est", State: coalloc.PartPending, JobID: "8"},
		{Target: "est", State: coalloc.PartPending, JobID: "9"},
		{Target: "est", State: coalloc.PartActive, JobID: "7"},
		{Target: "local", State: coalloc.PartPending, JobID: "7"},
		{Target: "nowhere", State: coalloc.PartPending, JobID: "7"},
	}}
	coalloc.EstimateStarts(context.Background(), newClient(t), &status)
	parts := status.Parts
	require.Equal(t, "2031-02-03T04:05:06", parts[0].ExpectedStart.Format("2006-01-02T15:04:05"))
	require.Equal(t, "job 7 waits in the queue of est: Resources; expected start "+parts[0].ExpectedStart.Local().Format(time.DateTime), parts[0].Waits())
	require.Zero(t, parts[1].ExpectedStart)
	require.Empty(t, parts[1].StartProblem, "the scheduler expects no start yet")
	require.Zero(t, parts[2].ExpectedStart, "not that of another job")
	require.Contains(t, parts[2].StartProblem, "no such job")
	require.Contains(t, parts[2].Waits(), "expected start unknown: ")
	require.Zero(t, parts[3].ExpectedStart, "it does not wait")
	require.Equal(t, coalloc.PartStatus{Target: "local", State: coalloc.PartPending, JobID: "7"}, parts[4], "local has no command for it")
	require.Contains(t, parts[5].StartProblem, "nowhere")
}
