package rms_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// slurmCases holds the recorded cases. With RMCTL_UPDATE=1 the tests write
// expected.json instead of comparing with it.
const slurmCases = "../testdata/slurm"

func TestSlurmReadsRecordedOutputs(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for _, folder := range caseFolders(t, slurmCases) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			got := replay(t, definition, recordedExchange(t, folder))
			if os.Getenv("RMCTL_UPDATE") == "1" {
				text, err := json.MarshalIndent(got, "", "  ")
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(folder, "expected.json"), append(text, '\n'), 0o644))
				return
			}
			require.Equal(t, recordedExpectation(t, folder), got)
		})
	}
}
