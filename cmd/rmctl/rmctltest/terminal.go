package rmctltest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A Terminal is rmctl at a terminal of its own, of 80 columns and 24 rows.
type Terminal struct {
	Command *exec.Cmd
	Device  *os.File // the user's side: the screen and the keyboard
	Screen  string   // all that was written until it was last looked at

	t      *testing.T
	chunks chan string
	seen   int // up to where it was waited for
}

// StartTerminal starts a command at a terminal. What it writes is read until
// the test has ended; who can tell that the command ends on its own need not
// do more.
func StartTerminal(t *testing.T, command *exec.Cmd) *Terminal {
	t.Helper()
	s := &Terminal{t: t, Command: command, chunks: make(chan string)}
	var err error
	s.Device, err = pty.StartWithSize(command, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	go func() {
		defer close(s.chunks)
		buffer := make([]byte, 4096)
		for {
			n, err := s.Device.Read(buffer)
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
		_ = s.Device.Close() // a test may have closed it
	})
	return s
}

// WaitFor waits until a text is written that was not waited for before.
func (s *Terminal) WaitFor(text string) {
	s.t.Helper()
	for {
		if at := strings.Index(s.Screen[s.seen:], text); at >= 0 {
			s.seen += at + len(text)
			return
		}
		chunk, more := <-s.chunks
		require.True(s.t, more, "%q was not written; this was:\n%q", text, s.Screen[s.seen:])
		s.Screen += chunk
	}
}

// Type presses keys.
func (s *Terminal) Type(keys string) {
	s.t.Helper()
	_, err := io.WriteString(s.Device, keys)
	require.NoError(s.t, err)
}

// End waits for the end and returns the error of the command.
func (s *Terminal) End() error {
	s.t.Helper()
	for chunk := range s.chunks {
		s.Screen += chunk
	}
	return s.Command.Wait()
}

// Ends waits for the end and demands an exit code.
func (s *Terminal) Ends(code int) {
	s.t.Helper()
	err := s.End()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(s.t, err)
	}
	require.Equal(s.t, code, s.Command.ProcessState.ExitCode(), s.Screen)
}
