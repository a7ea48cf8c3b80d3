package cases_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

// running is a case that passes.
var running = map[string]string{
	"case.toml":     "definition = 'slurm'\ncommand = 'get-job-status'\njob = '7'\nexit = 0\n",
	"stdout":        recordOf("PENDING", "Resources", ""),
	"expected.json": `{"status": {"state": "OK"}, "job": {"state": "SUBMITTED", "detail": "QUEUED_ACTIVE"}}`,
}

// recordOf is a record of scontrol show job, with the lines that are read of it.
func recordOf(state, reason, nodes string) string {
	return "JobId=7 JobName=a\n   JobState=" + state + " Reason=" + reason + "\n   ExitCode=0:0\n   SubmitTime=2026-11-20T14:00:00\n" +
		"   StartTime=Unknown EndTime=Unknown\n   Partition=normal\n   NodeList=" + nodes + "\n"
}

// write makes a folder of files, in which changes take the place of others; a
// file whose change is empty is left out.
func write(t testing.TB, folder string, files, changes map[string]string) string {
	require.NoError(t, os.MkdirAll(folder, 0o700))
	for _, group := range []map[string]string{files, changes} {
		for name, content := range group {
			path := filepath.Join(folder, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		}
	}
	for name, content := range changes {
		if content == "" {
			require.NoError(t, os.Remove(filepath.Join(folder, name)))
		}
	}
	return folder
}

// writePassing makes a case and lets it expect what comes out.
func writePassing(t testing.TB, folder string, changes map[string]string) string {
	write(t, folder, running, changes)
	result := (&cases.Runner{Update: true}).RunFolder(t.Context(), folder)
	require.Equal(t, cases.Updated, result.Verdict, "%v", result.Err)
	return folder
}

func packed(t testing.TB, text string) string {
	var to bytes.Buffer
	writer := gzip.NewWriter(&to)
	_, err := writer.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	return to.String()
}

func run(t testing.TB, folder string) cases.Result {
	return (&cases.Runner{}).RunFolder(t.Context(), folder)
}
