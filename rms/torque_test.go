package rms_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What another project recorded, read where it is.
func TestTorqueReadsAListingOfAnotherProject(t *testing.T) {
	path := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures-peers", "xenon", "torque-jobs.xml")
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no recorded output %s; set RMCTL_SHARED", path)
	}
	definition := shippedDefinition(t, "torque")
	states := map[string]int{}
	for _, document := range strings.SplitAfter(string(recorded), "</Job>") {
		_, id, isRecord := strings.Cut(document, "<Job_Id>")
		if !isRecord {
			continue
		}
		id, _, _ = strings.Cut(id, "<")
		_, state, _ := strings.Cut(document, "<job_state>")
		got := replay(t, definition, exchange{selector: "get-job-status", job: id, stdout: string(recorded)})
		require.False(t, got.Error, id)
		require.Equal(t, state[:1], got.Facts["job.native"], id)
		states[got.State]++
	}
	require.Equal(t, map[string]int{"QUEUED_ACTIVE": 3, "RUNNING": 4}, states)
}
