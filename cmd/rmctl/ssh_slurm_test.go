package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote/remotetest"
)

const sshSlurmPort = "28822"

// A slurmThere is a real Slurm behind real sshds: that of the target and a jump
// host.
type slurmThere struct {
	sshConfig     string
	configuration string // SLURM_CONF
	place         string // a folder of the user there
}

// startSlurmThere starts all that, and stops it when the test has ended.
func startSlurmThere(t *testing.T) slurmThere {
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("needs a real Slurm and sshds: RMCTL_CLUSTERS=1 starts them, as root on Debian")
	}
	there := slurmThere{configuration: startSlurm(t, "RMCTL_SLURM_DIR=/tmp/rmctl-test-slurm-ssh", "RMCTL_SLURM_PORT=29217")}
	var err error
	there.place, err = os.MkdirTemp("", "rmctl-place-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(there.place)) })
	bin := filepath.Join(there.place, "bin")
	there.sshConfig = startSSHD(t, "/tmp/rmctl-test-sshd-slurm", sshSlurmPort,
		"RMCTL_SSHD_ENVIRONMENT=SLURM_CONF="+there.configuration+" PATH="+bin+":/usr/bin:/bin")
	submitter, err := user.Lookup("rmtest")
	require.NoError(t, err)
	id, err := strconv.Atoi(submitter.Uid)
	require.NoError(t, err)
	require.NoError(t, os.Chown(there.place, id, -1))
	require.NoError(t, os.Mkdir(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sbatch"), fmt.Appendf(nil, `#!/bin/sh
test -p %[1]s/taken || exec /usr/bin/sbatch "$@"
/usr/bin/sbatch "$@"
echo >%[1]s/taken
read -r line <%[1]s/end
`, there.place), 0o755))
	return there
}

// asks runs one of Slurm's programs here.
func (s slurmThere) asks(t *testing.T, program string, arguments ...string) string {
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), "SLURM_CONF="+s.configuration)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return strings.TrimSpace(string(output))
}

// reaches adds a target to a desk.
func (d *desk) reaches(name, definition, transport, host, sshConfig string) {
	file, err := os.OpenFile(filepath.Join(d.home, ".config", "rmctl", "targets.toml"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(d.t, err)
	_, err = fmt.Fprintf(file, "[targets.%s]\ndefinition = %q\ntransport = %q\nhost = %q\nssh_config = %q\n", name, definition, transport, host, sshConfig)
	require.NoError(d.t, err)
	require.NoError(d.t, file.Close())
}

// The scripts of testdata/script-ssh-slurm run with each way to a Slurm that is
// behind SSH, and interactive jobs do.
func TestSlurmBehindSSH(t *testing.T) {
	there := startSlurmThere(t)
	for _, target := range []string{"native", "program", "behind"} {
		t.Run("jobs/"+target, func(t *testing.T) {
			runScripts(t, filepath.Join("testdata", "script-ssh-slurm"), map[string]string{
				"SSH_CONFIG": there.sshConfig, "SSH_AUTH_SOCK": "", "RMCTL_BACKGROUND": "", "TARGET": target, "PLACE": there.place,
			})
		})
	}
	for _, transport := range []string{"ssh", "openssh"} {
		t.Run("interactive/"+transport, func(t *testing.T) { testInteractiveSlurmBehindSSH(t, there, transport) })
	}
	for _, transport := range []string{"ssh", "openssh"} {
		for _, environment := range []string{"RMCTL_BACKGROUND=", foreground} {
			t.Run("cut/"+transport+" "+environment, func(t *testing.T) { testConnectionCutWhileSubmitting(t, there, transport, environment) })
		}
	}
}

// testInteractiveSlurmBehindSSH has a terminal on a node behind SSH, through the
// background process.
func testInteractiveSlurmBehindSSH(t *testing.T, there slurmThere, transport string) {
	d := newDesk(t)
	d.reaches("node", "srun.xml", transport, "rmtest-target", there.sshConfig)
	s := d.sits("run", "-t", "node", "-d", there.place, "--", "sh", "-c", `echo begun; stty size; trap 'echo interrupted' INT; trap 'stty size' WINCH; while read -r line || :; do `+
		`echo "<$line>"; test "$line" = size && stty size; test "$line" = end && exit 4; done`)
	s.waitFor("begun")
	s.waitFor("24 80")
	require.NoError(t, pty.Setsize(s.terminal, &pty.Winsize{Rows: 30, Cols: 99}))
	s.waitFor("30 99") // which takes its own time, beside what is typed
	s.typeKeys("size\r")
	s.waitFor("<size>")
	s.waitFor("30 99")
	s.typeKeys("\x03")
	s.waitFor("interrupted")
	s.typeKeys("\x03\x03")
	s.waitFor("detach, cancel or go on? [d/c/G] ")
	s.typeKeys("d")
	s.ends(exitDone)

	id := there.asks(t, "squeue", "-h", "-o", "%i", "-t", "running")
	require.Contains(t, s.screen, "rmctl attach "+id)
	require.Contains(t, d.does("status", "--json", id), `"state":"RUNNING"`)
	d.does("send", id, "sent", "from elsewhere")
	s = d.sits("attach", id)
	s.waitFor("begun") // what was printed before
	s.waitFor("<sent from elsewhere>")
	s.typeKeys("end\r")
	s.ends(4)
	require.Contains(t, d.does("status", "--json", id), `"exitCode":4`)

	require.Contains(t, d.refused(2, "run", "-t", "node", "-d", there.place, "--", "/nowhere/program"), "No such file or directory", "it is srun that fails")
	id = d.does("run", "--detach", "-t", "node", "-d", there.place, "--", "sleep", "300")
	d.does("cancel", id)
	require.Contains(t, d.does("status", "--json", id), `"detail":"CANCELED"`)
	require.NotContains(t, there.asks(t, "squeue", "-h", "-o", "%i", "-t", "pending,running"), id)
}

// testConnectionCutWhileSubmitting cuts the connection while sbatch runs, which
// goes on and submits: rmctl cannot know, and must neither submit again nor lose
// the job.
func testConnectionCutWhileSubmitting(t *testing.T, there slurmThere, transport, environment string) {
	proxy := remotetest.NewProxy(t, "127.0.0.1:"+sshSlurmPort, remotetest.Faults{})
	d := newDesk(t, environment)
	config := filepath.Join(d.home, "ssh_config")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host rmtest-cut\n  Port %d\n  HostKeyAlias [127.0.0.1]:%s\nHost *\n  Include %s\n",
		proxy.Port(), sshSlurmPort, there.sshConfig), 0o600))
	d.reaches("far", "slurm", transport, "rmtest-cut", config)
	d.does("submit", "-t", "far", "-d", there.place, "--", "true") // the way there works, and stays open

	there.slowDown(t)
	cut := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(filepath.Join(there.place, "taken"))
		proxy.Cut()
		cut <- err
	}()
	name := fmt.Sprintf("cut-%s-%d", transport, len(environment))
	submit := []string{"submit", "-t", "far", "-d", there.place, "-s", "job-name=" + name, "--", "sleep", "300"}
	id, jobsOfThatName := "", func() string { return there.asks(t, "squeue", "-h", "-o", "%i", "--name", name) }
	if environment == foreground {
		require.Contains(t, d.refused(exitUnreachable, submit...), "it is not known whether the job was submitted")
		id = jobsOfThatName()
	} else {
		id = d.does(submit...) // the background process connects again, and so the job is found at once
	}
	require.NoError(t, <-cut)
	require.Regexp(t, `^\d+$`, id, "there is one such job")

	require.Contains(t, d.does("status", "--json"), `"id":"`+id+`"`, "the next look finds it")
	require.Equal(t, id, jobsOfThatName(), "nothing is submitted twice")
	d.does("cancel", id)
}

// slowDown makes sbatch, until the test has ended, write to the pipe "taken" when
// it has submitted, and then not end.
func (s slurmThere) slowDown(t *testing.T) {
	for _, name := range []string{"taken", "end"} {
		path := filepath.Join(s.place, name)
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		require.NoError(t, os.Chmod(path, 0o666))
		t.Cleanup(func() {
			file, err := os.OpenFile(path, os.O_RDWR, 0) // which lets go whoever waits for the other side
			require.NoError(t, err)
			require.NoError(t, errors.Join(file.Close(), os.Remove(path)))
		})
	}
}
