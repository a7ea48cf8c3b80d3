package fill

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/remote"
)

// An echo answers questions by their texts.
type echo struct{}

func (echo) Ask(_ context.Context, question remote.Question) (string, error) {
	return "to " + question.Text, nil
}

func TestAFormReportsAQuestionAndLeavesTheTerminalToIt(t *testing.T) {
	d := demo(t)
	sent := make(chan tea.Msg, 2)
	asker := tui.NewPrompter()
	ctx, leave := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() {
		asker.Serve(ctx, func(m tea.Msg) { sent <- m })
		close(served)
	}()
	defer func() { leave(); <-served }()
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
	d.shows(`far\u001b[2J has a question: Ctrl-G answers it`)
	d.busy = "Find partitions"
	d.shows("Ctrl-G answers it")
	require.NotNil(t, d.key(tea.KeyPressMsg{Code: 'g', Mod: tea.ModCtrl}), "what is under way may wait for the answer")
	prompt := d.prompt
	require.NoError(t, answer(t.Context(), echo{}, prompt))
	require.Equal(t, "to Password:", <-answers)
	d.Update(tui.Apply(func() { d.dismiss(prompt) }))
	d.lacks("has a question")

	here, giveUp := context.WithCancel(t.Context())
	go func() { _, _ = asker.Ask(here, remote.Question{Host: "far"}) }()
	d.Update(<-sent)
	d.Update(tui.Apply(func() { d.dismiss(prompt) }))
	d.shows("far has a question")
	giveUp()
	d.Update(<-sent)
	d.lacks("has a question")
}
