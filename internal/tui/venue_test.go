package tui

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

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
		q := NewQuestions(screen, false)
		answers := make(chan string, 2)
		ask := func() {
			answer, err := q.Ask(t.Context(), remote.Question{})
			require.NoError(t, err)
			answers <- answer
		}
		go ask()
		synctest.Wait()
		require.NoError(t, q.AskingAt(form, false, func() error {
			synctest.Wait()
			form.answers <- "in the form" // what was asked on the screen before
			require.Equal(t, "in the form", <-answers)
			go ask()
			return nil
		}))
		synctest.Wait()
		screen.answers <- "on the screen" // what the form was left with
		require.Equal(t, "on the screen", <-answers)

		require.NoError(t, q.AskingAt(nil, false, func() error {
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
		q := NewQuestions(terminal, true)
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
			require.NoError(t, q.AskingAt(form, false, func() error { isShown = true; return nil }))
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
		_, err := NewQuestions(prompter, false).Ask(ctx, remote.Question{})
		require.ErrorIs(t, err, context.Canceled)
	}
}
