package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/remote"
)

// A Prompter asks questions of connections in a view, one at a time. It is a
// [remote.Prompter].
type Prompter struct {
	idle  chan func(tea.Msg) // what sends to the view, while no question is asked there
	done  chan struct{}      // closed once the view is gone
	close sync.Once
}

// A Prompt is the message that brings a view a question. A [WithdrawnMsg] follows if
// nobody waits for the answer any more.
type Prompt struct {
	Context  context.Context // of who waits for the answer
	Question remote.Question
	Reply    func(answer string, err error) // takes one answer, without waiting; later ones are ignored
}

// A WithdrawnMsg reports that nobody waits for the answer to the question any more.
type WithdrawnMsg struct{}

type answer struct {
	text string
	err  error
}

// NewPrompter returns a prompter for a view that is to be shown.
func NewPrompter() *Prompter {
	return &Prompter{idle: make(chan func(tea.Msg), 1), done: make(chan struct{})}
}

// Ask has the question answered in the view; it waits for the view to be there. Once that
// is gone, or the user refuses, the error matches [remote.ErrNobodyToAsk].
func (p *Prompter) Ask(ctx context.Context, question remote.Question) (string, error) {
	answers := make(chan answer, 1)
	withdraw := func() {}
	select {
	case send := <-p.idle:
		defer func() { p.idle <- send }()
		withdraw = func() { send(WithdrawnMsg{}) }
		send(Prompt{ctx, question, func(text string, err error) {
			select {
			case answers <- answer{text, err}:
			default:
			}
		}})
	case <-p.done:
	case <-ctx.Done():
	}
	select {
	case a := <-answers:
		return a.text, a.err
	case <-p.done:
		return "", fmt.Errorf("%w: the screen was closed", remote.ErrNobodyToAsk)
	case <-ctx.Done():
		withdraw()
		return "", ctx.Err()
	}
}

// Leave makes every question fail that is not answered yet, and all later ones.
func (p *Prompter) Leave() { p.close.Do(func() { close(p.done) }) }

// Serve sends questions to a view, the next one once that is answered or withdrawn, until
// ctx ends.
func (p *Prompter) Serve(ctx context.Context, send func(tea.Msg)) {
	p.idle <- send
	<-ctx.Done()
}

// View draws the end of the question, which is what is to be answered, with the host
// before each line: what it says must not pass for something that rmctl or another host
// says.
func (p Prompt) View(width, height int) []string {
	host := Fitted(p.Question.Host, max(width/3, 8)) + ": "
	var lines []string
	for _, line := range strings.Split(strings.TrimRight(Printable(p.Question.Text), " \t\n"), "\n") {
		for _, part := range Wrapped(Safe(line), width-Width(host)) {
			lines = append(lines, host+part)
		}
	}
	return lines[max(len(lines)-height, 0):]
}
