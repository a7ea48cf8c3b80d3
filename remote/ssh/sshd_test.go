package ssh

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

const (
	testPatience = time.Minute // bounds every wait for something that must happen
	sshdPort     = 28322
)

// startSshd starts real daemons, which are stopped when the test has ended, and
// returns the directory with their files.
func startSshd(t testing.TB, settings ...string) string {
	t.Helper()
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("needs a real sshd: RMCTL_CLUSTERS=1 starts one, as root on Debian")
	}
	directory := "/tmp/rmctl-test-sshd-native" // short, and readable for the users of the test
	settings = append([]string{"RMCTL_SSHD_DIR=" + directory, fmt.Sprintf("RMCTL_SSHD_PORT=%d", sshdPort)}, settings...)
	run := func(script string) {
		command := exec.Command(filepath.Join("..", "..", "testdata", "clusters", script))
		command.Env = append(os.Environ(), settings...)
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	run("sshd-up.sh")
	t.Cleanup(func() { run("sshd-down.sh") })
	return directory
}

// dialSshd connects to a host of the configuration that sshd-up.sh writes.
func dialSshd(t testing.TB, directory, host string, prompter remote.Prompter) *dialer {
	t.Helper()
	client, err := dial(t.Context(), Options{Host: host, ConfigFile: filepath.Join(directory, "client", "config"), Prompter: prompter})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

type result struct {
	stdout, stderr string
	code           int
}

// run runs a command line to its end.
func run(t testing.TB, client *dialer, line string, options channel.Options, input string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	defer cancel()
	opened, err := client.Open(ctx, line, options)
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	stop := context.AfterFunc(ctx, func() { opened.Close() })
	defer stop()
	go func() {
		_, _ = io.WriteString(opened.Stdin(), input)
		_ = opened.Stdin().Close()
	}()
	errors := make(chan string)
	go func() {
		text, _ := io.ReadAll(opened.Stderr())
		errors <- string(text)
	}()
	output, err := io.ReadAll(opened.Stdout())
	require.NoError(t, err)
	stderr := <-errors
	code, err := opened.Wait()
	require.NoError(t, err)
	return result{string(output), stderr, code}
}

func TestRealServer(t *testing.T) {
	directory := startSshd(t, "RMCTL_SSHD_PASSWORDS=yes")

	t.Run("commands run", func(t *testing.T) {
		for _, host := range []string{"target", "jump", "behind", "sh", "bash", "zsh", "csh", "tcsh", "fish", "certificate"} {
			client := dialSshd(t, directory, "rmtest-"+host, nil)
			require.Equal(t, result{"in\n", "err\n", 3}, run(t, client, "sh -c 'cat; echo err >&2; exit 3'", channel.Options{}, "in\n"), host)
		}
	})
	t.Run("a signal is reported as a code", func(t *testing.T) {
		client := dialSshd(t, directory, "rmtest-target", nil)
		require.Equal(t, result{"", "", 137}, run(t, client, "kill -KILL $$", channel.Options{}, ""))
	})
	t.Run("a terminal has a type and sizes", func(t *testing.T) {
		client := dialSshd(t, directory, "rmtest-target", nil)
		terminal := &remote.Terminal{Type: "vt220", Size: remote.Size{Columns: 81, Rows: 25}}
		require.Equal(t, result{"vt220\r\n25 81\r\n", "", 0}, run(t, client, "echo $TERM; stty size", channel.Options{Terminal: terminal}, ""))
	})
	t.Run("a password is asked for", func(t *testing.T) {
		password, err := os.ReadFile(filepath.Join(directory, "client", "password"))
		require.NoError(t, err)
		asker := &answers{texts: []string{"wrong", strings.TrimSpace(string(password))}}
		client := dialSshd(t, directory, "rmtest-password", asker)
		require.Equal(t, "ok\n", run(t, client, "echo ok", channel.Options{}, "").stdout)
		require.Len(t, asker.questions, 2)
		require.True(t, asker.questions[0].Secret)
	})
}

// answers is a user who gives one answer after the other.
type answers struct {
	texts     []string
	questions []remote.Question
}

func (a *answers) Ask(_ context.Context, question remote.Question) (string, error) {
	a.questions = append(a.questions, question)
	if len(a.texts) < len(a.questions) {
		return "", remote.ErrNobodyToAsk
	}
	return a.texts[len(a.questions)-1], nil
}
