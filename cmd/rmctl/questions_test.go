package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// A teller answers questions by what a test sends.
type teller struct{ answers chan string }

func newTeller() *teller { return &teller{make(chan string)} }

func (s *teller) Ask(ctx context.Context, _ remote.Question) (string, error) {
	select {
	case answer := <-s.answers:
		return answer, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func TestQuestionsAreAskedWhereTheUserLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen, form := newTeller(), newTeller()
		q := newQuestions(newVenue(screen, false))
		answers := make(chan string, 2)
		ask := func() {
			answer, err := q.Ask(t.Context(), remote.Question{})
			require.NoError(t, err)
			answers <- answer
		}
		go ask()
		synctest.Wait()
		require.NoError(t, q.askingAt(newVenue(form, false), func() error {
			synctest.Wait()
			form.answers <- "in the form" // what was asked on the screen before
			require.Equal(t, "in the form", <-answers)
			go ask()
			return nil
		}))
		synctest.Wait()
		screen.answers <- "on the screen" // what the form was left with
		require.Equal(t, "on the screen", <-answers)

		require.NoError(t, q.askingAt(newVenue(nil, false), func() error {
			go ask()
			synctest.Wait()
			require.Empty(t, answers, "a job has the terminal")
			return nil
		}))
		synctest.Wait()
		screen.answers <- "afterwards"
		require.Equal(t, "afterwards", <-answers)
	})
}

func TestATerminalThatIsTypedAtIsNotTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal, form := newTeller(), newTeller()
		q := newQuestions(newVenue(terminal, true))
		answers := make(chan string, 1)
		go func() {
			answer, err := q.Ask(t.Context(), remote.Question{})
			require.NoError(t, err)
			answers <- answer
		}()
		synctest.Wait()
		var shown sync.WaitGroup
		isShown := false
		shown.Go(func() {
			require.NoError(t, q.askingAt(newVenue(form, false), func() error { isShown = true; return nil }))
		})
		synctest.Wait()
		require.False(t, isShown, "half a password would get into a field")
		terminal.answers <- "secret"
		require.Equal(t, "secret", <-answers)
		shown.Wait()
		require.True(t, isShown)
	})
}

func TestAQuestionThatIsGivenUpIsOver(t *testing.T) {
	for _, prompter := range []remote.Prompter{newTeller(), nil} {
		ctx, giveUp := context.WithCancel(t.Context())
		giveUp()
		_, err := newQuestions(newVenue(prompter, false)).Ask(ctx, remote.Question{})
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestAFormTellsOfAQuestionAndLeavesTheTerminalToIt(t *testing.T) {
	d := demo(t)
	sent := make(chan tea.Msg, 2)
	asker := &formPrompter{send: func(m tea.Msg) { sent <- m }, answer: func(_ context.Context, question remote.Question) (string, error) { return "to " + question.Text, nil }}
	answers := make(chan string, 1)
	go func() {
		answer, err := asker.Ask(t.Context(), remote.Question{Host: "far\x1b[2J", Text: "Password:", Secret: true})
		if err == nil {
			answers <- answer
		}
	}()
	asked := <-sent
	require.Nil(t, d.goToQuestion())
	d.Update(asked)
	d.shows(`far\u001b[2J asks something: Ctrl-G answers it`)
	d.busy = "Find partitions"
	d.shows("Ctrl-G answers it")
	require.NotNil(t, d.key(tea.KeyPressMsg{Code: 'g', Mod: tea.ModCtrl}), "what is under way may wait for the answer")
	require.NoError(t, (&answering{d.questions[0], t.Context()}).Run())
	require.Equal(t, "to Password:", <-answers)
	d.Update(unaskedMsg{d.questions[0]})
	d.lacks("asks something")

	ctx, giveUp := context.WithCancel(t.Context())
	go func() { _, _ = asker.Ask(ctx, remote.Question{Host: "far"}) }()
	d.Update(<-sent)
	giveUp()
	d.Update(<-sent)
	d.lacks("asks something")
}

// gated returns the port of a way to a port of this machine that opens when the
// function is called.
func gated(t *testing.T, port string) (way string, open func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	isOpen := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			defer near.Close()
			context.AfterFunc(ctx, func() { near.Close() })
			work.Go(func() {
				select {
				case <-isOpen:
				case <-ctx.Done():
					return
				}
				far, err := net.Dial("tcp", "127.0.0.1:"+port)
				if err != nil {
					near.Close()
					return
				}
				context.AfterFunc(ctx, func() { far.Close() })
				work.Go(func() { _, _ = io.Copy(far, near); far.Close() })
				_, _ = io.Copy(near, far)
				near.Close()
			})
		}
	})
	t.Cleanup(func() { end(); listener.Close(); work.Wait() })
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), sync.OnceFunc(func() { close(isOpen) })
}

func TestTheQuestionOfAHostThatComesWhileAFormHasTheTerminalIsAnswered(t *testing.T) {
	d := desk(t)
	config, err := os.ReadFile(startSSHServer(t))
	require.NoError(t, err)
	ports := regexp.MustCompile(`Port (\d+)`).FindAllStringSubmatch(string(config), -1)
	way, open := gated(t, ports[len(ports)-1][1])
	file := filepath.Join(d.Home, "ssh_config")
	require.NoError(t, os.WriteFile(file, append([]byte("Host stranger\n    BatchMode no\n    ConnectTimeout 120\n    Port "+way+"\n"), config...), 0o600))
	d.Reaches("far", "local", "ssh", "stranger", file)
	s := d.Sits("watch")
	s.Type("1")
	s.Shows(endOfJobs, "far", "STARTING", "local", "STARTED")
	s.Type("n")
	s.WaitFor("Ctrl-S submit")
	open()
	s.WaitFor("stranger asks something: Ctrl-G answers it")
	s.Type("\x07")
	s.WaitFor("\x1b[?1049l")
	s.WaitFor("stranger: ")
	s.WaitFor("fingerprint")
	s.Type("yes\r")
	s.WaitFor("\x1b[?1049h") // the form is back
	s.WaitFor("Ctrl-S submit")
	s.Type("\x1b")
	s.WaitFor("\x1b[?1049h") // the list is back
	s.Type("1")
	s.Shows(endOfJobs, "2/2", "far", "STARTED", "stranger", "local", "STARTED")
	s.Type("q")
	s.Ends(exitDone)
}
