// Package rmctltest runs the rmctl of the PATH as users do, in tests: in scripts, on terminals,
// and with real schedulers.
package rmctltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Foreground is the setting of the environment with which rmctl has no
// background process, Background the one with which it has one.
const (
	Foreground = "RMCTL_BACKGROUND=off"
	Background = "RMCTL_BACKGROUND="
)

// patience bounds every wait for something that must happen.
const patience = 6 * time.Minute

// Project returns the absolute path of the project's folder, in or below which
// the test runs.
func Project(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		require.NotEqual(t, folder, above, "the test does not run in the project")
		folder = above
	}
}

// program returns the path of rmctl.
func program(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("rmctl")
	require.NoError(t, err)
	return path
}
