package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each script of testdata/script-slurm is a conversation with a real Slurm.
// FORGETFUL names the configuration of a second one, for scripts that need a
// controller that forgets jobs at once, or none at all.
func TestSlurm(t *testing.T) {
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("needs a real Slurm: RMCTL_CLUSTERS=1 starts one, as root on Debian")
	}
	runScripts(t, filepath.Join("testdata", "script-slurm"), map[string]string{
		"SLURM_CONF": startSlurm(t),
		"FORGETFUL":  startSlurm(t, "RMCTL_SLURM_DIR=/tmp/rmctl-test-slurm-forgetful", "RMCTL_SLURM_PORT=28017", "RMCTL_SLURM_MINJOBAGE=2"),
	})
}

// startSlurm starts a cluster, which is stopped when the test has ended, and
// returns the path of its configuration.
func startSlurm(t testing.TB, settings ...string) string {
	up := exec.Command(filepath.Join("..", "..", "testdata", "clusters", "slurm-up.sh"))
	up.Env = append(os.Environ(), settings...)
	var said strings.Builder
	up.Stderr = &said
	exports, err := up.Output()
	require.NoError(t, err, said.String())
	t.Cleanup(func() {
		down := exec.Command(filepath.Join("..", "..", "testdata", "clusters", "slurm-down.sh"))
		down.Env = append(os.Environ(), settings...)
		output, err := down.CombinedOutput()
		require.NoError(t, err, "%s", output)
	})
	path, found := strings.CutPrefix(strings.TrimSpace(string(exports)), "export SLURM_CONF=")
	require.True(t, found, "%s", exports)
	return path
}
