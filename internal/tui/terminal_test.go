package tui

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// answerer sits at a terminal: it reads what is shown there, and types.
type answerer struct {
	keyboard *os.File
	screen   *os.File

	mutex   sync.Mutex
	shown   bytes.Buffer
	changed chan struct{}
}

func newAnswerer(t *testing.T) *answerer {
	t.Helper()
	keyboard, screen, err := pty.Open()
	require.NoError(t, err)
	s := &answerer{keyboard: keyboard, screen: screen, changed: make(chan struct{}, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 1024)
		for {
			count, err := keyboard.Read(buffer)
			s.mutex.Lock()
			s.shown.Write(buffer[:count])
			s.mutex.Unlock()
			select {
			case s.changed <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, screen.Close())
		<-ended
		require.NoError(t, keyboard.Close())
	})
	return s
}

func (s *answerer) text() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.shown.String()
}

// see waits until something is shown.
func (s *answerer) see(t *testing.T, wanted string) {
	t.Helper()
	limit := time.After(time.Minute)
	for !strings.Contains(s.text(), wanted) {
		select {
		case <-s.changed:
		case <-limit:
			require.Contains(t, s.text(), wanted)
		}
	}
}

func (s *answerer) enter(t *testing.T, keys string) {
	t.Helper()
	_, err := s.keyboard.WriteString(keys)
	require.NoError(t, err)
}

// ask asks as terminalPrompter does, whatever process group the test runs in.
func (s *answerer) ask(ctx context.Context, question remote.Question) (string, error) {
	return askAt(ctx, s.screen, question)
}

func TestAnswersAreTypedAtTheTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		secret              bool
		keys, answer, shown string
	}{
		"shown":             {false, "yes\r", "yes", "host: Continue? yes\r\n"},
		"a secret":          {true, "s3cret\r", "s3cret", "host: Continue? \r\n"},
		"mended":            {false, "yey\x7fs\r", "yes", "host: Continue? yey\b \bs\r\n"},
		"begun again":       {false, "no\x15yes\r", "yes", "host: Continue? no\b \b\b \byes\r\n"},
		"in UTF-8":          {false, "jaé\x7f\r", "ja", "host: Continue? jaé\b \b\r\n"},
		"nothing":           {false, "\r", "", "host: Continue? \r\n"},
		"a control typed":   {false, "a\x1b[31m\r", "a\x1b[31m", "host: Continue? a[31m\r\n"},
		"the end, too late": {false, "a\x04\r", "a", "host: Continue? a\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAnswerer(t)
			type result struct {
				answer string
				err    error
			}
			answered := make(chan result, 1)
			go func() {
				answer, err := s.ask(t.Context(), remote.Question{Host: "host", Text: "Continue? ", Secret: c.secret})
				answered <- result{answer, err}
			}()
			s.see(t, "Continue? ")
			s.enter(t, c.keys)
			given := <-answered
			require.NoError(t, given.err)
			require.Equal(t, c.answer, given.answer)
			s.see(t, c.shown)
		})
	}
}

func TestAQuestionNeedNotBeAnswered(t *testing.T) {
	for name, keys := range map[string]string{"interrupted": "\x03", "refused": "\x04"} {
		t.Run(name, func(t *testing.T) {
			s := newAnswerer(t)
			failed := make(chan error, 1)
			go func() {
				_, err := s.ask(t.Context(), remote.Question{Host: "host", Text: "Password:"})
				failed <- err
			}()
			s.see(t, "Password:")
			s.enter(t, keys)
			require.ErrorIs(t, <-failed, ErrNotAnswered)
		})
	}
	t.Run("given up", func(t *testing.T) {
		s := newAnswerer(t)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := s.ask(ctx, remote.Question{Host: "host", Text: "Password:", Secret: true})
			failed <- err
		}()
		s.see(t, "Password:")
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled)
	})
}

func TestQuestionsNameTheHostAndCannotTakeOverTheTerminal(t *testing.T) {
	text := questionText(remote.Question{Host: "evil\x1b[2J\nhost", Text: "\x1b]0;title\x07Password\r\nrmctl: all is well\n"})
	require.Equal(t, "evil\\u001b[2J host: \\u001b]0;title\\u0007Password\nevil\\u001b[2J host: rmctl: all is well ", text)
}

func TestWithoutATerminalThereIsNobodyToAsk(t *testing.T) {
	p := &terminalPrompter{path: "/dev/null"}
	_, err := p.Ask(t.Context(), remote.Question{})
	require.ErrorIs(t, err, remote.ErrNobodyToAsk)
	p = &terminalPrompter{path: t.TempDir() + "/absent"}
	_, err = p.Ask(t.Context(), remote.Question{})
	require.ErrorIs(t, err, remote.ErrNobodyToAsk)
}
