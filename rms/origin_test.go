package rms_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/tokenizer"
)

// The shipped definitions decide on a state by tests, after all was read: what they tell of its
// origin is the line all the same that the scheduler wrote it on.
func TestAStateIsKnownFromTheLineThatTellsIt(t *testing.T) {
	definition := shippedDefinition(t, "gridengine")
	selected, _, err := definition.Select("get-job-status")
	require.NoError(t, err)
	output, err := os.ReadFile(filepath.Join("..", "testdata", "gridengine", "status-running", "stdout"))
	require.NoError(t, err)
	env := definedEnvironment(definition)
	job := attribute.New("")
	env.Define("key", job)
	run, err := tokenizer.Options{Origins: "state"}.Compile(selected.StdoutParser, env, "key")
	require.NoError(t, err)
	require.NoError(t, run.Run(bytes.NewReader(output)))
	require.Equal(t, "RUNNING", attribute.Text(job.Value()))
	require.NotNil(t, job.Origin)
	require.Contains(t, job.Origin.Text, "state\tr \tr ")
	lines := bytes.Split(output, []byte{'\n'})
	require.Equal(t, job.Origin.Text, string(lines[job.Origin.Line-1]))
}

func TestAReaderKnowsTheLineOfAState(t *testing.T) {
	for name, c := range map[string]struct{ recorded, line string }{
		"pbs":   {"identity", "    job_state = R"},
		"slurm": {"identity-array", "   JobState=RUNNING Reason=None Dependency=(null)"},
	} {
		definition := shippedDefinition(t, name)
		output, err := os.ReadFile(filepath.Join("..", "testdata", name, c.recorded, "stdout"))
		require.NoError(t, err)
		ids, err := reader.NewIDs(definition.IDs)
		require.NoError(t, err)
		r, err := reader.New(definition.Command(config.GetJobStatus).Read, reader.Query{IDs: ids})
		require.NoError(t, err)
		_, err = r.Write(output)
		require.NoError(t, err)
		answer, err := r.Close()
		require.NoError(t, err)
		require.Len(t, slices.Collect(answer.All()), 1)
		require.Equal(t, "RUNNING", slices.Collect(answer.All())[0].State)
		lines := bytes.Split(output, []byte{'\n'})
		require.Equal(t, c.line, slices.Collect(answer.All())[0].Origin.Text)
		require.Equal(t, c.line, string(lines[slices.Collect(answer.All())[0].Origin.Line-1]))
	}
}
