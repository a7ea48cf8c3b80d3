package cases_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

// shippedCases are the cases of the shipped definitions.
var shippedCases = []string{"slurm", "pbs", "local"}

// BenchmarkRunAll reads and tries 5,000 cases and more, copies of those of the
// shipped definitions, with a runner that has loaded nothing yet.
func BenchmarkRunAll(b *testing.B) {
	root := b.TempDir()
	var folders []string
	for copied := 0; len(folders) < 5000; copied++ {
		for _, name := range shippedCases {
			to := filepath.Join(root, fmt.Sprint(copied), name)
			require.NoError(b, os.CopyFS(to, os.DirFS(filepath.Join("../testdata", name))))
			found, err := cases.Find(to)
			require.NoError(b, err)
			folders = append(folders, found...)
		}
	}
	for b.Loop() {
		runner := &cases.Runner{}
		require.NoError(b, runner.RunAll(b.Context(), folders, func(result cases.Result) error { return result.Err }))
	}
	b.ReportMetric(float64(len(folders)*b.N)/b.Elapsed().Seconds(), "cases/s")
}
