package tui

import (
	"context"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// serving lets a prompter ask on a screen that the returned channel brings what is
// sent to it from, until the test has ended.
func serving(t *testing.T) (*Prompter, <-chan tea.Msg) {
	t.Helper()
	p, sent := NewPrompter(), make(chan tea.Msg)
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		p.Serve(ctx, func(m tea.Msg) {
			select {
			case sent <- m:
			case <-ctx.Done():
			}
		})
	})
	t.Cleanup(func() { cancel(); working.Wait() })
	return p, sent
}

func TestSeveralConnectionsAskOneAfterTheOther(t *testing.T) {
	p, sent := serving(t)
	answers := make(chan string, 2)
	var asking sync.WaitGroup
	for _, host := range []string{"a", "b"} {
		asking.Go(func() {
			answer, err := p.Ask(t.Context(), remote.Question{Host: host})
			if err == nil {
				answers <- host + answer
			}
		})
	}
	for range 2 {
		asked, isPrompt := (<-sent).(Prompt)
		require.True(t, isPrompt)
		asked.Reply(asked.Question.Host, nil)
	}
	asking.Wait()
	require.ElementsMatch(t, []string{"aa", "bb"}, []string{<-answers, <-answers})
}

func TestAQuestionThatNobodyWaitsForGoesAway(t *testing.T) {
	p, sent := serving(t)
	ctx, giveUp := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	var err error
	asking.Go(func() { _, err = p.Ask(ctx, remote.Question{Host: "a"}) })
	asked, isPrompt := (<-sent).(Prompt)
	require.True(t, isPrompt)
	giveUp()
	require.Equal(t, WithdrawnMsg{}, <-sent)
	asking.Wait()
	require.ErrorIs(t, err, context.Canceled)
	asked.Reply("too late", nil) // it holds up nobody
}

func TestOnceTheScreenIsLeftNobodyIsAsked(t *testing.T) {
	p := NewPrompter()
	var asking sync.WaitGroup
	var err error
	asking.Go(func() { _, err = p.Ask(t.Context(), remote.Question{Host: "a"}) })
	p.Leave()
	asking.Wait()
	require.ErrorIs(t, err, remote.ErrNobodyToAsk)
	_, err = p.Ask(t.Context(), remote.Question{Host: "a"})
	require.ErrorIs(t, err, remote.ErrNobodyToAsk)
}
