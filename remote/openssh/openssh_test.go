package openssh_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
	"github.com/rmctl/rmctl/remote/openssh"
)

func TestRealSSHD(t *testing.T) {
	server := startSSHD(t, "28240")

	// Each of these holds however channels reach the host.
	ways := map[string]func(t *testing.T) openssh.Options{
		"Master": func(t *testing.T) openssh.Options { return server.options(t, "rmtest-target") },
		"UsersMaster": func(t *testing.T) openssh.Options {
			options := server.options(t, "rmtest-target")
			options.ConfigFile = startUsersMaster(t, server)
			return options
		},
		"WithoutMaster": func(t *testing.T) openssh.Options {
			options := server.options(t, "rmtest-target")
			options.Program = wrapper(t, `exec ssh -o ControlMaster=no "$@"`)
			return options
		},
		"JumpHost": func(t *testing.T) openssh.Options { return server.options(t, "rmtest-behind") },
	}
	for name, options := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testChannels(t, dial(t, options(t)), name)
		})
	}

	t.Run("EndsWithItsMaster", func(t *testing.T) { testLostMaster(t, server) })
	t.Run("LeavesTheUsersMaster", func(t *testing.T) { testUsersMasterStays(t, server) })
	t.Run("Closed", func(t *testing.T) { testClosed(t, server) })
	t.Run("Failures", func(t *testing.T) { testFailures(t, server) })
	t.Run("JumpHostFailures", func(t *testing.T) { testJumpHostFailures(t, server) })
	t.Run("Agent", func(t *testing.T) { testAgent(t, server) })
	t.Run("X11", func(t *testing.T) { testX11(t, server) })
	t.Run("IgnoresSettingsForOtherSessions", func(t *testing.T) { testForeignSettings(t, server) })
	t.Run("LoginShells", func(t *testing.T) { testLoginShells(t, server) })
}

// wrapper makes a program of a site around ssh.
func wrapper(t testing.TB, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site ssh")
	// A child that another test forks meanwhile would hold the file open, and nobody could
	// execute it.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	return path
}

// startUsersMaster starts a master as a user's own ssh does, and returns the
// configuration that leads to it.
func startUsersMaster(t *testing.T, server sshd) string {
	t.Helper()
	folder := stateFolder(t)
	config := filepath.Join(folder, "config")
	content, err := os.ReadFile(server.config)
	require.NoError(t, err)
	content = append([]byte("ControlPath "+folder+"/%C\n"), content...)
	require.NoError(t, os.WriteFile(config, content, 0o600))
	master := exec.Command("ssh", "-F", config, "-M", "-N", "rmtest-target")
	require.NoError(t, master.Start())
	t.Cleanup(func() {
		require.NoError(t, exec.Command("ssh", "-F", config, "-O", "exit", "rmtest-target").Run(), "the user's master is alive still")
		_ = master.Wait()
		require.NoError(t, os.Remove(config))
	})
	require.Eventually(t, func() bool {
		return exec.Command("ssh", "-F", config, "-O", "check", "rmtest-target").Run() == nil
	}, patience, 20*time.Millisecond)
	return config
}

