package channel_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

func TestConnectionsConform(t *testing.T) {
	// The figures are for the first; the others show that nothing else differs.
	few := remotetest.Options{Volume: 1 << 20, Commands: 20, Values: 250}
	places := []struct {
		name    string
		options remotetest.Options
		dialer  func(t *testing.T) *localDialer
	}{
		{"sh", remotetest.Options{}, func(t *testing.T) *localDialer { return loginShell(t, "sh") }},
		{"csh", few, func(t *testing.T) *localDialer { return loginShell(t, "csh") }},
		{"fish", few, func(t *testing.T) *localDialer { return loginShell(t, "fish") }},
		{"without SFTP", few, func(t *testing.T) *localDialer {
			dialer := loginShell(t, "sh")
			dialer.sftp = ""
			return dialer
		}},
		{"three channels", few, func(t *testing.T) *localDialer {
			dialer := loginShell(t, "sh")
			dialer.limit = 3
			return dialer
		}},
	}
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			open := func(settings channel.Settings) func(t *testing.T) remote.Connection {
				return func(t *testing.T) remote.Connection {
					connection, err := channel.New(t.Context(), place.dialer(t), settings)
					require.NoError(t, err)
					return connection
				}
			}
			place.options.Impatient = open(impatient())
			remotetest.RunWith(t, open(quick()), place.options)
		})
	}
}

func TestWorkWhosePlaceVanishesEnds(t *testing.T) {
	for name, sftp := range map[string]bool{"with SFTP": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			remotetest.RunLost(t, func(t *testing.T) (remote.Connection, func()) {
				dialer := loginShell(t, "sh")
				if !sftp {
					dialer.sftp = ""
				}
				connection, err := channel.New(t.Context(), dialer, hasty())
				require.NoError(t, err)
				return connection, dialer.cut
			})
		})
	}
}

func TestAPlaceThatDoesNotAnswerHoldsNobody(t *testing.T) {
	remotetest.RunSilent(t, func(t *testing.T) (remote.Connection, func()) {
		dialer := loginShell(t, "sh")
		connection, err := channel.New(t.Context(), dialer, hasty())
		require.NoError(t, err)
		return connection, dialer.silence
	})
}

func TestTheLastWordsOnATerminalAreHeard(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*localDialer){
		"where they end with the shell":   func(d *localDialer) { d.forgets = true },
		"where they are discarded":        func(d *localDialer) { d.discards = true },
		"where neither happens by itself": func(*localDialer) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dialer := loginShell(t, "sh")
			lose(dialer)
			connection := connect(t, dialer, quick())
			var stdout bytes.Buffer
			command := shell("echo last words; exit 7")
			command.Stdout, command.Terminal = &stdout, &remote.Terminal{}
			process, err := connection.Start(t.Context(), command)
			require.NoError(t, err)
			code, err := process.Wait()
			require.NoError(t, err)
			require.Equal(t, 7, code)
			require.Equal(t, "last words\r\n", stdout.String())
			require.Eventually(t, func() bool { open, _ := dialer.counts(); return open <= 1 }, 30*time.Second, 10*time.Millisecond, // it would for a minute
				"a shell on a terminal goes on after it was hung up on")
		})
	}
}

func TestATerminalThatAnswersAtOnceIsHeard(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	dialer.hasten = true
	connection := connect(t, dialer, quick())
	for range 20 {
		command := shell("exit 7")
		command.Terminal = &remote.Terminal{}
		process, err := connection.Start(t.Context(), command)
		require.NoError(t, err)
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 7, code)
	}
}

// A process that vanishes between being listed and being looked at must not hide
// those after it: reading its status fails, as it does here for process 1.
func TestProcessesThatVanishDoNotKeepSignalsFromOthers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may mount something over /proc/1/stat")
	}
	dialer := loginShell(t, "sh")
	dialer.shell = []string{"unshare", "--mount", "sh", "-c", `mount --bind /proc/self/stat /proc/1/stat && exec sh "$@"`, "sh"}
	connection := connect(t, dialer, quick())
	_, complaint, code := run(t, connection, shell("cat /proc/1/stat"))
	require.Equal(t, 1, code)
	require.Contains(t, complaint, "No such process")

	process := onTerminal(t, connection, "trap 'exit 42' TERM; echo; while :; do sleep 0.01; done")
	process.Terminate()
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 42, code)
}

// The shell that is to request the end does not answer, as on a busy machine.
func TestATerminalIsHungUpHoweverLongTheRequestBeforeTakes(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	connection := connect(t, dialer, quick())
	_, _, code := run(t, connection, shell("exit 3"))
	require.Equal(t, 3, code)
	idle := dialer.ids()
	require.NotEmpty(t, idle)
	process := onTerminal(t, connection, "trap '' TERM; trap 'exit 42' HUP; echo; while :; do sleep 0.01; done")
	for _, id := range idle {
		require.NoError(t, syscall.Kill(-id, syscall.SIGSTOP))
	}
	process.Terminate()
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 42, code)
}

// The shell of ours on a terminal waits to be hung up on, which is nothing that the
// program left: here it waits for ever, and heeds no signal.
func TestWhatServesATerminalIsNotWaitedForWithWhatIsLeftOnIt(t *testing.T) {
	t.Parallel()
	directory := t.TempDir() // with which it ends
	script := "#!/bin/sh\ntrap '' HUP TERM\nwhile [ -e \"$0\" ]; do /bin/sleep 0.1; done\n"
	require.NoError(t, os.WriteFile(filepath.Join(directory, "sleep"), []byte(script), 0o700))
	dialer := loginShell(t, "sh")
	dialer.shell = []string{"sh", "-c", `PATH=` + directory + `:$PATH exec sh "$@"`, "sh"}
	settings := quick()
	settings.Grace = time.Hour
	connection := connect(t, dialer, settings)
	process := onTerminal(t, connection, "trap 'exit 42' TERM; echo; while :; do /bin/sleep 0.01; done")
	process.Terminate()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = process.Wait() // whose result is looked at below
	}()
	awaitClosed(t, ended, "what serves the terminal is waited for")
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 42, code)
}

// The system cuts long names of programs wherever that is.
func TestAProgramOnATerminalIsEndedWhateverItsName(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("/bin/sleep")
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), strings.Repeat("x", 14)+"é")
	require.NoError(t, os.WriteFile(name, program, 0o700))
	dialer := loginShell(t, "sh")
	dialer.shell = []string{"sh", "-c", `LC_ALL=C.UTF-8 exec sh "$@"`, "sh"}
	connection := connect(t, dialer, quick())
	process := onTerminal(t, connection, `echo; exec "$1" 300`, name)
	require.NoError(t, process.Signal(syscall.SIGUSR1))
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 128+int(syscall.SIGUSR1), code)
}

// onTerminal starts a script on a terminal, and waits until it has printed something.
func onTerminal(t *testing.T, connection remote.Connection, script string, arguments ...string) remote.Handle {
	t.Helper()
	stdout := firstWrite{seen: make(chan struct{})}
	command := shell(script, arguments...)
	command.Stdout, command.Terminal = &stdout, &remote.Terminal{}
	process, err := connection.Start(t.Context(), command)
	require.NoError(t, err)
	stdout.await(t)
	return process
}
