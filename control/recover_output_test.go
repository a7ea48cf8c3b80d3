package control_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// onLocal returns a controller of the shipped definition for this machine, with a record of its own.
func onLocal(t *testing.T) (*control.Controller, *jobstore.Store) {
	t.Helper()
	definition, _, err := check.UsableDefinition("local")
	require.NoError(t, err)
	connection, err := remote.NewLocal()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, connection.Close()) })
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return control.New(control.Options{Target: "local", Definition: definition, Connection: connection, Store: store}), store
}

// rmctl is killed before it reads the id: the record has only the tag.
func TestARecoveredLocalJobHasItsOutput(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	first, _ := onLocal(t)
	submitted, err := first.Submit(t.Context(), job.Submission{Executable: "/bin/echo", Arguments: []string{"found"}, Directory: home})
	require.NoError(t, err)
	second, store := onLocal(t)
	require.NoError(t, store.Intend(t.Context(), job.Job{Tag: submitted.Tag, Target: "local"}))
	found, err := second.Recover(t.Context(), job.Job{Tag: submitted.Tag})
	require.NoError(t, err)
	require.NotEmpty(t, found.OutputPath)
	require.Equal(t, []string{submitted.ID, submitted.OutputPath, submitted.ErrorPath}, []string{found.ID, found.OutputPath, found.ErrorPath})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = second.Wait(ctx, found, "", nil)
	require.NoError(t, err)
	var output bytes.Buffer
	require.NoError(t, second.Output(t.Context(), found, control.Stream{}, &output))
	require.Equal(t, "found\n", output.String())
}