func testChannels(t *testing.T, dialer channel.Dialer, way string) {
	t.Run("StreamsAndExitCode", func(t *testing.T) {
		left := run(t, dialer, "cat; echo err >&2; exit 7", "in\x00\xff\n")
		require.Equal(t, result{"in\x00\xff\n", "err\n", 7, nil}, left)
	})
	t.Run("AnExitCode255IsTheCommands", func(t *testing.T) {
		left := run(t, dialer, "echo 'Connection closed by remote host' >&2; exit 255", "")
		require.NoError(t, left.err)
		require.Equal(t, 255, left.code)
	})
	t.Run("ASignalIsNotALostConnection", func(t *testing.T) {
		left := run(t, dialer, "kill -9 $$", "")
		require.NoError(t, left.err)
		require.Equal(t, 255, left.code)
	})
	t.Run("InputEndsBeforeOutput", func(t *testing.T) {
		require.Equal(t, "3\n", run(t, dialer, "wc -l", "1\n2\n3\n").stdout)
	})
	t.Run("ManyAtOnce", func(t *testing.T) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				opened, err := dialer.Open(timeLimit(t), "cat", channel.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if left := finish(opened, "same"); left.stdout != "same" || left.code != 0 || left.err != nil {
					t.Error(left)
				}
				if err := opened.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	t.Run("Terminal", func(t *testing.T) {
		terminal := remote.Terminal{Type: "vt220", Size: remote.Size{Columns: 91, Rows: 17}}
		opened, err := dialer.Open(timeLimit(t), `stty size; echo $TERM; echo err >&2; while read word; do case $word in end) exit 3;; size) stty size;; *) echo "got $word";; esac; done`, channel.Options{Terminal: &terminal})
		require.NoError(t, err)
		lines := bufio.NewScanner(opened.Stdout())
		require.Equal(t, []string{"17 91", "vt220", "err"}, []string{nextLine(t, lines), nextLine(t, lines), nextLine(t, lines)})
		say := func(word string) {
			_, err = io.WriteString(opened.Stdin(), word+"\n")
			require.NoError(t, err)
			require.Equal(t, word, nextLine(t, lines), "the terminal there shows input")
		}
		say("yes")
		require.Equal(t, "got yes", nextLine(t, lines), "the terminal here does not show input once more")
		require.NoError(t, opened.Resize(remote.Size{Columns: 120, Rows: 50}))
		const mostTries = 1000 // the news may arrive after words that were typed later
		size := ""
		for i := range mostTries {
			if i%100 == 99 { // behind a master, ssh loses what comes before it has its handler of signals
				require.NoError(t, opened.Resize(remote.Size{Columns: 120, Rows: 49}))
				require.NoError(t, opened.Resize(remote.Size{Columns: 120, Rows: 50}))
			}
			say("size")
			if size = nextLine(t, lines); size == "50 120" {
				break
			}
		}
		require.Equal(t, "50 120", size)
		say("end")
		var rest []string
		for lines.Scan() {
			rest = append(rest, lines.Text())
		}
		require.NoError(t, lines.Err())
		require.Empty(t, rest, "what ssh says as it ends is not shown")
		code, err := opened.Wait()
		require.NoError(t, err)
		require.Equal(t, 3, code)
		require.NoError(t, opened.Close())
	})
	t.Run("ClosingEndsTheChannel", func(t *testing.T) {
		opened, err := dialer.Open(timeLimit(t), "echo begun; cat", channel.Options{})
		require.NoError(t, err)
		awaitLine(t, opened)
		require.NoError(t, opened.Close())
		require.NoError(t, opened.Close())
		_, err = opened.Wait()
		requireReason(t, err, remote.Disconnected)
		require.Zero(t, run(t, dialer, "true", "").code, "the connection stays")
	})
	t.Run("Subsystem", func(t *testing.T) {
		opened, err := dialer.Open(timeLimit(t), "sftp", channel.Options{Subsystem: true})
		require.NoError(t, err)
		// SSH_FXP_INIT of version 3, which the server answers with its own.
		_, err = opened.Stdin().Write([]byte{0, 0, 0, 5, 1, 0, 0, 0, 3})
		require.NoError(t, err)
		answer := make([]byte, 5)
		_, err = io.ReadFull(opened.Stdout(), answer)
		require.NoError(t, err)
		require.Equal(t, byte(2), answer[4], "SSH_FXP_VERSION")
		require.NoError(t, opened.Close())
	})
	t.Run("NoSuchSubsystem", func(t *testing.T) {
		opened, err := dialer.Open(timeLimit(t), "nothing", channel.Options{Subsystem: true})
		if way != "WithoutMaster" {
			require.NoError(t, err)
			err = finish(opened, "").err
			require.NoError(t, opened.Close())
		}
		require.ErrorIs(t, err, channel.ErrNoSubsystem)
	})
	t.Run("CanceledBeforehand", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := dialer.Open(ctx, "true", channel.Options{})
		require.ErrorIs(t, err, context.Canceled)
	})
}

func nextLine(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	require.True(t, lines.Scan(), "%v", lines.Err())
	return strings.TrimSuffix(lines.Text(), "\r")
}

// testLostMaster kills the process that holds the connection.
func testLostMaster(t *testing.T, server sshd) {
	options := server.options(t, "rmtest-target")
	dialer := dial(t, options)
	opened, err := dialer.Open(timeLimit(t), "echo begun; cat", channel.Options{})
	require.NoError(t, err)
	awaitLine(t, opened)
	killMaster(t, options.StateFolder)
	_, err = opened.Wait()
	requireReason(t, err, remote.Disconnected)
	require.NoError(t, opened.Close())
	_, err = dialer.Open(timeLimit(t), "true", channel.Options{})
	requireReason(t, err, remote.Disconnected)
	require.NotContains(t, err.Error(), "UNKNOWN port")
}

// killMaster kills the master whose socket is in a folder.
func killMaster(t *testing.T, folder string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, line := range lines {
		content, err := os.ReadFile(line)
		if err == nil && strings.Contains(string(content), folder) && strings.Contains(string(content), "ControlMaster=yes") {
			id, err := strconv.Atoi(strings.Split(line, "/")[2])
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(id, syscall.SIGKILL))
			return
		}
	}
	require.Fail(t, "there is no master")
}

