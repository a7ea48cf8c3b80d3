package clusters_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// tryInteractiveSlurm runs jobs with the definition slurm-interactive: srun has the terminal,
// and the scheduler knows the job.
func tryInteractiveSlurm(t *testing.T, cluster *rmctltest.Cluster) {
	slurm := cluster.Setting()
	asks := func(program string, arguments ...string) string { return cluster.Asks(t, program, arguments...) }
	const target = "slurm-interactive"

	t.Run("a program runs on a node, and its code is passed on", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		printed, messages, code := runsWithout(t, d, nil, false, "run", "-t", target, "-s", "ntasks=2", "-s", "label=true", "-e", "GREETING=a b", "--", "sh", "-c", `echo "$GREETING $SLURM_PROCID"`)
		require.Zero(t, code, messages)
		require.Regexp(t, `(?m)^0: slurm: job \d+ runs on node[12]$`, messages)
		require.Regexp(t, `(?m)^0: a b 0$`, printed)
		require.Regexp(t, `(?m)^1: a b 1$`, printed)
		said := d.Refused(3, "run", "-t", target, "--", "sh", "-c", "exit 3")
		id := regexp.MustCompile(`slurm: job (\d+) runs`).FindStringSubmatch(said)[1]
		require.Regexp(t, "JobState=(FAILED|COMPLETING)", asks("scontrol", "show", "job", id))
		require.Contains(t, asks("scontrol", "show", "job", id), "ExitCode=3:0")
		require.Regexp(t, `"id":"`+id+`".*"exitCode":3`, d.Does("jobs", "--all", "--json"))
		d.Does("run", "-t", target, "--", "printf", `srun: job 987654 queued and waiting for resources\nslurm: job 987654 runs on x\n`)
		require.NotContains(t, d.Does("jobs", "--all", "--json"), `"id":"987654"`, "what the program prints names no job")
		d.Refused(137, "run", "-t", target, "--", "sh", "-c", "kill -KILL $$")
		d.Refused(127, "run", "-t", target, "--", "/nowhere/program")
	})

	for _, environment := range []string{"", rmctltest.Foreground} {
		t.Run("without a terminal streams are passed on as they are "+environment, func(t *testing.T) {
			passesStreams(t, rmctltest.NewDesk(t, interactive, slurm, environment), anyBytes, "run", "-t", target)
		})
	}

	t.Run("a job waits, runs at the terminal, and its scheduler is asked meanwhile", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		id := d.Does("run", "--detach", "-t", target, "-s", "hold=true", "--", "sh", "-c", `stty size; read -r line; echo "<$line>"; exit 4`)
		require.Regexp(t, `^\d+$`, id)
		require.Contains(t, d.Does("status", "--json", "--fresh", id), `"detail":"USER_ON_HOLD"`)
		require.Contains(t, asks("squeue", "-h", "-j", id), "JobHeldUser")
		s := d.Sits("attach", id)
		d.Does("release", id)
		s.WaitFor("slurm: job " + id + " runs on node")
		s.WaitFor("24 80")
		require.Contains(t, d.Does("status", "--json", "--fresh", id), `"native":"RUNNING"`)
		require.Contains(t, asks("squeue", "-h", "-o", "%T", "-j", id), "RUNNING")
		s.Type("typed\r")
		s.WaitFor("<typed>")
		s.Ends(4)
		require.Contains(t, d.Does("status", "--json", id), `"exitCode":4`)
	})

	t.Run("several run at once; Ctrl-C reaches the program", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		one := d.Sits("run", "-t", target, "--", "sh", "-c", `trap 'echo interrupted; exit 5' INT; echo begun; while :; do sleep 0.2; done`)
		one.WaitFor("begun")
		other := d.Sits("run", "-t", target, "--", "sh", "-c", `echo begun; read -r line`)
		other.WaitFor("begun")
		one.Type("\x03")
		one.WaitFor("interrupted")
		one.Ends(5)
		other.Type("\r")
		other.Ends(0)
	})

	for _, environment := range []string{"", rmctltest.Foreground} {
		t.Run("Ctrl-C ends the wait for nodes "+environment, func(t *testing.T) {
			d := rmctltest.NewDesk(t, interactive, slurm, environment)
			s := d.Sits("run", "-t", target, "-s", "partition=closed", "--", "true")
			s.WaitFor("queued and waiting for resources")
			id := regexp.MustCompile(`job (\d+) queued`).FindStringSubmatch(s.Screen)[1]
			// An srun that has just begun to wait may need a second Ctrl-C.
			require.Eventually(t, func() bool { return strings.Contains(d.Does("jobs", "--json"), `"id":"`+id+`"`) }, 5*time.Minute, 50*time.Millisecond, "srun is heard by us before it is by rmctl")
			require.Contains(t, d.Does("status", "--json", "--fresh", id), `"native":"PENDING"`)
			s.Type("\x03")
			s.Ends(1) // srun and slurmctld race: srun may or may not report that the allocation was revoked
			require.Contains(t, d.Does("status", "--json", id), `"detail":"CANCELED"`)
			require.Contains(t, asks("scontrol", "show", "job", id), "JobState=CANCELLED")
		})
	}

	t.Run("jobs that wait and that run are canceled", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		waiting := d.Does("run", "--detach", "-t", target, "-s", "partition=closed", "--", "true")
		running := d.Does("run", "--detach", "-t", target, "--", "sleep", "1000")
		for _, id := range []string{waiting, running} {
			d.Does("cancel", id)
			require.Contains(t, d.Does("status", "--json", id), `"detail":"CANCELED"`)
			require.Regexp(t, "JobState=(CANCELLED|COMPLETING|FAILED)", asks("scontrol", "show", "job", id))
		}
	})

	t.Run("the reason of srun for a refusal is shown", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		require.Contains(t, d.Refused(exitScheduler, "run", "-t", target, "-s", "partition=nope", "--", "true"), "Invalid partition name specified")
		d.Refused(exitScheduler, "run", "-t", target, "-s", "srun-options=--no-such-option", "--", "true")
		require.Contains(t, d.Refused(exitScheduler, "run", "-t", target, "-s", "mem=1T", "--", "true"), "node configuration is not available")
		require.NotContains(t, d.Does("jobs", "--all", "--json"), `"phase":"SUBMITTED"`)
	})

	t.Run("a script of one's own names its job, too", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		script := filepath.Join(d.Home, "own.sh")
		require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho mine; read -r line; exit 6\n"), 0o700))
		s := d.Sits("run", "-t", target, "--script", script)
		s.WaitFor("mine")
		becomes(t, d, `"id":"\d+".*"state":"RUNNING"`, "jobs", "--json")
		s.Type("\r")
		s.Ends(6)
	})

	t.Run("Slurm shows the tag of a job that runs", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm, rmctltest.Foreground)
		s := d.Sits("run", "-t", target, "--", "sh", "-c", `trap "" HUP; echo begun; sleep 1000`)
		s.WaitFor("begun")
		found := becomes(t, d, `"id":"\d+"`, "jobs", "--json")
		id := regexp.MustCompile(`"id":"(\d+)"`).FindStringSubmatch(found)[1]
		tag := regexp.MustCompile(`"tag":"([^"]+)"`).FindStringSubmatch(found)[1]
		require.Contains(t, asks("scontrol", "show", "job", id), "/"+tag+"managed_file_for_script")
		require.Contains(t, d.Does("status", "--json", "--fresh", id), `"state":"RUNNING"`)
		d.Does("cancel", id)
	})

	t.Run("doctor finds what it needs", func(t *testing.T) {
		d := rmctltest.NewDesk(t, interactive, slurm)
		said := d.Does("doctor", "-t", target)
		require.Regexp(t, `(?m)^ok +srun +slurm`, said)
		require.NotContains(t, said, "problem")
	})
}
