package clusters_test

import (
	"path/filepath"
	"testing"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Each script of testdata/script-slurm is a conversation with a real Slurm.
// FORGETFUL names the configuration of a second one, for scripts that need a
// controller that forgets jobs at once.
func TestSlurm(t *testing.T) {
	t.Parallel()
	rmctltest.Scripts(t, filepath.Join("testdata", "script-slurm"), map[string]string{
		"SLURM_CONF": rmctltest.Slurm(t, "scripts").Configuration,
		"FORGETFUL":  rmctltest.Slurm(t, "forgetful", "RMCTL_SLURM_MINJOBAGE=2").Configuration,
	})
}
