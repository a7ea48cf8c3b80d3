package openssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// questionPause is how long the terminal must be silent for what it shows to be
// a question: ssh writes one at once, then waits.
const questionPause = 40 * time.Millisecond

// ssh itself gives up after three wrong passwords, but a server may ask for
// further factors without end.
const mostQuestions = 30

// longestQuestion is in bytes; of longer ones the end is asked.
const longestQuestion = 4 << 10

// conversation is a terminal on which ssh asks and that nothing else is shown
// on, since its streams are pipes. As the controlling terminal of ssh it has a
// second use: when this process is gone, however it ended, ssh is hung up.
type conversation struct {
	host     string
	prompter remote.Prompter // nil for nobody
	context  func() string   // what was said since the last question

	terminal *os.File // our side
	device   *os.File // of ssh; open here too, since ssh opens it again for each question

	shown chan []byte // what the terminal shows; closed at its end
	text  []byte      // of it, what is not yet a question

	asking   chan bool     // sent before and after the user is asked
	unheeded chan struct{} // closed when nobody receives from asking any more
	giveUp   func()        // ends ssh
	ended    chan struct{}
	err      error // why a question was not answered; final with ended
}

func newConversation(host string, prompter remote.Prompter, said func() string) (*conversation, error) {
	terminal, device, err := execution.OpenTerminal()
	if err != nil {
		return nil, fmt.Errorf("opening a terminal for ssh: %w", err)
	}
	return &conversation{
		host: host, prompter: prompter, context: said, terminal: terminal, device: device,
		shown: make(chan []byte), asking: make(chan bool), unheeded: make(chan struct{}), ended: make(chan struct{}),
	}, nil
}

// close ends the terminal, and with it run.
func (c *conversation) close() error {
	return errors.Join(c.device.Close(), c.terminal.Close())
}

// run answers until the terminal is closed.
func (c *conversation) run(ctx context.Context) {
	defer close(c.ended)
	go c.read()
	for asked := 0; ; asked++ {
		question, secret, err := c.nextQuestion()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && asked == mostQuestions {
			err = fmt.Errorf("ssh asked more than %d questions", mostQuestions)
		}
		if err == nil {
			err = c.reply(ctx, question, secret)
		}
		if err != nil {
			c.fail(question, err)
			return
		}
	}
}

// read passes on what the terminal shows, until it is closed.
func (c *conversation) read() {
	defer close(c.shown)
	buffer := make([]byte, 4<<10)
	for {
		count, err := c.terminal.Read(buffer)
		if count > 0 {
			c.shown <- bytes.Clone(buffer[:count])
		}
		if err != nil {
			return // it was closed, or ssh has ended; both are seen elsewhere
		}
	}
}

// fail ends ssh for a question that was not answered.
func (c *conversation) fail(question string, err error) {
	reason := remote.NotAuthenticated
	if strings.Contains(question, "fingerprint") {
		reason = remote.UnknownHostKey
	}
	c.err = &remote.ConnectError{Host: c.host, Reason: reason, Err: err}
	c.giveUp()
	for range c.shown { // ssh must not wait for us to read
	}
}

// nextQuestion reads what ssh shows until it waits. The error is io.EOF when the
// terminal was closed.
func (c *conversation) nextQuestion() (question string, secret bool, err error) {
	for {
		var silence <-chan time.Time
		if len(bytes.TrimSpace(c.text)) > 0 {
			silence = time.After(questionPause)
		}
		select {
		case text, more := <-c.shown:
			if !more {
				return "", false, io.EOF
			}
			c.text = append(c.text, text...)
			c.text = c.text[max(0, len(c.text)-longestQuestion):]
		case <-silence:
			question = strings.Trim(strings.ReplaceAll(string(c.text), "\r\n", "\n"), "\n")
			c.text = nil
			shown, err := echoes(c.device)
			return question, !shown, err
		}
	}
}

// reply asks the user and types the answer.
func (c *conversation) reply(ctx context.Context, question string, secret bool) error {
	if c.prompter == nil {
		return fmt.Errorf("ssh asks %q: %w", question, remote.ErrNobodyToAsk)
	}
	c.announce(true)
	defer c.announce(false)
	text := question
	if before := strings.TrimSpace(c.context()); before != "" {
		text = before + "\n" + question
	}
	answer, err := c.prompter.Ask(ctx, remote.Question{Host: c.host, Text: text, Secret: secret})
	if err != nil {
		return fmt.Errorf("ssh asks %q: %w", question, err)
	}
	// The terminal would take it for an instruction, not for a part of the answer.
	if strings.ContainsFunc(answer, func(r rune) bool { return r < 0x80 && unicode.IsControl(r) }) {
		return fmt.Errorf("ssh asks %q: the answer holds a control character", question)
	}
	if _, err := c.terminal.WriteString(answer + "\n"); err != nil {
		return fmt.Errorf("answering ssh, which asks %q: %w", question, err)
	}
	if secret {
		return nil
	}
	return c.skipEcho()
}

// skipEcho drops the answer that the terminal shows again, with its line break.
func (c *conversation) skipEcho() error {
	patience := time.After(endGrace)
	for {
		if _, rest, whole := bytes.Cut(c.text, []byte("\n")); whole {
			c.text = rest
			return nil
		}
		select {
		case text, more := <-c.shown:
			if !more {
				return nil // ssh has ended; why is said elsewhere
			}
			c.text = append(c.text, text...)
		case <-patience:
			return errors.New("the terminal of ssh does not take an answer")
		}
	}
}

func (c *conversation) announce(asking bool) {
	select {
	case c.asking <- asking:
	case <-c.unheeded:
	}
}
