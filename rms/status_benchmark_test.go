package rms_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkStatus reads what one status command has printed, from the definition's attributes
// to the state and facts, without the process itself.
//
//	go test ./rms -run '^$' -bench Status
func BenchmarkStatus(b *testing.B) {
	for _, folder := range []string{"slurm/status-running", "pbs/status-running-held", "torque/status-running", "local/status-running"} {
		b.Run(filepath.Dir(folder), func(b *testing.B) {
			definition := shippedDefinition(b, filepath.Dir(folder))
			recorded := recordedExchange(b, filepath.Join("../testdata", folder))
			b.ReportAllocs()
			for b.Loop() {
				require.Equal(b, "RUNNING", replay(b, definition, recorded).State)
			}
		})
	}
}
