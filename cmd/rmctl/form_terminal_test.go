package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// patience is how long a terminal is waited for; only a broken form takes as long.
const patience = 30 * time.Second

// A terminalSession is rmctl at a terminal of its own.
type terminalSession struct {
	t        *testing.T
	command  *exec.Cmd
	terminal *os.File
	chunks   chan string
	screen   string // all that was written
	seen     int    // up to where it was waited for
}

// atTerminal starts rmctl at a terminal.
func atTerminal(t *testing.T, environment []string, arguments ...string) *terminalSession {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a terminal")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	home := t.TempDir()
	definition, err := filepath.Abs(filepath.Join("testdata", "form", "demo.xml"))
	require.NoError(t, err)
	source, err := os.ReadFile(definition)
	require.NoError(t, err)
	folder := filepath.Join(home, ".config", "rmctl")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "demo.xml"), source, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "targets.toml"), []byte("[targets.demo]\ndefinition = \"demo.xml\"\n"), 0o600))

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	s := &terminalSession{t: t, chunks: make(chan string)}
	s.command = exec.CommandContext(ctx, program, arguments...)
	s.command.Args[0] = "rmctl" // by which the test binary knows what to be
	s.command.Dir = home
	s.command.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0"}, environment...)
	s.terminal, err = pty.StartWithSize(s.command, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	go func() {
		defer close(s.chunks)
		buffer := make([]byte, 4096)
		for {
			n, err := s.terminal.Read(buffer)
			if n > 0 {
				s.chunks <- string(buffer[:n])
			}
			if err != nil {
				return // the other side is gone
			}
		}
	}()
	t.Cleanup(func() {
		for range s.chunks { // until the reader has ended
		}
		require.NoError(t, s.terminal.Close())
	})
	return s
}

// waitFor waits until a text is written that was not waited for before.
func (s *terminalSession) waitFor(text string) {
	s.t.Helper()
	for {
		if at := strings.Index(s.screen[s.seen:], text); at >= 0 {
			s.seen += at + len(text)
			return
		}
		chunk, more := <-s.chunks
		require.True(s.t, more, "%q was not written; this was:\n%q", text, s.screen[s.seen:])
		s.screen += chunk
	}
}

func (s *terminalSession) typeKeys(keys string) {
	s.t.Helper()
	_, err := io.WriteString(s.terminal, keys)
	require.NoError(s.t, err)
}

// ends waits for the end and demands an exit code.
func (s *terminalSession) ends(code int) {
	s.t.Helper()
	for chunk := range s.chunks {
		s.screen += chunk
	}
	err := s.command.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(s.t, err)
	}
	require.Equal(s.t, code, s.command.ProcessState.ExitCode(), s.screen)
}

func TestAFormIsFilledInAtATerminal(t *testing.T) {
	s := atTerminal(t, nil, "form", "demo", "--", "./a.out", "x y")
	s.waitFor("\x1b[?1049h") // the other screen, so that what stood on this one comes back
	s.waitFor("Demo cluster")
	s.waitFor("Esc leave")
	s.typeKeys("\t\t\x1b[C") // to the size, and one to the right
	s.waitFor("medium")
	require.NoError(t, pty.Setsize(s.terminal, &pty.Winsize{Rows: 12, Cols: 60}))
	s.waitFor(strings.Repeat("-", 60))
	s.typeKeys("\x13") // Ctrl-S
	s.waitFor("With the values of the tab")
	s.typeKeys("\t\t\t\t\r")
	s.ends(exitDone)
	require.Contains(t, s.screen, "\x1b[?1049l")
	require.Contains(t, s.screen, "rmctl submit -t demo -s size=medium -- ./a.out 'x y'")
}

func TestAFormIsLeftAtATerminal(t *testing.T) {
	for name, keys := range map[string]string{"Esc": "\x1b", "Ctrl-C": "\x03"} {
		t.Run(name, func(t *testing.T) {
			s := atTerminal(t, []string{"NO_COLOR=1"}, "form", "demo", "--", "./a.out")
			s.waitFor("Esc leave")
			s.typeKeys(keys)
			s.ends(exitFailed)
			require.Contains(t, s.screen, "\x1b[?1049l", "the terminal is as it was")
			require.Contains(t, s.screen, "the form was left; nothing was submitted")
			require.NotContains(t, s.screen, ";36m", "nobody wanted colours")
		})
	}
}

func TestARequestToEndLeavesTheTerminalInOrder(t *testing.T) {
	s := atTerminal(t, nil, "form", "demo", "--", "./a.out")
	s.waitFor("Esc leave")
	require.NoError(t, s.command.Process.Signal(syscall.SIGTERM))
	s.ends(exitFailed)
	require.Contains(t, s.screen, "\x1b[?1049l")
}

func TestADumbTerminalIsAskedLineByLine(t *testing.T) {
	s := atTerminal(t, []string{"TERM=dumb"}, "form", "demo", "--", "./a.out")
	s.waitFor("Tab [Files and more]:")
	s.typeKeys("\x04") // the end of what is typed
	s.ends(exitFailed)
	require.NotContains(t, s.screen, "\x1b")
}
