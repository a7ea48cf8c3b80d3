package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

func TestOnlyJobsThatHaveStartedHaveNodes(t *testing.T) {
	t.Parallel()
	for detail, nodes := range map[job.Detail]string{
		job.QueuedActive: "", job.UserOnHold: "", job.Running: "n1", job.UserSuspended: "n1", job.Completed: "n1", job.Failed: "n1",
	} {
		facts := map[string]string{"state": string(detail), "nodes": "n1"}
		seen := job.Observe(func(name string) string { return facts[name] })
		require.Equal(t, nodes, seen.Nodes, detail)
	}
}
