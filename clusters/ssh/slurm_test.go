package ssh_test

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// A slurmThere is a real Slurm behind real sshds: that of the target and a jump
// host.
type slurmThere struct {
	*rmctltest.Cluster
	daemons rmctltest.Daemons
	place   string // a folder of the user there
}

// startSlurmThere starts all that, and stops it when the test has ended.
func startSlurmThere(t *testing.T) slurmThere {
	there := slurmThere{Cluster: rmctltest.Slurm(t, "ssh")}
	var err error
	there.place, err = os.MkdirTemp("", "rmctl-place-")
	require.NoError(t, err)
	t.Cleanup(func() {
		// A job that is not over yet still writes there.
		require.Eventually(t, func() bool { return os.RemoveAll(there.place) == nil }, time.Minute, 10*time.Millisecond)
	})
	bin := filepath.Join(there.place, "bin")
	there.daemons = rmctltest.SSHD(t, "slurm", "RMCTL_SSHD_ENVIRONMENT="+there.Setting()+" PATH="+bin+":/usr/bin:/bin")
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

// The scripts of testdata/script-ssh-slurm run with each way to a Slurm that is
// behind SSH, and interactive jobs do.
func TestSlurmBehindSSH(t *testing.T) {
	t.Parallel()
	there := startSlurmThere(t)
	for _, transport := range []string{"ssh", "openssh"} {
		for _, environment := range []string{rmctltest.Background, rmctltest.Foreground} {
			// One by one, and before all others: meanwhile every sbatch there is slow.
			t.Run("cut/"+transport+" "+environment, func(t *testing.T) { testConnectionCutWhileSubmitting(t, there, transport, environment) })
		}
	}
	for _, target := range []string{"native", "program", "behind"} {
		t.Run("jobs/"+target, func(t *testing.T) {
			t.Parallel()
			rmctltest.Scripts(t, filepath.Join("testdata", "script-ssh-slurm"), map[string]string{
				"SSH_CONFIG": there.daemons.Configuration, "SSH_AUTH_SOCK": "", "RMCTL_BACKGROUND": "", "TARGET": target, "PLACE": there.place,
			})
		})
	}
	t.Run("zone", func(t *testing.T) {
		t.Parallel()
		testSlurmInAnotherTimeZone(t, there)
	})
	for _, transport := range []string{"ssh", "openssh"} {
		t.Run("interactive/"+transport, func(t *testing.T) {
			t.Parallel()
			testInteractiveSlurmBehindSSH(t, there, transport)
		})
	}
}

// testInteractiveSlurmBehindSSH has a terminal on a node behind SSH, through the
// background process.
func testInteractiveSlurmBehindSSH(t *testing.T, there slurmThere, transport string) {
	d := rmctltest.NewDesk(t, interactive)
	d.Reaches("node", "srun.xml", transport, "rmtest-target", there.daemons.Configuration)
	s := d.Sits("run", "-t", "node", "-d", there.place, "--", "sh", "-c", `trap 'echo interrupted' INT; trap 'stty size' WINCH; echo begun; stty size; while read -r line || :; do `+
		`echo "<$line>"; test "$line" = size && stty size; test "$line" = end && exit 4; done`)
	s.WaitFor("begun")
	s.WaitFor("24 80")
	// srun 22.05 misses a change that comes just when its job has begun (without rmctl, too). Its
	// report arrives independently of what is typed.
	size := s.Resizes()
	s.Type("size\r")
	s.WaitFor("<size>")
	s.WaitFor(size)
	s.Type("\x03")
	s.WaitFor("interrupted")
	s.Type("\x03\x03")
	s.WaitFor("detach, cancel or continue? [d/c/G] ")
	s.Type("d")
	s.Ends(exitDone)

	hint := regexp.MustCompile(`rmctl attach (\d+)`).FindStringSubmatch(s.Screen)
	require.NotNil(t, hint, s.Screen)
	id := hint[1]
	require.Equal(t, "RUNNING", there.Asks(t, "squeue", "-h", "-o", "%T", "-j", id))
	require.Contains(t, d.Does("status", "--json", id), `"state":"RUNNING"`)
	d.Does("send", id, "sent", "from elsewhere")
	s = d.Sits("attach", id)
	s.WaitFor("begun") // the output so far
	s.WaitFor("<sent from elsewhere>")
	s.Type("end\r")
	s.Ends(4)
	require.Contains(t, d.Does("status", "--json", id), `"exitCode":4`)

	require.Contains(t, d.Refused(2, "run", "-t", "node", "-d", there.place, "--", "/nowhere/program"), "No such file or directory", "it is srun that fails")
	id = d.Does("run", "--detach", "-t", "node", "-d", there.place, "--", "sleep", "1000")
	d.Does("cancel", id)
	require.Contains(t, d.Does("status", "--json", id), `"detail":"CANCELED"`)
	require.NotContains(t, strings.Fields(there.Asks(t, "squeue", "-h", "-o", "%i", "-t", "pending,running")), id)
}

// testConnectionCutWhileSubmitting cuts the connection while sbatch runs, which
// goes on and submits: rmctl cannot know, and must neither submit again nor lose
// the job.
func testConnectionCutWhileSubmitting(t *testing.T, there slurmThere, transport, environment string) {
	proxy := remotetest.NewProxy(t, fmt.Sprintf("127.0.0.1:%d", there.daemons.Port), remotetest.Faults{})
	d := rmctltest.NewDesk(t, interactive, environment)
	config := filepath.Join(d.Home, "ssh_config")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host rmtest-cut\n  Port %d\n  HostKeyAlias [127.0.0.1]:%d\nHost *\n  Include %s\n",
		proxy.Port(), there.daemons.Port, there.daemons.Configuration), 0o600))
	d.Reaches("far", "slurm", transport, "rmtest-cut", config)
	d.Does("submit", "-t", "far", "-d", there.place, "--", "true") // the way there works, and stays open

	there.slowDown(t)
	cut := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(filepath.Join(there.place, "taken"))
		proxy.Cut()
		cut <- err
	}()
	name := fmt.Sprintf("cut-%s-%d", transport, len(environment))
	submit := []string{"submit", "-t", "far", "-d", there.place, "-s", "job-name=" + name, "--", "sleep", "1000"}
	id, jobsOfThatName := "", func() string { return there.Asks(t, "squeue", "-h", "-o", "%i", "--name", name) }
	if environment == rmctltest.Foreground {
		require.Contains(t, d.Refused(exitUnreachable, submit...), "it is not known whether the job was submitted")
		id = jobsOfThatName()
	} else {
		id = d.Does(submit...) // the background process connects again, and so the job is found at once
	}
	require.NoError(t, <-cut)
	require.Regexp(t, `^\d+$`, id, "there is one such job")

	require.Contains(t, d.Does("status", "--json"), `"id":"`+id+`"`, "the next look finds it")
	require.Equal(t, id, jobsOfThatName(), "nothing is submitted twice")
	d.Does("cancel", id)
}

// slowDown makes sbatch, until the test has ended, write to the pipe "taken" when
// it has submitted, and then not end.
func (s slurmThere) slowDown(t *testing.T) {
	for _, name := range []string{"taken", "end"} {
		path := filepath.Join(s.place, name)
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		require.NoError(t, os.Chmod(path, 0o666))
		t.Cleanup(func() {
			file, err := os.OpenFile(path, os.O_RDWR, 0) // which releases the process that waits for the other side
			require.NoError(t, err)
			require.NoError(t, errors.Join(file.Close(), os.Remove(path)))
		})
	}
}
