package channel_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// randomText holds any bytes but zero, those that mean something more often.
func randomText(random *rand.Rand) string {
	const meaningful = "'\"\\$`!*?[]{}()<>|&;#~^=%@-+, \t\r\n\x01\x1b\x1e\x7f"
	text := make([]byte, random.IntN(30))
	for i := range text {
		if random.IntN(2) == 0 {
			text[i] = meaningful[random.IntN(len(meaningful))]
		} else {
			text[i] = byte(1 + random.IntN(255))
		}
	}
	return string(text)
}

// printArguments prints its arguments and a variable, each with a zero byte.
const printArguments = `for argument; do printf '%s\000' "$argument"; done; printf '%s\000' "$RMCTL_TEXT"`

func TestValuesArriveUnchangedThroughEveryLoginShell(t *testing.T) {
	t.Parallel()
	shells := [][]string{{"sh"}, {"dash"}, {"bash"}, {"busybox", "sh"}, {"zsh"}, {"csh"}, {"tcsh"}, {"fish"}}
	for _, words := range shells {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			t.Parallel()
			testValues(t, connect(t, loginShell(t, words...), quick()))
		})
	}
}

func TestValuesArriveUnchangedWhateverShIs(t *testing.T) {
	t.Parallel()
	for _, replacement := range []string{"/bin/dash", "/bin/bash --posix", "/bin/bash", "/bin/busybox sh", "/bin/zsh --emulate sh"} {
		t.Run(replacement, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(strings.Fields(replacement)[0]); err != nil {
				t.Skip(err)
			}
			dialer := loginShell(t, "sh")
			dialer.replace = func(line string) string { return strings.ReplaceAll(line, "/bin/sh", replacement) }
			connection := connect(t, dialer, quick())
			testValues(t, connection)
			testEnding(t, connection)
		})
	}
}

// testValues passes thousands of values in each way that there is: over a shell
// that is kept, over a channel of its own and on a terminal.
func testValues(t *testing.T, connection remote.Connection) {
	t.Helper()
	const count = 800
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for way := range 4 {
		arguments := make([]string, count)
		for i := range arguments {
			arguments[i] = randomText(random)
		}
		value := randomText(random)
		command := shell(printArguments, arguments...)
		command.Environment = map[string]string{"RMCTL_TEXT": value}
		switch way {
		case 1:
			command.Stdin = strings.NewReader("")
		case 2:
			// A raw terminal that echoes would show the end of the input where it comes.
			command = shell("stty raw -echo; "+printArguments, arguments...)
			command.Environment = map[string]string{"RMCTL_TEXT": value}
			command.Terminal = &remote.Terminal{}
		case 3:
			command.Environment["not-a-name"] = value
			command.Environment["IFS"] = value
			command.Unset = []string{"also-not-a-name", "OLDPWD"}
		}
		stdout, stderr, code := run(t, connection, command)
		require.Zero(t, code, stderr)
		require.Equal(t, append(arguments, value, ""), strings.Split(stdout, "\x00"), "way %d", way)
	}
}

func testEnding(t *testing.T, connection remote.Connection) {
	t.Helper()
	output := &firstWrite{seen: make(chan struct{})}
	command := shell("echo; exec sleep 300")
	command.Stdout = output
	process, err := connection.Start(t.Context(), command)
	require.NoError(t, err)
	output.await(t)
	process.Terminate()
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 128+15, code)
	_, _, code = run(t, connection, shell("kill -KILL $$"))
	require.Equal(t, 128+9, code)
}

