package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/remote"
)

// keyAnswer leaves the form for the question of a connection that waits.
const keyAnswer = "ctrl+g"

// A formPrompter has questions wait in a form until the user goes to them. It is a
// [remote.Prompter].
type formPrompter struct {
	send   func(tea.Msg)
	answer func(context.Context, remote.Question) (string, error) // at the terminal, which the form has left
}

// A waitingQuestion waits until the user goes to it.
type waitingQuestion struct {
	ctx      context.Context
	question remote.Question
	prompter *formPrompter
	answers  chan<- givenAnswer // takes one without waiting
}

type givenAnswer struct {
	text string
	err  error
}

// An askedMsg brings a question, an unaskedMsg tells that nobody waits for its answer any
// more, or that it was answered.
type (
	askedMsg   struct{ *waitingQuestion }
	unaskedMsg struct{ *waitingQuestion }
)

// Ask implements [remote.Prompter].
func (p *formPrompter) Ask(ctx context.Context, question remote.Question) (string, error) {
	answers := make(chan givenAnswer, 1)
	waiting := &waitingQuestion{ctx, question, p, answers}
	p.send(askedMsg{waiting})
	select {
	case answer := <-answers:
		return answer.text, answer.err
	case <-ctx.Done():
		p.send(unaskedMsg{waiting})
		return "", ctx.Err()
	}
}

// unask takes a question away.
func (s *formScreen) unask(m unaskedMsg) {
	s.questions = slices.DeleteFunc(s.questions, func(each *waitingQuestion) bool { return each == m.waitingQuestion })
}

// goToQuestion leaves the terminal to the question that has waited for the longest time.
func (s *formScreen) goToQuestion() tea.Cmd {
	if len(s.questions) == 0 {
		return nil
	}
	asked := s.questions[0]
	return tea.Exec(&answering{asked, s.ctx}, func(err error) tea.Msg {
		if err != nil { // the terminal could not be left, or not be taken back
			select {
			case asked.answers <- givenAnswer{err: fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, err)}:
			default: // it is answered
			}
		}
		return unaskedMsg{asked}
	})
}

// questionLine tells that a question waits.
func (s *formScreen) questionLine() string {
	const how = " asks something: Ctrl-G answers it"
	host := ansi.Truncate(oneLine(s.questions[0].question.Host), max(s.width-len(how), 8), "…")
	return styled(styleProblem, host+how)
}

// answering asks a question at the terminal that the form has left. It is a
// [tea.ExecCommand].
type answering struct {
	*waitingQuestion
	form context.Context // ends with the form
}

// Run asks. That there is no answer is told to who waits for it.
func (a *answering) Run() error {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	defer context.AfterFunc(a.form, cancel)()
	tui.AwaitRelease(ctx)
	text, err := a.prompter.answer(ctx, a.question)
	a.answers <- givenAnswer{text, err}
	return nil
}

// SetStdin, SetStdout and SetStderr do nothing: the user is asked at the terminal, whatever
// the streams are.
func (a *answering) SetStdin(io.Reader) {}

// SetStdout implements [tea.ExecCommand].
func (a *answering) SetStdout(io.Writer) {}

// SetStderr implements [tea.ExecCommand].
func (a *answering) SetStderr(io.Writer) {}
