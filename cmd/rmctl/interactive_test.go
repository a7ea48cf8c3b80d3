package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/rmctl/rmctl/background"
)

// A desk is where a user works with rmctl: a home folder with the target
// "opened", and a background process if it is wanted.
type desk struct {
	t           *testing.T
	program     string
	home        string
	environment []string
}

// newDesk returns a desk with definitions of testdata/interactive as targets.
func newDesk(t *testing.T, environment ...string) *desk {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a terminal")
	}
	home, err := os.MkdirTemp("", "rmctl-desk-") // not below the name of the test, which is too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	d := &desk{t: t, home: home, program: filepath.Join(home, "rmctl")}
	test, err := os.Executable()
	require.NoError(t, err)
	// The background process is started by the file's name, by which the test
	// binary knows what to be.
	require.NoError(t, copyProgram(test, d.program))
	folder := filepath.Join(home, ".config", "rmctl")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	var targets strings.Builder
	definitions, err := filepath.Glob(filepath.Join("testdata", "interactive", "*.xml"))
	require.NoError(t, err)
	for _, definition := range definitions {
		source, err := os.ReadFile(definition)
		require.NoError(t, err)
		name := filepath.Base(definition)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), source, 0o600))
		targets.WriteString("[targets." + strings.TrimSuffix(name, ".xml") + "]\ndefinition = \"" + name + "\"\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "targets.toml"), []byte(targets.String()), 0o600))
	d.environment = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "GORACE=atexit_sleep_ms=0"}, environment...)
	t.Cleanup(d.clear)
	return d
}

// clear ends what is left in the background, and the background process.
func (d *desk) clear() {
	folder, err := background.Folder(filepath.Join(d.home, ".local", "state", "rmctl"))
	require.NoError(d.t, err)
	client, err := background.Find(folder)
	require.NoError(d.t, err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.t.Context()), patience)
	defer cancel()
	sessions, err := client.List(ctx)
	if errors.Is(err, background.ErrNotRunning) {
		return
	}
	require.NoError(d.t, err)
	for _, session := range sessions {
		if err := client.End(ctx, session.Names[0]); !errors.Is(err, background.ErrNoSession) {
			require.NoError(d.t, err)
		}
	}
	d.does("conn", "close", "--all")
}

// copyProgram makes a program available under another name.
func copyProgram(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	source, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, source, 0o700)
}

func (d *desk) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, d.program, arguments...)
	command.Dir, command.Env = d.home, d.environment
	return command
}

// does runs rmctl, which must succeed, and returns what it prints.
func (d *desk) does(arguments ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.t.Context()), patience)
	defer cancel()
	command := d.command(ctx, arguments...)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	require.NoError(d.t, command.Run(), "rmctl %s: %s", strings.Join(arguments, " "), &stderr)
	return strings.TrimSpace(stdout.String())
}

// refused runs rmctl, which must fail, and returns what it says.
func (d *desk) refused(code int, arguments ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	command := d.command(ctx, arguments...)
	output, _ := command.CombinedOutput()
	require.Equal(d.t, code, command.ProcessState.ExitCode(), "%s", output)
	return string(output)
}