func TestWhatTheLoginPrintsIsNoOutput(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	dialer.banner = `Welcome to \036the machine\r\n\0\033[31m`
	connection := connect(t, dialer, quick())
	commands := map[string]remote.Command{"kept": shell("echo out; echo err >&2"), "alone": shell("echo out; echo err >&2")}
	alone := commands["alone"]
	alone.Stdin = strings.NewReader("")
	commands["alone"] = alone
	for name, command := range commands {
		stdout, stderr, _ := run(t, connection, command)
		require.Equal(t, []string{"out\n", "err\n"}, []string{stdout, stderr}, name)
	}
	command := shell("echo out")
	command.Terminal = &remote.Terminal{}
	stdout, _, _ := run(t, connection, command)
	require.Equal(t, "out\r\n", stdout)
	require.Contains(t, channel.Noise(connection), "Welcome to")
}

func TestALoginThatCannotServeIsAnError(t *testing.T) {
	t.Parallel()
	patience := quick().Patience
	logins := map[string]struct {
		line     string
		patience time.Duration
		expected string
	}{
		"floods":           {"exec cat /dev/zero", patience, "more than"},
		"runs another":     {"echo This account is not available.; exit 1", patience, "This account is not available."},
		"says nothing":     {"exec sleep 300", 500 * time.Millisecond, "did not answer"},
		"has no /bin/sh":   {"echo sh: not found >&2; exit 127", patience, "not found"},
		"ends unannounced": {"kill -KILL $$", patience, "137"},
	}
	for name, login := range logins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dialer := loginShell(t, "sh")
			dialer.replace = func(string) string { return login.line }
			settings := quick()
			settings.Patience = login.patience
			_, err := channel.New(t.Context(), dialer, settings)
			var connect *remote.ConnectError
			require.ErrorAs(t, err, &connect)
			require.Equal(t, remote.BadProtocol, connect.Reason)
			require.ErrorIs(t, err, remote.ErrUnreachable)
			require.ErrorContains(t, err, login.expected)
			dialer.cut()
			require.Eventually(t, func() bool { open, _ := dialer.counts(); return open == 0 }, time.Minute, time.Millisecond)
		})
	}
}

// A busy machine may report an end long after its last words.
func TestALateEndIsReceived(t *testing.T) {
	t.Parallel()
	tardy := func() (*localDialer, channel.Settings) {
		dialer := loginShell(t, "sh")
		dialer.tardy = 100 * time.Millisecond
		settings := quick()
		settings.Linger = time.Millisecond
		return dialer, settings
	}
	t.Run("of a login", func(t *testing.T) {
		dialer, settings := tardy()
		dialer.replace = func(string) string { return "echo This account is not available.; exit 1" }
		_, err := channel.New(t.Context(), dialer, settings)
		require.ErrorContains(t, err, "This account is not available.")
	})
	t.Run("of an SFTP service that is not there", func(t *testing.T) {
		dialer, settings := tardy()
		dialer.sftp = "false"
		connection := connect(t, dialer, settings)
		_, err := connection.Stat(t.Context(), "/")
		require.NoError(t, err)
	})
}

func TestAPlaceThatAnswersAtTheEndOnlyIsServedOneByOne(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	dialer.sftp = ""
	directory := t.TempDir()
	dialer.replace = func(line string) string {
		return "in=" + directory + "/$$; cat > $in; (" + line + ") < $in > $in.out; cat $in.out"
	}
	settings := quick()
	settings.Patience = 5 * time.Second
	connection := connect(t, dialer, settings)
	require.True(t, channel.OneShot(connection))
	stdout, _, code := run(t, connection, shell("echo out; exit 4"))
	require.Equal(t, "out\n", stdout)
	require.Equal(t, 4, code)
}

func TestOutputThatLooksLikeARecordIsOutput(t *testing.T) {
	t.Parallel()
	connection := connect(t, loginShell(t, "sh"), quick())
	forged := "\x1e" + strings.Repeat("0", 32) + " exit 7\n"
	stdout, _, code := run(t, connection, remote.Command{Arguments: []string{"printf", "%s", forged}})
	require.Equal(t, forged, stdout)
	require.Zero(t, code)
	// It does not see the marker of its own run either.
	stdout, _, _ = run(t, connection, shell(`env; tr '\0' ' ' < /proc/self/cmdline; echo; ls -l /proc/self/fd`))
	require.NotContains(t, stdout, "rmctl_m")
	require.NotRegexp(t, `[0-9a-f]{32}`, stdout)
}

