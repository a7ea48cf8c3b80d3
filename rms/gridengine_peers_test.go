package rms_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Outputs that other projects recorded of other releases of Grid Engine, read
// where they are: each job is listed with its letters, and damaged ones are refused.
func TestGridEngineReadsListingsOfOtherReleases(t *testing.T) {
	peers := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures-peers")
	if _, err := os.Stat(peers); err != nil {
		t.Skipf("no recorded outputs in %s; set RMCTL_SHARED", peers)
	}
	for file, letters := range map[string]string{
		"ood_core/sge-qstat_r.xml":            "r qw qw hqw",
		"aiida-core/sge-qstat-ext-urg.xml":    "r qw hqw",
		"xenon/gridengine-jobs-no-schema.xml": "r r r r r r",
		"xenon/gridengine-jobs.xml":           "r r r r r r r r qw",
		"aiida-core/sge-qstat-malformed.xml":  "",
	} {
		t.Run(file, func(t *testing.T) {
			recorded, err := filepath.Abs(filepath.Join(peers, file))
			require.NoError(t, err)
			programs := map[string]string{"qstat": `case "$*" in "-xml -u *") cat '` + recorded + "';; *) " + emptyList + ";; esac"}
			stdout, stderr, exit := runGridEngine(t, "list-jobs", programs, "all")
			if letters == "" {
				require.NotZero(t, exit)
				require.Contains(t, stderr, "not whole")
				return
			}
			require.Zero(t, exit, "%s", stderr)
			rows := strings.Split(strings.TrimSuffix(stdout, "listed\n"), "\n")
			var native []string
			for _, row := range rows[:len(rows)-1] {
				native = append(native, strings.Split(row, "\t")[2])
			}
			require.Equal(t, letters, strings.Join(native, " "))
		})
	}
}
