package rms_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
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
		"F": "", // with nothing that tells how the job ended
	}
	definition := pbsDefinition(t)
	nativeState := regexp.MustCompile(`(?m)^ {4}job_state = (\S+)$`)
	for _, file := range []string{"aiida-core/pbspro-qstat-f.stdout", "nextflow/pbs-1.stdout", "nextflow/pbspro-1.stdout"} {
		t.Run(file, func(t *testing.T) {
			listing := pbsFile(t, peers, file)
			records := bytes.SplitAfter(bytes.ReplaceAll(listing, []byte("Job Id: "), []byte("\x00Job Id: ")), []byte("\x00"))
			require.Greater(t, len(records), 2)
			for _, record := range records[1:] {
				record = bytes.TrimSuffix(record, []byte("\x00"))
				id := regexp.MustCompile(`^Job Id: (\S+)`).FindSubmatch(record)
				require.NotNil(t, id, "%s", record)
				native := nativeState.FindSubmatch(record)
				require.NotNil(t, native, "%s", record)
				expected, known := states[string(native[1])]
				require.True(t, known, "state %s", native[1])
				if bytes.Equal(native[1], []byte("H")) && !bytes.Contains(record, []byte("Hold_Types")) {
					expected = "" // held by whom is not told
				}
				got := runPBS(t, definition, "fallback:qstat-folded", string(id[1]), &pbsAnswer{stdout: record})
				require.Equal(t, expected, got.State, "%s", record)
				require.Equal(t, string(native[1]), got.Facts["job.native"])
			}
		})
	}
}
