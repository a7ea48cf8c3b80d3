package rms_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
)

// The line that a state is shown with is the one that the scheduler wrote it on.
func TestAReaderKnowsTheLineOfAState(t *testing.T) {
	for name, c := range map[string]struct{ recorded, line string }{
		"gridengine": {"made-transferring", "      <state>t</state>"},
		"pbs":        {"identity", "    job_state = R"},
		"slurm":      {"identity-array", "   JobState=RUNNING Reason=None Dependency=(null)"},
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