func testUsersMasterStays(t *testing.T, server sshd) {
	options := server.options(t, "rmtest-target")
	options.ConfigFile = startUsersMaster(t, server) // which is asked to be alive at the end
	dialer, err := openssh.Dial(timeLimit(t), options)
	require.NoError(t, err)
	require.Empty(t, processesNaming(t, options.StateFolder), "no master of our own is started")
	require.NoError(t, dialer.Close())
}

func testClosed(t *testing.T, server sshd) {
	options := server.options(t, "rmtest-target")
	dialer, err := openssh.Dial(timeLimit(t), options)
	require.NoError(t, err)
	opened, err := dialer.Open(timeLimit(t), "cat", channel.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, processesNaming(t, options.StateFolder))
	require.NoError(t, dialer.Close())
	require.NoError(t, dialer.Close())
	require.Empty(t, processesNaming(t, options.StateFolder))
	_, err = opened.Wait()
	requireReason(t, err, remote.Disconnected)
	require.NoError(t, opened.Close())
	_, err = dialer.Open(timeLimit(t), "true", channel.Options{})
	requireReason(t, err, remote.Disconnected)
}

func testLoginShells(t *testing.T, server sshd) {
	for _, shell := range []string{"sh", "bash", "zsh", "csh", "tcsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			dialer := dial(t, server.options(t, "rmtest-"+shell))
			left := run(t, dialer, `/bin/sh -c 'cat; exit 5'`, "through\n")
			require.NoError(t, left.err)
			require.Equal(t, "through\n", left.stdout)
			require.Equal(t, 5, left.code)
		})
	}
}

func TestTooManyChannels(t *testing.T) {
	server := startSSHD(t, "28242", "RMCTL_SSHD_MAXSESSIONS=1")
	dialer := dial(t, server.options(t, "rmtest-target"))
	first, err := dialer.Open(timeLimit(t), "cat", channel.Options{})
	require.NoError(t, err)
	_, err = dialer.Open(timeLimit(t), "cat", channel.Options{})
	require.ErrorIs(t, err, channel.ErrTooManyChannels)
	require.NotErrorIs(t, err, remote.ErrUnreachable)
	require.Equal(t, "on", finish(first, "on").stdout, "the first stays")
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool {
		again, err := dialer.Open(timeLimit(t), "cat", channel.Options{})
		return err == nil && again.Close() == nil
	}, patience, 10*time.Millisecond, "there is room again")
}

func TestServerThatVanishes(t *testing.T) {
	server := startSSHD(t, "28244")
	dialer := dial(t, server.options(t, "rmtest-target"))
	opened, err := dialer.Open(timeLimit(t), "echo begun; cat", channel.Options{})
	require.NoError(t, err)
	awaitLine(t, opened)
	server.stop(t)
	_, err = opened.Wait()
	requireReason(t, err, remote.Disconnected)
	require.NoError(t, opened.Close())
}

// crashing makes another process of this test connect and wait.
const crashing = "RMCTL_TEST_OPENSSH_CRASH"

func TestNothingOutlivesAProcessThatIsKilled(t *testing.T) {
	if folder := os.Getenv(crashing); folder != "" {
		dialer, err := openssh.Dial(timeLimit(t), openssh.Options{Host: "rmtest-target", ConfigFile: os.Getenv("RMCTL_TEST_OPENSSH_CONFIG"), StateFolder: folder})
		require.NoError(t, err)
		_, err = dialer.Open(timeLimit(t), "cat", channel.Options{})
		require.NoError(t, err)
		os.Stdout.WriteString("ready\n")
		select {}
	}
	server := startSSHD(t, "28260")
	folder, err := os.MkdirTemp("/tmp", "rmctl-openssh-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	command := exec.CommandContext(timeLimit(t), os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), crashing+"="+folder, "RMCTL_TEST_OPENSSH_CONFIG="+server.config)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	require.NotEmpty(t, processesNaming(t, folder))
	require.NoError(t, command.Process.Kill())
	require.Error(t, command.Wait())
	require.Eventually(t, func() bool { return len(processesNaming(t, folder)) == 0 }, patience, 10*time.Millisecond)
}
