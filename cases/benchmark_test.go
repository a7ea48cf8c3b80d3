package cases_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

// BenchmarkRunAll tries the cases of the shipped definitions; cases/s is what counts.
func BenchmarkRunAll(b *testing.B) {
	folders, err := cases.Find("../testdata/slurm", "../testdata/pbs")
	require.NoError(b, err)
	runner := &cases.Runner{}
	for b.Loop() {
		require.NoError(b, runner.RunAll(b.Context(), folders, func(cases.Result) error { return nil }))
	}
	b.ReportMetric(float64(len(folders)*b.N)/b.Elapsed().Seconds(), "cases/s")
}
