package cases_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

// shippedCases are the cases of the shipped definitions.
var shippedCases = []string{"slurm", "pbs", "local"}

// copyFolder copies a folder, with files in place of links to other folders.
func copyFolder(b *testing.B, from, to string) {
	require.NoError(b, filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		target := filepath.Join(to, strings.TrimPrefix(name, from))
		if err != nil || entry.IsDir() {
			return cmp.Or(err, os.MkdirAll(target, 0o700))
		}
		content, err := os.ReadFile(name)
		return cmp.Or(err, os.WriteFile(target, content, 0o600))
	}))
}

// BenchmarkRunAll reads and tries 5,000 cases and more, copies of those of the
// shipped definitions, with a runner that has loaded nothing yet.
func BenchmarkRunAll(b *testing.B) {
	root := b.TempDir()
	var folders []string
	for copied := 0; len(folders) < 5000; copied++ {
		for _, name := range shippedCases {
			to := filepath.Join(root, fmt.Sprint(copied), name)
			copyFolder(b, filepath.Join("../testdata", name), to)
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
