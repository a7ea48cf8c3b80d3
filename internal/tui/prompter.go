package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/remote"
)

// A Prompter asks questions of connections on the screen, one at a time. It is a
// [remote.Prompter].
type Prompter struct {
	questions chan prompt
	done      chan struct{} // closed once the screen is gone
	close     sync.Once
}

// A prompt is a question that waits for its answer.
type prompt struct {
	ctx      context.Context
	question remote.Question
	reply    chan<- reply // takes one without waiting
}

type reply struct {
	answer string
	err    error
}

// NewPrompter returns a prompter for a screen that is to be shown.
func NewPrompter() *Prompter {
	return &Prompter{questions: make(chan prompt), done: make(chan struct{})}
}

// Ask shows the question and returns what is typed; it waits for the screen to be
// there. Once that is gone, or the user refuses, the error matches
// [remote.ErrNobodyToAsk].
func (p *Prompter) Ask(ctx context.Context, question remote.Question) (string, error) {
	replies := make(chan reply, 1)
	select {
	case p.questions <- prompt{ctx, question, replies}:
	case <-p.done:
		return "", fmt.Errorf("%w: the screen was left", remote.ErrNobodyToAsk)
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-p.done:
		return "", fmt.Errorf("%w: the screen was left", remote.ErrNobodyToAsk)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// leave lets nobody wait for an answer any more.
func (p *Prompter) leave() { p.close.Do(func() { close(p.done) }) }

// view shows the end of the question, which is what is to be answered, with the
// host before each line: what it says must not pass for something that rmctl or
// another host says.
func (p prompt) view(width, height int) []string {
	host := fitted(p.question.Host, max(width/3, 8)) + ": "
	var lines []string
	for _, line := range strings.Split(strings.TrimRight(Printable(p.question.Text), " \t\n"), "\n") {
		for _, part := range wrapped(safe(line), width-widthOf(host)) {
			lines = append(lines, host+part)
		}
	}
	return lines[max(len(lines)-height, 0):]
}

// Notices are what is said while the screen is shown, such as warnings, in place
// of standard error: each line that is written to them is shown. Those that come
// faster than they are shown replace the oldest.
type Notices struct {
	lock    sync.Mutex
	partial strings.Builder
	lines   []string
}

// mostNotices is how many lines wait to be shown at most, and noticeBytes how long
// one may be.
const (
	mostNotices = 200
	noticeBytes = 4096
)

// Write takes lines. It never fails.
func (n *Notices) Write(text []byte) (int, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	for i, line := range strings.Split(string(text), "\n") {
		if i > 0 {
			n.lines = append(n.lines, n.partial.String())
			n.partial.Reset()
		}
		n.partial.WriteString(line[:min(len(line), max(noticeBytes-n.partial.Len(), 0))])
	}
	n.lines = n.lines[max(len(n.lines)-mostNotices, 0):]
	return len(text), nil
}

// Take returns the lines that were written since it was called last, at most 200: the
// newest. They are as they were written, each cut after 4 KiB.
func (n *Notices) Take() []string {
	n.lock.Lock()
	defer n.lock.Unlock()
	lines := n.lines
	n.lines = nil
	return lines
}
