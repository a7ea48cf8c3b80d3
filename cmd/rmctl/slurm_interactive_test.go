package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Interactive clients of a real Slurm, through definitions of testdata/interactive.
func TestInteractiveSlurm(t *testing.T) {
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("needs a real Slurm: RMCTL_CLUSTERS=1 starts one, as root on Debian")
	}
	slurm := "SLURM_CONF=" + startSlurm(t, "RMCTL_SLURM_DIR=/tmp/rmctl-test-slurm-interactive", "RMCTL_SLURM_PORT=28217")
	asks := func(program string, arguments ...string) string {
		command := exec.Command(program, arguments...)
		command.Env = append(os.Environ(), slurm)
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return string(output)
	}

	t.Run("an allocation waits, runs, gets its input and ends", func(t *testing.T) {
		d := newDesk(t, slurm)
		id := d.does("run", "--detach", "-t", "salloc", "-s", "options=--hold", "--", "printenv", "SLURM_JOB_ID")
		require.Regexp(t, `^\d+$`, id)
		require.Contains(t, d.does("status", "--json", id), `"state":"SUBMITTED"`)
		require.Contains(t, asks("squeue", "-h", "-j", id), "JobHeldUser")
		s := d.sits("attach", id)
		s.waitFor("Pending job allocation " + id)
		asks("scontrol", "release", id)
		s.waitFor("Granted job allocation " + id)
		s.waitFor("printenv")
		s.waitFor(id + "\r\n") // after the prompt, or after what was typed before there was one
		require.Contains(t, d.does("status", "--json", id), `"state":"RUNNING"`)
		s.typeKeys("stty size\r")
		s.waitFor("\n24 80")
		s.typeKeys("exit 3\r")
		s.ends(3)
		require.Contains(t, s.screen, "Relinquishing job allocation")
		require.Contains(t, d.does("status", "--json", id), `"detail":"FAILED"`)
	})

	t.Run("an allocation that waits is canceled", func(t *testing.T) {
		d := newDesk(t, slurm)
		id := d.does("run", "--detach", "-t", "salloc", "-s", "options=--hold", "--", "true")
		d.does("cancel", id)
		require.Contains(t, d.does("status", "--json", id), `"detail":"CANCELED"`)
		require.Empty(t, asks("squeue", "-h", "-o", "%i", "-t", "pending,running"))
	})

	t.Run("an allocation is refused", func(t *testing.T) {
		d := newDesk(t, slurm)
		said := d.refused(exitScheduler, "run", "-t", "salloc", "-s", "options=--partition=nope", "--", "true")
		require.Contains(t, said, "invalid partition specified: nope")
	})

	for _, environment := range []string{"", foreground} {
		t.Run("a program has a terminal on its node "+environment, func(t *testing.T) {
			d := newDesk(t, slurm, environment)
			s := d.sits("run", "-t", "srun", "--", "sh", "-c", `echo begun; stty size; trap 'echo interrupted' INT; read -r line; echo "<$line>"; exit 4`)
			s.waitFor("begun")
			s.waitFor("24 80")
			require.Contains(t, d.does("jobs", "--json"), `"state":"RUNNING"`)
			s.typeKeys("typed\r")
			s.waitFor("<typed>")
			s.ends(4)
			require.Contains(t, d.does("jobs", "--all", "--json"), `"exitCode":4`)
		})
	}
}
