package main

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// newDesk returns a desk with definitions of testdata/interactive as targets.
func newDesk(t *testing.T, environment ...string) *rmctltest.Desk {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a terminal")
	}
	return rmctltest.NewDesk(t, filepath.Join("testdata", "interactive"), environment...)
}

// queued returns the command of a program that announces a job and then runs a script.
func queued(script string) []string {
	return []string{"run", "-t", "opened", "--", "sh", "-c", "echo waiting for job 7; echo job 7 ready; read -r input; eval \"$input\"; " + script}
}

// both runs a test with the background process and without.
func both(t *testing.T, test func(*testing.T, *rmctltest.Desk)) {
	t.Helper()
	t.Run("hosted", func(t *testing.T) { test(t, newDesk(t)) })
	t.Run("in the foreground", func(t *testing.T) { test(t, newDesk(t, rmctltest.Foreground)) })
}

func TestAJobGetsTheKeysAndSizeOfTheTerminal(t *testing.T) {
	both(t, func(t *testing.T, d *rmctltest.Desk) {
		s := d.Sits(queued(`stty size; echo $TERM; trap 'stty size; echo changed' WINCH; echo begun; while read -r line || :; do echo "<$line>"; test "$line" = end && exit 9; done`)...)
		s.WaitFor("input of /dev/pts")
		s.WaitFor("24 80")
		s.WaitFor("xterm")
		s.WaitFor("begun")
		s.Type("a line\r")
		s.WaitFor("<a line>")
		require.NoError(t, pty.Setsize(s.Device, &pty.Winsize{Rows: 30, Cols: 99}))
		s.Type("\r") // dash runs the trap when its read returns
		s.WaitFor("30 99")
		s.Type("end\r")
		s.Ends(9)
		require.Equal(t, 1, strings.Count(s.Screen, "begun"), "what the job prints is shown once")
	})
}

func TestTheTerminalIsRawDuringAJobAndThenRestored(t *testing.T) {
	both(t, func(t *testing.T, d *rmctltest.Desk) {
		for _, end := range []string{"end\r", "\x03\x03c"} {
			s := d.Sits(queued(`echo begun; trap : INT; while read -r line || :; do test "$line" = end && exit; done`)...)
			s.WaitFor("begun")
			during, err := term.GetState(int(s.Device.Fd()))
			require.NoError(t, err)
			s.Type(end)
			_ = s.End()
			after, err := term.GetState(int(s.Device.Fd()))
			require.NoError(t, err)
			require.NotEqual(t, during, after, s.Screen)
			other, untouched, err := pty.Open()
			require.NoError(t, err)
			usual, err := term.GetState(int(untouched.Fd()))
			require.NoError(t, err)
			require.NoError(t, errors.Join(untouched.Close(), other.Close()))
			require.Equal(t, usual, after)
		}
	})
}

func TestCtrlCInterruptsTheJob(t *testing.T) {
	both(t, func(t *testing.T, d *rmctltest.Desk) {
		s := d.Sits(queued(`trap 'echo interrupted; exit 5' INT; echo begun; while :; do sleep 0.01; done`)...)
		s.WaitFor("begun")
		s.Type("\x03")
		s.Ends(5)
		require.Contains(t, s.Screen, "interrupted")
	})
}

func TestCtrlCTwiceAsksAndCancels(t *testing.T) {
	both(t, func(t *testing.T, d *rmctltest.Desk) {
		s := d.Sits(queued(`trap 'echo ignored' INT; echo begun; while :; do sleep 0.01; done`)...)
		s.WaitFor("begun")
		s.Type("\x03\x03")
		s.WaitFor("cancel or continue?")
		s.Type("c")
		require.Error(t, s.End(), "a canceled job is no success")
		require.Contains(t, d.Does("jobs", "--all", "--json"), `"detail":"CANCELED"`)
	})
}

func TestAJobCanBeDetachedAndAttachedAgain(t *testing.T) {
	d := newDesk(t)
	s := d.Sits(queued(`trap : INT; echo begun; while read -r line || :; do echo "<$line>"; test "$line" = end && exit 9; done`)...)
	s.WaitFor("begun")
	s.Type("first\r")
	s.WaitFor("<first>")
	s.Type("\x03\x03")
	s.WaitFor("detach, cancel or continue? [d/c/G] ")
	s.Type("d")
	s.Ends(exitDone)
	require.Contains(t, s.Screen, "rmctl attach 7")
	require.Contains(t, d.Does("status", "--json", "7"), `"state":"RUNNING"`)

	require.Contains(t, d.Refused(exitFailed, queued("")...), "job 7 keeps the command")
	d.Does("send", "7", "sent", "from elsewhere")
	s = d.Sits("attach", "7")
	s.WaitFor("begun")
	s.WaitFor("<first>")
	s.WaitFor("<sent from elsewhere>")
	s.Type("end\r")
	s.Ends(9)
	require.Contains(t, d.Does("status", "--json", "7"), `"exitCode":9`)
	require.Contains(t, d.Refused(exitFailed, "attach", "7"), "it has ended")
	require.Contains(t, d.Refused(exitFailed, "send", "7", "x"), "it has ended")
}

func TestASignalDetachesFromAHostedJob(t *testing.T) {
	for name, number := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			s := d.Sits(queued(`echo begun; while read -r line; do echo "<$line>"; done`)...)
			s.WaitFor("begun")
			require.NoError(t, s.Command.Process.Signal(number))
			s.Ends(exitDone)
			require.Contains(t, d.Does("status", "--json", "7"), `"state":"RUNNING"`)
			d.Does("cancel", "7")
			require.Contains(t, d.Does("status", "--json", "7"), `"detail":"CANCELED"`)
		})
	}
}

func TestAForegroundJobIsCanceledFromElsewhere(t *testing.T) {
	d := newDesk(t, rmctltest.Foreground)
	s := d.Sits(queued(`echo begun; while read -r line; do :; done`)...)
	s.WaitFor("begun")
	require.Contains(t, d.Refused(exitFailed, "attach", "7"), "in the foreground of another rmctl")
	d.Does("cancel", "7")
	require.Error(t, s.End())
	require.Contains(t, d.Does("status", "--json", "7"), `"detail":"CANCELED"`)
}

func TestAJobIsStartedWithoutATerminal(t *testing.T) {
	d := newDesk(t, "GREETING=from the shell")
	run := queued(`echo "$GREETING in $(pwd)"; while read -r line; do echo "<$line>"; test "$line" = end && exit 4; done`)
	require.Equal(t, "7", d.Does(append([]string{run[0], "--detach"}, run[1:]...)...))
	s := d.Sits("attach", "7")
	s.WaitFor("from the shell in " + d.Home)
	d.Does("send", "--input", "7")
	s.WaitFor(`<echo "input of`)
	sending := d.Command(t.Context(), "send", "7")
	sending.Stdin = strings.NewReader("many\nlines\nend\n")
	require.NoError(t, sending.Run())
	s.WaitFor("<many>")
	s.WaitFor("<lines>")
	s.Ends(4)
}

func TestAPlainJobInheritsItsStreams(t *testing.T) {
	d := newDesk(t)
	command := d.Command(t.Context(), "run", "--", "sh", "-c", "cat; test -t 0 || echo no terminal; echo err >&2")
	command.Stdin = strings.NewReader("typed\n")
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	require.NoError(t, command.Run())
	require.Equal(t, "typed\nno terminal\n", stdout.String())
	require.Equal(t, "err\n", stderr.String())
	require.NoDirExists(t, filepath.Join(d.Home, ".local", "state", "rmctl", "background"))
}
