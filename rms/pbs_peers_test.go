package rms_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Outputs that other projects recorded of other versions of PBS, read where
// they are: long listings, cut into records, and records of two lines.
func TestPBSReadsListingsOfOtherVersions(t *testing.T) {
	peers := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures-peers")
	if _, err := os.Stat(peers); err != nil {
		t.Skipf("no recorded outputs in %s; set RMCTL_SHARED", peers)
	}
	states := map[string]string{
		"Q": "QUEUED_ACTIVE", "R": "RUNNING", "E": "RUNNING", "S": "SUSPENDED", "H": "SYSTEM_ON_HOLD",
		"C": "", // Torque's, which PBS does not have
		"F": "", // without how the job ended
	}
	definition := shippedDefinition(t, "pbs")
	nativeState := regexp.MustCompile(`(?m)^ {4}job_state = (\S+)$`)
	for _, file := range []string{"aiida-core/pbspro-qstat-f.stdout", "nextflow/pbs-1.stdout", "nextflow/pbspro-1.stdout"} {
		t.Run(file, func(t *testing.T) {
			recorded, err := os.ReadFile(filepath.Join(peers, file))
			require.NoError(t, err)
			records := strings.Split(string(recorded), "Job Id: ")
			require.Greater(t, len(records), 2)
			for _, record := range records[1:] {
				record = "Job Id: " + record
				id := strings.Fields(record)[2]
				native := nativeState.FindStringSubmatch(record)
				require.NotNil(t, native, record)
				expected, known := states[native[1]]
				require.True(t, known, "state %s", native[1])
				if native[1] == "H" && !strings.Contains(record, "Hold_Types") {
					expected = "" // who holds it is unknown
				}
				got := replay(t, definition, exchange{selector: "fallback:qstat-folded", job: id, stdout: record})
				require.Equal(t, expected, got.State, record)
				require.Equal(t, native[1], got.Facts["job.native"])
			}
		})
	}
}
