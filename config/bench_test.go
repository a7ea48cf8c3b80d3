package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

func BenchmarkLoad(b *testing.B) {
	benchmarkShipped(b, func(name string, source []byte) { config.Load(name, source) })
}

func BenchmarkRead(b *testing.B) {
	benchmarkShipped(b, func(name string, source []byte) {
		_, err := config.Read(name, source)
		require.NoError(b, err)
	})
}

func benchmarkShipped(b *testing.B, load func(name string, source []byte)) {
	for _, name := range []string{"local", "slurm", "pbs"} {
		source, err := os.ReadFile(filepath.Join("..", "rms", name+".xml"))
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				load(name, source)
			}
		})
	}
}
