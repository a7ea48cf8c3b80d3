package rms_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/reader"
)

// Outputs that other projects recorded of other releases of Grid Engine, read
// where they are: each row has its letters, and damaged documents are refused.
func TestGridEngineReadsListingsOfOtherReleases(t *testing.T) {
	peers := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures-peers")
	if _, err := os.Stat(peers); err != nil {
		t.Skipf("no recorded outputs in %s; set RMCTL_SHARED", peers)
	}
	definition := shippedDefinition(t, "gridengine")
	ids, err := reader.NewIDs(definition.IDs)
	require.NoError(t, err)
	for file, letters := range map[string]string{
		"ood_core/sge-qstat_r.xml":            "qw qw hqw", // jobs that run are listed by queue there, as with -f
		"aiida-core/sge-qstat-ext-urg.xml":    "r qw hqw",
		"xenon/gridengine-jobs-no-schema.xml": "r r r r r r",
		"xenon/gridengine-jobs.xml":           "r r r r r r r r qw",
		"aiida-core/sge-qstat-malformed.xml":  "",
	} {
		t.Run(file, func(t *testing.T) {
			recorded, err := os.ReadFile(filepath.Join(peers, file))
			require.NoError(t, err)
			var words []string
			listed, err := reader.New(definition.Command("list-jobs").Read, reader.Query{IDs: ids, Step: func(step reader.Step) {
				require.Empty(t, step.Rejected)
				words = append(words, step.Word)
			}})
			require.NoError(t, err)
			_, err = listed.Write(recorded)
			require.NoError(t, err)
			answer, err := listed.Close()
			require.NoError(t, err)
			if letters == "" {
				require.NotNil(t, answer.Damage)
				return
			}
			require.Nil(t, answer.Damage)
			require.Equal(t, letters, strings.Join(words, " "))
		})
	}
}
