package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
)

func TestVersionsAreFoundOnBothStreams(t *testing.T) {
	for _, c := range []struct{ expression, stdout, stderr, whole, version string }{
		{`slurm (\d[\d.]*)`, "noise\nslurm 22.05.8\n", "slurm 1\n", "slurm 22.05.8", "22.05.8"},
		{`slurm (\d[\d.]*)`, "", "slurm 23.1\n", "slurm 23.1", "23.1"},
		{`age = (?:0|(\d+)) `, "age = 0 sec\n", "", "age = 0 ", ""},
		{`is UP`, "it is UP\n", "", "is UP", ""},
	} {
		whole, version, found := findVersion(&config.Expression{Text: c.expression}, &command.Result{Stdout: c.stdout, Stderr: c.stderr})
		require.True(t, found, c.expression)
		require.Equal(t, c.whole, whole)
		require.Equal(t, c.version, version)
	}
	for _, expression := range []string{"torque", "("} {
		_, _, found := findVersion(&config.Expression{Text: expression}, &command.Result{Stdout: "slurm 22.05"})
		require.False(t, found, expression)
	}
}
