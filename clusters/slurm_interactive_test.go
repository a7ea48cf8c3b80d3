package clusters_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Interactive clients of a real Slurm, through the shipped definition and those
// of testdata/interactive.
func TestInteractiveSlurm(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "interactive")
	slurm := cluster.Setting()
	asks := func(program string, arguments ...string) string { return cluster.Asks(t, program, arguments...) }

	t.Run("slurm-interactive", func(t *testing.T) { tryInteractiveSlurm(t, cluster) })

	t.Run("an allocation waits, runs, gets its input and ends", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		id := d.Does("run", "--detach", "-t", "salloc", "-s", "options=--hold", "--", "printenv", "SLURM_JOB_ID")
		require.Regexp(t, `^\d+$`, id)
		require.Contains(t, d.Does("status", "--json", id), `"state":"SUBMITTED"`)
		require.Contains(t, asks("squeue", "-h", "-j", id), "JobHeldUser")
		s := d.Sits("attach", id)
		s.WaitFor("Pending job allocation " + id)
		asks("scontrol", "release", id)
		s.WaitFor("Granted job allocation " + id)
		s.WaitFor("printenv")
		s.WaitFor(id + "\r\n") // after the prompt, or after text typed before the prompt
		becomes(t, d, `"state":"RUNNING"`, "status", "--json", id)
		s.Type("stty size\r")
		s.WaitFor("24 80\r\n") // after a prompt, or without one
		s.Type("exit 3\r")
		s.Ends(3)
		require.Contains(t, s.Screen, "Relinquishing job allocation")
		require.Contains(t, d.Does("status", "--json", id), `"detail":"FAILED"`)
	})

	t.Run("an allocation that waits is canceled", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		id := d.Does("run", "--detach", "-t", "salloc", "-s", "options=--hold", "--", "true")
		d.Does("cancel", id)
		require.Contains(t, d.Does("status", "--json", id), `"detail":"CANCELED"`)
		require.Empty(t, asks("squeue", "-h", "-o", "%i", "-t", "pending,running"))
	})

	t.Run("an allocation is refused", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		said := d.Refused(exitScheduler, "run", "-t", "salloc", "-s", "options=--partition=nope", "--", "true")
		require.Contains(t, said, "invalid partition specified: nope")
	})

	for _, environment := range []string{"", rmctltest.Foreground} {
		t.Run("a program has a terminal on its node "+environment, func(t *testing.T) {
			d := rmctltest.NewDesk(t, interactive, slurm, environment)
			s := d.Sits("run", "-t", "srun", "--", "sh", "-c", `echo begun; stty size; trap 'echo interrupted' INT; read -r line; echo "<$line>"; exit 4`)
			s.WaitFor("begun")
			s.WaitFor("24 80")
			becomes(t, d, `"state":"RUNNING"`, "jobs", "--json")
			s.Type("typed\r")
			s.WaitFor("<typed>")
			s.Ends(4)
			require.Contains(t, d.Does("jobs", "--all", "--json"), `"exitCode":4`)
		})
	}
}
