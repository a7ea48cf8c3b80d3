package cases_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

func TestAResultIsAnObjectWithStableNames(t *testing.T) {
	text, err := json.Marshal(cases.Result{Verdict: cases.Differing, Differences: []cases.Difference{{Where: "job.id", Expected: "1", Actual: "2"}}})
	require.NoError(t, err)
	var decoded map[string]any
	require.NoError(t, json.Unmarshal(text, &decoded))
	require.Equal(t, "failed", decoded["verdict"])
	require.Len(t, decoded["differences"], 1)
	require.NotContains(t, decoded, "error")
	text, err = json.Marshal(cases.Result{Folder: "one", Definition: "slurm", Command: "get-job-status", Verdict: cases.Passed, Duration: 1500 * time.Microsecond})
	require.NoError(t, err)
	require.JSONEq(t, `{"folder":"one","definition":"slurm","command":"get-job-status","verdict":"passed","milliseconds":1.5}`, string(text))
}
