package rms_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
)

// The shipped definitions decide on a state by tests, after all was read: what they tell of its
// origin is the line all the same that the scheduler wrote it on.
func TestAStateIsKnownFromTheLineThatTellsIt(t *testing.T) {
	for name, c := range map[string]struct{ selector, recorded, state, line string }{
		"slurm":      {"get-job-status", "slurm/identity-array", "RUNNING", "   JobState=RUNNING "},
		"pbs":        {"get-job-status", "pbs/identity", "RUNNING", "    job_state = R"},
		"gridengine": {"get-job-status", "gridengine/status-running", "RUNNING", "state\tr \tr "},
	} {
		t.Run(name, func(t *testing.T) {
			definition := shippedDefinition(t, name)
			selected, _, err := definition.Select(c.selector)
			require.NoError(t, err)
			output, err := os.ReadFile(filepath.Join("..", "testdata", filepath.FromSlash(c.recorded), "stdout"))
			require.NoError(t, err)
			env := definedEnvironment(definition)
			job := attribute.New("")
			env.Define("key", job)
			run, err := tokenizer.Options{Origins: "state"}.Compile(selected.StdoutParser, env, "key")
			require.NoError(t, err)
			require.NoError(t, run.Run(bytes.NewReader(output)))
			require.Equal(t, c.state, attribute.Text(job.Value()))
			require.NotNil(t, job.Origin)
			require.Contains(t, job.Origin.Text, c.line)
			lines := bytes.Split(output, []byte{'\n'})
			require.Equal(t, job.Origin.Text, string(lines[job.Origin.Line-1]))
		})
	}
}