// sits starts rmctl at a terminal of 80 columns and 24 rows.
func (d *desk) sits(arguments ...string) *terminalSession {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	d.t.Cleanup(cancel)
	s := &terminalSession{t: d.t, command: d.command(ctx, arguments...), chunks: make(chan string)}
	var err error
	s.terminal, err = pty.StartWithSize(s.command, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(d.t, err)
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		defer close(s.chunks)
		buffer := make([]byte, 4096)
		for {
			n, err := s.terminal.Read(buffer)
			if n > 0 {
				s.chunks <- string(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	d.t.Cleanup(func() {
		cancel()
		for range s.chunks { // until the reader has ended
		}
		<-reading
		_ = s.terminal.Close() // a test may have closed it
	})
	return s
}

// queued is a program that tells of a job and then runs a script.
func queued(script string) []string {
	return []string{"run", "-t", "opened", "--", "sh", "-c", "echo waiting for job 7; echo job 7 ready; read -r input; eval \"$input\"; " + script}
}

const foreground = "RMCTL_BACKGROUND=off"

// both runs a test with the background process and without.
func both(t *testing.T, test func(*testing.T, *desk)) {
	t.Helper()
	t.Run("hosted", func(t *testing.T) { test(t, newDesk(t)) })
	t.Run("in the foreground", func(t *testing.T) { test(t, newDesk(t, foreground)) })
}

func TestAJobHasTheTerminalWithItsSizeAndItsKeys(t *testing.T) {
	both(t, func(t *testing.T, d *desk) {
		s := d.sits(queued(`stty size; echo $TERM; trap 'stty size; echo changed' WINCH; echo begun; while read -r line || :; do echo "<$line>"; test "$line" = end && exit 9; done`)...)
		s.waitFor("input of /dev/pts")
		s.waitFor("24 80")
		s.waitFor("xterm")
		s.waitFor("begun")
		s.typeKeys("a line\r")
		s.waitFor("<a line>")
		require.NoError(t, pty.Setsize(s.terminal, &pty.Winsize{Rows: 30, Cols: 99}))
		s.typeKeys("\r") // dash runs the trap when its read returns
		s.waitFor("30 99")
		s.typeKeys("end\r")
		s.ends(9)
		require.Equal(t, 1, strings.Count(s.screen, "begun"), "what the job prints is shown once")
	})
}

func TestTheTerminalIsRawWhileAJobHasItAndThenAsBefore(t *testing.T) {
	both(t, func(t *testing.T, d *desk) {
		for _, end := range []string{"end\r", "\x03\x03c"} {
			s := d.sits(queued(`echo begun; trap : INT; while read -r line || :; do test "$line" = end && exit; done`)...)
			s.waitFor("begun")
			during, err := term.GetState(int(s.terminal.Fd()))
			require.NoError(t, err)
			s.typeKeys(end)
			for chunk := range s.chunks {
				s.screen += chunk
			}
			_ = s.command.Wait()
			after, err := term.GetState(int(s.terminal.Fd()))
			require.NoError(t, err)
			require.NotEqual(t, during, after, s.screen)
			other, untouched, err := pty.Open()
			require.NoError(t, err)
			usual, err := term.GetState(int(untouched.Fd()))
			require.NoError(t, err)
			require.NoError(t, errors.Join(untouched.Close(), other.Close()))
			require.Equal(t, usual, after)
		}
	})
}

func TestCtrlCIsForTheJob(t *testing.T) {
	both(t, func(t *testing.T, d *desk) {
		s := d.sits(queued(`trap 'echo interrupted; exit 5' INT; echo begun; while :; do sleep 0.01; done`)...)
		s.waitFor("begun")
		s.typeKeys("\x03")
		s.ends(5)
		require.Contains(t, s.screen, "interrupted")
	})
}

func TestCtrlCTwiceAsksAndCancels(t *testing.T) {
	both(t, func(t *testing.T, d *desk) {
		s := d.sits(queued(`trap 'echo ignored' INT; echo begun; while :; do sleep 0.01; done`)...)
		s.waitFor("begun")
		s.typeKeys("\x03\x03")
		s.waitFor("cancel or go on?")
		s.typeKeys("c")
		for chunk := range s.chunks {
			s.screen += chunk
		}
		require.Error(t, s.command.Wait(), "a canceled job is no success")
		require.Contains(t, d.does("jobs", "--all", "--json"), `"detail":"CANCELED"`)
	})
}

func TestAJobIsDetachedFromAndAttachedToAgain(t *testing.T) {
	d := newDesk(t)
	s := d.sits(queued(`trap : INT; echo begun; while read -r line || :; do echo "<$line>"; test "$line" = end && exit 9; done`)...)
	s.waitFor("begun")
	s.typeKeys("first\r")
	s.waitFor("<first>")
	s.typeKeys("\x03\x03")
	s.waitFor("detach, cancel or go on? [d/c/G] ")
	s.typeKeys("d")
	s.ends(exitDone)
	require.Contains(t, s.screen, "rmctl attach 7")
	require.Contains(t, d.does("status", "--json", "7"), `"state":"RUNNING"`)

	require.Contains(t, d.refused(exitFailed, queued("")...), "job 7 keeps the command")
	d.does("send", "7", "sent", "from elsewhere")
	s = d.sits("attach", "7")
	s.waitFor("begun")
	s.waitFor("<first>")
	s.waitFor("<sent from elsewhere>")
	s.typeKeys("end\r")
	s.ends(9)
	require.Contains(t, d.does("status", "--json", "7"), `"exitCode":9`)
	require.Contains(t, d.refused(exitFailed, "attach", "7"), "it has ended")
	require.Contains(t, d.refused(exitFailed, "send", "7", "x"), "it has ended")
}

func TestARequestToEndDetachesFromAHostedJob(t *testing.T) {
	for name, number := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			s := d.sits(queued(`echo begun; while read -r line; do echo "<$line>"; done`)...)
			s.waitFor("begun")
			require.NoError(t, s.command.Process.Signal(number))
			s.ends(exitDone)
			require.Contains(t, d.does("status", "--json", "7"), `"state":"RUNNING"`)
			d.does("cancel", "7")
			require.Contains(t, d.does("status", "--json", "7"), `"detail":"CANCELED"`)
		})
	}
}

func TestAForegroundJobIsCanceledFromElsewhere(t *testing.T) {
	d := newDesk(t, foreground)
	s := d.sits(queued(`echo begun; while read -r line; do :; done`)...)
	s.waitFor("begun")
	require.Contains(t, d.refused(exitFailed, "attach", "7"), "in the foreground of another rmctl")
	d.does("cancel", "7")
	for range s.chunks {
	}
	require.Error(t, s.command.Wait())
	require.Contains(t, d.does("status", "--json", "7"), `"detail":"CANCELED"`)
}

func TestAJobIsStartedWithoutATerminal(t *testing.T) {
	d := newDesk(t, "GREETING=from the shell")
	run := queued(`echo "$GREETING in $(pwd)"; while read -r line; do echo "<$line>"; test "$line" = end && exit 4; done`)
	require.Equal(t, "7", d.does(append([]string{run[0], "--detach"}, run[1:]...)...))
	s := d.sits("attach", "7")
	s.waitFor("from the shell in " + d.home)
	d.does("send", "--input", "7")
	s.waitFor(`<echo "input of`)
	sending := d.command(t.Context(), "send", "7")
	sending.Stdin = strings.NewReader("many\nlines\nend\n")
	require.NoError(t, sending.Run())
	s.waitFor("<many>")
	s.waitFor("<lines>")
	s.ends(4)
}

func TestAPlainJobInheritsItsStreams(t *testing.T) {
	d := newDesk(t)
	command := d.command(t.Context(), "run", "--", "sh", "-c", "cat; test -t 0 || echo no terminal; echo err >&2")
	command.Stdin = strings.NewReader("typed\n")
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	require.NoError(t, command.Run())
	require.Equal(t, "typed\nno terminal\n", stdout.String())
	require.Equal(t, "err\n", stderr.String())
	require.NoDirExists(t, filepath.Join(d.home, ".local", "state", "rmctl", "background"))
}
