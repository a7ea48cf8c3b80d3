package rmctltest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A Terminal is rmctl at a terminal of its own, of 80 columns and 24 rows.
type Terminal struct {
	Command *exec.Cmd
	Device  *os.File // the user's side: the screen and the keyboard
	Screen  string   // all that was written until it was last looked at

	t      testing.TB
	chunks chan string
	seen   int // up to where it was waited for
}

// startTerminal starts a command at a terminal. What it writes is read until
// the test has ended. A command that ends by itself needs
// nothing else.
func startTerminal(t testing.TB, command *exec.Cmd) *Terminal {
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
	s.waitFor(text, nil)
}

// Resizes gives the terminal other sizes until the program has written the one that it
// has, rows before columns as stty does, and returns that. A program may begin to listen
// for changes only after it has said that it runs.
func (s *Terminal) Resizes() string {
	s.t.Helper()
	patience := 10 * time.Second
	for size := (pty.Winsize{Rows: 30, Cols: 99}); ; size.Cols++ {
		require.NoError(s.t, pty.Setsize(s.Device, &size))
		text := fmt.Sprintf("%d %d", size.Rows, size.Cols)
		impatience := time.NewTimer(patience)
		written := s.waitFor(text, impatience.C)
		impatience.Stop()
		if written {
			return text
		}
		patience *= 2 // the machine may be that slow
	}
}

// waitFor waits for a text, or until there is no more patience.
func (s *Terminal) waitFor(text string, patience <-chan time.Time) (written bool) {
	s.t.Helper()
	for {
		if at := strings.Index(s.Screen[s.seen:], text); at >= 0 {
			s.seen += at + len(text)
			return true
		}
		select {
		case chunk, more := <-s.chunks:
			require.True(s.t, more, "%q was not written; this was:\n%q", text, s.Screen[s.seen:])
			s.Screen += chunk
		case <-patience:
			return false
		}
	}
}

// Shows redraws a full screen until it shows words in their order, before
// what stands at its end. Only words without blanks can be sought: the screen may
// be drawn with movements between them.
func (s *Terminal) Shows(end string, words ...string) {
	s.t.Helper()
	s.showsWhere(end, words, func(drawn string) bool { return holdsInOrder(ansi.Strip(drawn), words) })
}

// ShowsRow does the same until one line of the screen has whole words in their
// order, as a row of a list has that begins with a short id.
func (s *Terminal) ShowsRow(end string, words ...string) {
	s.t.Helper()
	s.showsWhere(end, words, func(drawn string) bool {
		for line := range strings.FieldsFuncSeq(inLines(drawn), func(r rune) bool { return r == '\r' || r == '\n' }) {
			if holdsWords(strings.Fields(line), words) {
				return true
			}
		}
		return false
	})
}

func (s *Terminal) showsWhere(end string, words []string, shows func(drawn string) bool) {
	s.t.Helper()
	drawn := ""
	for {
		begin := len(s.Screen)
		s.Type("\x0c") // Ctrl-L
		for !strings.Contains(s.Screen[begin:], end) {
			chunk, more := <-s.chunks
			require.True(s.t, more, "%q before %q was not shown; this was:\n%s", words, end, ansi.Strip(drawn))
			s.Screen += chunk
		}
		s.seen, drawn = len(s.Screen), s.Screen[begin:]
		if shows(drawn) {
			return
		}
	}
}

// Sequences of ECMA-48 that move the cursor, or erase, within its line or to another one.
var (
	movesInLine = regexp.MustCompile(`\x1b\[[0-9;]*[CDGIX]`)
	movesAway   = regexp.MustCompile(`\x1b\[[0-9;]*[ABEFHd]`)
)

// inLines puts blanks and ends of lines where the cursor is moved instead.
func inLines(drawn string) string {
	return ansi.Strip(movesAway.ReplaceAllString(movesInLine.ReplaceAllString(drawn, " "), "\n"))
}

func holdsInOrder(text string, words []string) bool {
	for _, word := range words {
		_, after, found := strings.Cut(text, word)
		if !found {
			return false
		}
		text = after
	}
	return true
}

func holdsWords(line, words []string) bool {
	for _, word := range words {
		at := slices.Index(line, word)
		if at < 0 {
			return false
		}
		line = line[at+1:]
	}
	return true
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
