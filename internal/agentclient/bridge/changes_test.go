package bridge_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/remote"
)

func TestChangesNameTheJobsThatChanged(t *testing.T) {
	steps := make(chan string)
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced, "dc 2 1 3 3 name=a jobId=17 jobState=PENDING", "dc 2 1 4 3 name=b jobId=18 jobState=PENDING")
		for step := range steps {
			a.Events(step)
		}
		quit(a)
	})
	defer close(steps)
	require.Len(t, rows(t, c, "jobs"), 2)
	reader, writer := io.Pipe()
	handle, err := c.Start(t.Context(), remote.Command{Arguments: []string{definition.Command, "changes"}, Stdout: writer})
	require.NoError(t, err)
	lines := json.NewDecoder(reader)
	next := func() (changes definition.Changes) {
		require.NoError(t, lines.Decode(&changes))
		return changes
	}
	require.Equal(t, definition.Changes{Jobs: definition.JobChanges{AreMany: true}, Nodes: true, Queues: true, Machines: true, Manager: true}, next(), "all is new at first")

	steps <- "e6 1 3 1 jobState=RUNNING"
	require.Equal(t, definition.Changes{Jobs: definition.JobChanges{Changed: []string{"17"}}}, next())
	steps <- "f1 4"
	require.Equal(t, definition.Changes{Jobs: definition.JobChanges{Gone: []string{"18"}}}, next())
	steps <- "e0 0 1 9 1 name=other"
	require.Equal(t, definition.Changes{Queues: true}, next())

	stdout, stderr, code, err := run(t, c, "listing", "17", "18")
	require.NoError(t, err)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, `"detail":"RUNNING"`)
	require.NotContains(t, stdout, `"18"`, "it is left out")
	stdout, _, code, err = run(t, c, "listing", "18")
	require.NoError(t, err)
	require.Zero(t, code)
	require.JSONEq(t, `{"jobs":[]}`, stdout)
	handle.Terminate()
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	_, err = handle.Wait()
	require.NoError(t, err)
}
