package openssh_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
	"github.com/rmctl/rmctl/remote/openssh"
)

// patience bounds every wait for something that must happen.
const patience = time.Minute

// sshd is a real one, started by testdata/clusters/sshd-up.sh.
type sshd struct {
	config string // of ssh
	folder string
	port   string
}

// startSSHD starts sshd on a port of this package. It is stopped, and its folder
// removed, when the test has ended.
func startSSHD(t testing.TB, port string, settings ...string) sshd {
	t.Helper()
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("needs a real sshd: RMCTL_CLUSTERS=1 starts one, as root on Debian")
	}
	folder := "/tmp/rmctl-test-openssh-" + port
	environment := append(os.Environ(), "RMCTL_SSHD_DIR="+folder, "RMCTL_SSHD_PORT="+port, "RMCTL_SSHD_REMOVE=1")
	environment = append(environment, settings...)
	script := func(name string) {
		command := exec.Command(filepath.Join("..", "..", "testdata", "clusters", name))
		command.Env = environment
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	t.Cleanup(func() { script("sshd-down.sh") })
	script("sshd-up.sh")
	return sshd{config: filepath.Join(folder, "client", "config"), folder: folder, port: port}
}

// stop stops the daemons and the sessions that they let in.
func (s sshd) stop(t *testing.T) {
	t.Helper()
	command := exec.Command(filepath.Join("..", "..", "testdata", "clusters", "sshd-down.sh"))
	command.Env = append(os.Environ(), "RMCTL_SSHD_DIR="+s.folder)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// options to reach a host of the configuration.
func (s sshd) options(t testing.TB, host string) openssh.Options {
	return openssh.Options{Host: host, ConfigFile: s.config, StateFolder: stateFolder(t)}
}

// stateFolder has a path that is short enough for sockets, unlike that of
// t.TempDir. Nothing may be left in it, and no ssh that it was named to.
func stateFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "rmctl-openssh-")
	require.NoError(t, err)
	t.Cleanup(func() {
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, "files of a connection are left")
		require.Empty(t, processesNaming(t, folder), "processes of a connection live on")
		require.NoError(t, os.RemoveAll(folder))
	})
	return folder
}

// processesNaming returns the command lines that hold a text.
func processesNaming(t testing.TB, text string) []string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var found []string
	for _, line := range lines {
		content, err := os.ReadFile(line)
		if err == nil && bytes.Contains(content, []byte(text)) {
			found = append(found, strings.ReplaceAll(string(content), "\x00", " "))
		}
	}
	return found
}

// timeLimit returns a context for work that must not hang.
func timeLimit(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// dial connects; the connection is closed when the test has ended.
func dial(t testing.TB, options openssh.Options) channel.Dialer {
	t.Helper()
	dialer, err := openssh.Dial(timeLimit(t), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dialer.Close()) })
	return dialer
}

// result is what a command left.
type result struct {
	stdout, stderr string
	code           int
	err            error
}

// finish gives a channel its input and waits for its end.
func finish(opened channel.Channel, input string) result {
	var stdout, stderr bytes.Buffer
	var streams sync.WaitGroup
	streams.Go(func() { _, _ = io.Copy(&stdout, opened.Stdout()) })
	streams.Go(func() { _, _ = io.Copy(&stderr, opened.Stderr()) })
	streams.Go(func() {
		_, _ = io.WriteString(opened.Stdin(), input)
		_ = opened.Stdin().Close()
	})
	streams.Wait()
	code, err := opened.Wait()
	return result{stdout.String(), stderr.String(), code, err}
}

// run runs a command line to its end.
func run(t testing.TB, dialer channel.Dialer, line, input string) result {
	t.Helper()
	opened, err := dialer.Open(timeLimit(t), line, channel.Options{})
	require.NoError(t, err)
	left := finish(opened, input)
	require.NoError(t, opened.Close())
	return left
}

// awaitLine waits until a command has printed a line.
func awaitLine(t testing.TB, opened channel.Channel) {
	t.Helper()
	impatience := context.AfterFunc(timeLimit(t), func() { _ = opened.Close() }) // reading fails then
	defer impatience()
	_, err := bufio.NewReader(opened.Stdout()).ReadString('\n')
	require.NoError(t, err)
}

func requireReason(t testing.TB, err error, reason remote.ConnectReason) {
	t.Helper()
	var failure *remote.ConnectError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, reason, failure.Reason, "%v", err)
	require.ErrorIs(t, err, remote.ErrUnreachable)
}