func TestWhatOutlivesACommandDoesNotWriteIntoTheNext(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	connection := connect(t, dialer, quick())
	var heir bytes.Buffer
	command := shell(`(trap '' PIPE; while :; do echo noise; echo noise >&2; done) & echo $! >&3`)
	command.Arguments[2] = `exec 3>"$1"; ` + command.Arguments[2]
	name := filepath.Join(t.TempDir(), "id")
	command.Arguments = append(command.Arguments, name)
	command.Stdout, command.Stderr = io.Discard, io.Discard
	process, err := connection.Start(t.Context(), command)
	require.NoError(t, err)
	_, err = process.Wait()
	require.NoError(t, err)
	id, err := os.ReadFile(name)
	require.NoError(t, err)
	heir.Write(id)
	t.Cleanup(func() { require.NoError(t, exec.Command("kill", "-KILL", strings.TrimSpace(heir.String())).Run()) })
	for range 5 { // during a flood
		stdout, stderr, code := run(t, connection, shell("echo out; echo err >&2"))
		require.Equal(t, []any{"out\n", "err\n", 0}, []any{stdout, stderr, code})
	}
}

func TestShellsAreKept(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	connection := connect(t, dialer, unhurried())
	for range 20 {
		run(t, connection, shell("exit 0"))
	}
	_, all := dialer.counts()
	require.Equal(t, 1, all)
}

func TestAShellThatWasKilledIsReplaced(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	connection := connect(t, dialer, unhurried())
	for range 3 {
		open, _ := dialer.counts()
		require.Equal(t, 1, open)
		for _, id := range dialer.ids() {
			require.NoError(t, syscall.Kill(id, syscall.SIGKILL))
		}
		require.Eventually(t, func() bool { open, _ := dialer.counts(); return open == 0 }, time.Minute, time.Millisecond)
		_, _, code := run(t, connection, shell("exit 6"))
		require.Equal(t, 6, code)
	}
}

func TestAShellWithAKilledProcessIsReplaced(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	connection := connect(t, dialer, unhurried())
	processes := func() []string {
		listed, err := exec.Command("ps", "-o", "pid=", "--sid", fmt.Sprint(dialer.ids()[0])).Output()
		require.NoError(t, err)
		return strings.Fields(string(listed))
	}
	for position := 0; position < len(processes()); position++ {
		require.NoError(t, exec.Command("kill", "-KILL", processes()[position]).Run())
		require.Eventually(t, func() bool { open, _ := dialer.counts(); return open == 0 }, time.Minute, time.Millisecond)
		_, _, code := run(t, connection, shell("exit 6"))
		require.Equal(t, 6, code)
	}
}

func TestACommandWhoseShellIsKilledIsNotRunAgain(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	connection := connect(t, dialer, quick())
	name := filepath.Join(t.TempDir(), "runs")
	output := &firstWrite{seen: make(chan struct{})}
	command := shell(`echo run >> "$1"; echo $$ > "$1.id"; echo; exec sleep 300`, name)
	command.Stdout = output
	process, err := connection.Start(t.Context(), command)
	require.NoError(t, err)
	output.await(t)
	for _, id := range dialer.ids() {
		require.NoError(t, syscall.Kill(-id, syscall.SIGKILL))
	}
	code, err := process.Wait()
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Equal(t, -1, code)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "run\n", string(content))
	id, err := os.ReadFile(name + ".id")
	require.NoError(t, err)
	require.NoError(t, exec.Command("kill", "-KILL", strings.TrimSpace(string(id))).Run(), "it was ended with its shell")
}

func TestACanceledConnectEnds(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	dialer.replace = func(string) string { return "exec sleep 300" }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := channel.New(ctx, dialer, quick())
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
