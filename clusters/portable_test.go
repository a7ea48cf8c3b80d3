package clusters_test

import (
	"path/filepath"
	"testing"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The same launch configuration runs on each scheduler, and on this machine,
// unchanged.
func TestOneLaunchConfigurationRunsEverywhere(t *testing.T) {
	rmctltest.NeedClusters(t)
	t.Parallel()
	for target, environment := range map[string]func(*testing.T) map[string]string{
		"local": func(*testing.T) map[string]string {
			return map[string]string{"SEEN": "tasks, 0 MiB"}
		},
		"gridengine": func(t *testing.T) map[string]string {
			settings := rmctltest.GridEngine(t, "portable").Environment
			settings["SEEN"] = "2 tasks, 0 MiB"
			return settings
		},
		"slurm": func(t *testing.T) map[string]string {
			return map[string]string{"SEEN": "2 tasks, 64 MiB", "SLURM_CONF": rmctltest.Slurm(t, "portable").Configuration}
		},
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			settings := environment(t)
			settings["TARGET"] = target
			rmctltest.Scripts(t, filepath.Join("testdata", "script-portable"), settings)
		})
	}
}
