package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"local", "slurm", "pbs"} {
		source, err := os.ReadFile(filepath.Join("..", "rms", name+".xml"))
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				config.Load(name, source)
			}
		})
	}
}
