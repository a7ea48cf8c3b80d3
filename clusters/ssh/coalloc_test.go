package ssh_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// rmctlThere stops once, if a folder "armed" is there, when a submission is recorded and before its answer.
const rmctlThere = `#!/bin/sh
case $* in
*" submit "*)
	if rmdir %[1]s/armed 2>/dev/null; then
		answer=$(%[1]s/bin/built/rmctl "$@")
		echo >%[1]s/taken
		read -r line <%[1]s/end
		echo "$answer"
		exit
	fi ;;
esac
exec %[1]s/bin/built/rmctl "$@"
`

// A loginNode is a host with rmctl, a Slurm and a user, behind real sshds.
type loginNode struct {
	slurm   *rmctltest.Cluster
	daemons rmctltest.Daemons
	place   string // a folder of the user there
}

func startLoginNode(t *testing.T) loginNode {
	n := loginNode{slurm: rmctltest.Slurm(t, "at")}
	var err error
	n.place, err = os.MkdirTemp("", "rmctl-at-")
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return os.RemoveAll(n.place) == nil }, time.Minute, 10*time.Millisecond)
	})
	built := filepath.Join(n.place, "bin", "built")
	require.NoError(t, os.MkdirAll(built, 0o755))
	program, err := exec.LookPath("rmctl")
	require.NoError(t, err)
	// By processes of their own: what other tests start meanwhile would have a file that is written here open, which keeps it from running.
	for _, name := range []string{"rmctl", "rmctl-node"} {
		require.NoError(t, exec.Command("install", "-m", "755", filepath.Join(filepath.Dir(program), name), built).Run())
	}
	script := filepath.Join(n.place, "bin", "rmctl")
	require.NoError(t, os.WriteFile(script+".new", fmt.Appendf(nil, rmctlThere, n.place), 0o755))
	require.NoError(t, exec.Command("install", "-m", "755", script+".new", script).Run())
	require.NoError(t, exec.Command("chown", "-R", "rmtest", n.place).Run())
	require.NoError(t, os.Chmod(n.place, 0o755))
	n.daemons = rmctltest.SSHD(t, "at", fmt.Sprintf("RMCTL_SSHD_ENVIRONMENT=%s PATH=%s:/usr/bin:/bin XDG_STATE_HOME=%s XDG_CONFIG_HOME=%s",
		n.slurm.Setting(), filepath.Join(n.place, "bin"), filepath.Join(n.place, "state"), filepath.Join(n.place, "config")))
	t.Cleanup(func() { n.asks(t, "conn", "close", "--all") }) // it ends the background process, too
	return n
}

// asks runs rmctl on the login node, as its user.
func (n loginNode) asks(t *testing.T, arguments ...string) string {
	t.Helper()
	owner, err := user.Lookup("rmtest")
	require.NoError(t, err)
	id, err := strconv.ParseUint(owner.Uid, 10, 32)
	require.NoError(t, err)
	group, err := strconv.ParseUint(owner.Gid, 10, 32)
	require.NoError(t, err)
	command := exec.Command(filepath.Join(n.place, "bin", "rmctl"), arguments...)
	command.Dir = n.place
	command.Env = []string{"HOME=" + owner.HomeDir, "PATH=/usr/bin:/bin", "XDG_STATE_HOME=" + filepath.Join(n.place, "state"), "XDG_CONFIG_HOME=" + filepath.Join(n.place, "config"), n.slurm.Setting()}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(group)}}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%v: %s", arguments, output)
	return string(output)
}

// killsBackground kills the background process there.
func (n loginNode) killsBackground(t *testing.T) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(n.place, "state", "rmctl", "background-*", "log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	all := regexp.MustCompile(`background process started" pid=(\d+)`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, all, "%s", text)
	id, err := strconv.Atoi(all[len(all)-1][1])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(id, syscall.SIGKILL))
}

// A sender is a user whose ensembles run on the login node, over a connection that can be cut.
type sender struct {
	*rmctltest.Desk
	t     *testing.T
	proxy *remotetest.Proxy
}

func (n loginNode) sender(t *testing.T, transport, environment string) sender {
	t.Helper()
	s := sender{rmctltest.NewDesk(t, "", environment), t, remotetest.NewProxy(t, fmt.Sprintf("127.0.0.1:%d", n.daemons.Port), remotetest.Faults{})}
	config := filepath.Join(s.Home, "ssh_config")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host rmtest-at\n  Port %d\n  HostKeyAlias [127.0.0.1]:%d\nHost *\n  Include %s\n",
		s.proxy.Port(), n.daemons.Port, n.daemons.Configuration), 0o600))
	s.Reaches("login", "fork", transport, "rmtest-at", config)
	return s
}

// file writes a file to the desk, and returns its name.
func (s sender) file(name, text string) string {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.Home, name), []byte(text), 0o600))
	return name
}

func onTarget(label, target, script string) string {
	return fmt.Sprintf("[part.%s]\ntarget = %q\nexecutable = \"/bin/sh\"\narguments = [\"-c\", %q]\n", label, target, script)
}

// status returns an ensemble.
func (s sender) status(id string) (status coalloc.Status) {
	s.t.Helper()
	require.NoError(s.t, json.Unmarshal([]byte(s.Does("coalloc", "status", "--json", id)), &status))
	return status
}

// checksIn waits until a number of parts of an ensemble have checked in.
func (s sender) checksIn(id string, count int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		checkedIn := 0
		for _, part := range s.status(id).Parts {
			if part.State == coalloc.PartCheckedIn {
				checkedIn++
			}
		}
		return checkedIn == count
	}, 3*time.Minute, 200*time.Millisecond, "%d parts do not check in", count)
}

// A waiting is rmctl coalloc wait that runs.
type waiting struct {
	*exec.Cmd
	stderr *strings.Builder
}

func (s sender) waits(id string) waiting {
	s.t.Helper()
	w := waiting{s.Command(s.t.Context(), "coalloc", "wait", id), &strings.Builder{}}
	w.Stderr = w.stderr
	require.NoError(s.t, w.Start())
	return w
}

// Ensembles run on a login node, however often the connection to it is lost.
func TestEnsemblesAtATarget(t *testing.T) {
	t.Parallel()
	n := startLoginNode(t)
	for _, transport := range []string{"ssh", "openssh"} {
		for _, environment := range []string{rmctltest.Background, rmctltest.Foreground} {
			t.Run(transport+" "+environment, func(t *testing.T) { testEnsembleAt(t, n, n.sender(t, transport, environment)) })
		}
	}
	t.Run("cancel", func(t *testing.T) { testCanceledEnsembleAt(t, n.sender(t, "ssh", rmctltest.Background)) })
	t.Run("cut", func(t *testing.T) { testCutWhileEnsembleRuns(t, n.sender(t, "ssh", rmctltest.Foreground)) })
	t.Run("cut/background", func(t *testing.T) { testCutWhileEnsembleRuns(t, n.sender(t, "openssh", rmctltest.Background)) })
	t.Run("killed", func(t *testing.T) { testKilledBackgroundAt(t, n, n.sender(t, "ssh", rmctltest.Background)) })
	for _, environment := range []string{rmctltest.Background, rmctltest.Foreground} {
		t.Run("submission/"+environment, func(t *testing.T) { testCutWhileSubmittingEnsemble(t, n, n.sender(t, "ssh", environment)) })
	}
	require.Empty(t, n.slurm.Asks(t, "squeue", "--noheader"), "a job is left")
}

// testEnsembleAt runs an ensemble on the login node and its Slurm, with all commands from here.
func testEnsembleAt(t *testing.T, n loginNode, s sender) {
	id := s.Does("coalloc", "submit", "--at", "login", s.file("two.toml", "name = \"at\"\n"+onTarget("a", "local", "echo a on $(id -un)")+onTarget("b", "slurm", "echo b under $SLURM_JOB_ID; exit 3")))
	s.checksIn(id, 2)
	require.Contains(t, s.Does("coalloc", "status", "at"), id+" at at login: WAITING")
	require.Contains(t, s.Does("coalloc", "list"), "login")
	s.Does("coalloc", "add", id, s.file("c.toml", onTarget("c", "local", "echo c")))
	s.Does("coalloc", "add", id, s.file("d.rsl", "&(resourceManagerContact=local)(executable=/bin/echo)(arguments=d)(label=d)"))
	s.Does("coalloc", "substitute", id, "d", s.file("e.toml", onTarget("e", "local", "echo e")))
	require.Contains(t, s.Refused(exitFailed, "coalloc", "add", id, "c.toml"), "the label is in use")
	s.Does("coalloc", "delete", id, "c")
	s.checksIn(id, 3)
	s.Does("coalloc", "commit", "--now", id)
	require.Contains(t, s.Refused(3, "coalloc", "wait", id), "b: RELEASED")
	status := s.status(id)
	require.Equal(t, coalloc.Failed, status.State)
	require.Equal(t, "login", status.At)
	require.Equal(t, 3, *status.Parts[1].ExitCode)
	require.Equal(t, "a on rmtest", s.Does("coalloc", "output", id, "a"))
	require.Contains(t, s.Does("coalloc", "output", id), "b under "+status.Parts[1].JobID)
	require.Contains(t, s.Does("coalloc", "events", "--json", id), `"kind":"edit","label":"c"`)
	require.Contains(t, s.Does("coalloc", "explain", id), "b: job "+status.Parts[1].JobID+" has ended with exit code 3")
	require.Contains(t, s.Does("coalloc", "list", "--all", "--json"), `"exitCode":3`, "the parts are on record here, too")
	require.Contains(t, n.asks(t, "coalloc", "list", "--all"), id)
}

func testCanceledEnsembleAt(t *testing.T, s sender) {
	id := s.Does("coalloc", "submit", "--at", "login", s.file("two.toml", onTarget("a", "local", "echo a")+onTarget("b", "slurm", "echo b")))
	s.checksIn(id, 2)
	s.Does("coalloc", "cancel", id)
	require.Contains(t, s.Refused(exitFailed, "coalloc", "wait", id), "CANCELED")
	require.Contains(t, s.Refused(exitFailed, "coalloc", "cancel", id), "the ensemble has ended")
	require.NotContains(t, s.Does("coalloc", "list"), id)
}

// testCutWhileEnsembleRuns cuts the connection again and again: each event is printed once, and each command does what it should.
func testCutWhileEnsembleRuns(t *testing.T, s sender) {
	id := s.Does("coalloc", "submit", "--at", "login", s.file("two.toml", onTarget("a", "local", "echo a")+onTarget("b", "local", "echo b")))
	w := s.waits(id)
	s.checksIn(id, 2)
	for _, command := range [][]string{{"add", id, s.file("c.toml", onTarget("c", "local", "echo c"))}, {"substitute", id, "c", "c.toml"}, {"delete", id, "c"}, {"commit", id}} {
		s.proxy.Cut()
		s.Does(append([]string{"coalloc"}, command...)...)
	}
	require.NoError(t, w.Wait(), w.stderr)
	require.Contains(t, w.stderr.String(), "the connection was lost; connecting again")
	status := s.status(id)
	require.Equal(t, coalloc.Done, status.State)
	require.Len(t, status.Parts, 4, "%+v", status.Parts)
	for _, once := range []string{"a: CHECKED_IN", "b: CHECKED_IN", "a: RELEASED", "b: RELEASED"} {
		require.Equal(t, 1, strings.Count(w.stderr.String(), once), w.stderr)
	}
	require.Equal(t, "a", s.Does("coalloc", "output", id, "a"))
}

// testKilledBackgroundAt kills the background process of the login node, which then stays
// down.
func testKilledBackgroundAt(t *testing.T, n loginNode, s sender) {
	id := s.Does("coalloc", "submit", "--at", "login", s.file("two.toml", onTarget("a", "local", "echo a")+onTarget("b", "slurm", "echo b")))
	s.checksIn(id, 2)
	w := s.waits(id)
	n.killsBackground(t)
	s.Does("coalloc", "commit", "--now", id)
	require.NoError(t, w.Wait(), w.stderr)
	require.Equal(t, coalloc.Done, s.status(id).State)

	id = s.Does("coalloc", "submit", "--at", "login", "--commit", s.file("one.toml", onTarget("a", "local", "sleep 3; echo a")))
	w = s.waits(id)
	require.Eventually(t, func() bool { return s.status(id).State == coalloc.Running }, time.Minute, 100*time.Millisecond)
	n.killsBackground(t)
	require.NoError(t, w.Wait(), "%s: the command that waits has it run again", w.stderr)
}

// testCutWhileSubmittingEnsemble cuts the connection once the ensemble is on record on the login node, and before the answer.
func testCutWhileSubmittingEnsemble(t *testing.T, n loginNode, s sender) {
	for _, each := range []string{"rm -f taken end", "mkfifo taken end", "mkdir armed", "chown rmtest taken end armed"} {
		command := exec.Command("sh", "-c", each)
		command.Dir = n.place
		require.NoError(t, command.Run(), each)
	}
	cut := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(filepath.Join(n.place, "taken")) // once the script there writes
		s.proxy.Cut()
		cut <- err
	}()
	name := fmt.Sprintf("cut-%d", time.Now().UnixNano())
	id := s.Does("coalloc", "submit", "--at", "login", s.file("one.toml", "name = \""+name+"\"\n"+onTarget("a", "local", "echo a")))
	require.NoError(t, <-cut)
	require.NoError(t, os.WriteFile(filepath.Join(n.place, "end"), []byte("\n"), 0), "the first one goes on, and nobody listens")
	s.checksIn(id, 1)
	require.Equal(t, 1, strings.Count(n.asks(t, "coalloc", "list"), name), "it runs once")
	s.Does("coalloc", "commit", id)
	s.Does("coalloc", "wait", id)
}
