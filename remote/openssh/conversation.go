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

// questionPause is the silence after which the text on the terminal counts as a question:
// ssh writes a question at once, then waits.
const questionPause = 40 * time.Millisecond

// mostQuestions bounds the questions of one connection. ssh itself stops after three wrong
// passwords, but a server may ask for further factors without end.
const mostQuestions = 30

// longestQuestion is in bytes. Of a longer question only the end is shown.
const longestQuestion = 4 << 10

// conversation is a terminal for the questions of ssh alone, whose streams are pipes. As the
// controlling terminal of ssh it also hangs up ssh when this process ends in any way.
type conversation struct {
	host     string
	prompter remote.Prompter // nil for nobody
	context  func() string   // messages since the last question

	terminal *os.File // our side
	device   *os.File // of ssh; open here too, since ssh opens it again for each question

	shown chan []byte // output on the terminal; closed at its end
	text  []byte      // output that is not yet a question

	asking   chan bool     // gets true before and false after a question to the user
	unheeded chan struct{} // closed when nobody receives from asking any more
	giveUp   func()        // ends ssh
	ended    chan struct{}
	err      error // why a question was not answered; final with ended
}

func newConversation(host string, prompter remote.Prompter, recent func() string) (*conversation, error) {
	terminal, device, err := execution.OpenTerminal()
	if err != nil {
		return nil, fmt.Errorf("opening a terminal for ssh: %w", err)
	}
	return &conversation{
		host: host, prompter: prompter, context: recent, terminal: terminal, device: device,
		shown: make(chan []byte), asking: make(chan bool), unheeded: make(chan struct{}), ended: make(chan struct{}),
	}, nil
}

// close ends the terminal, and with it run.
func (c *conversation) close() error {
	return errors.Join(c.device.Close(), c.terminal.Close())
}

// run answers questions until the terminal is closed.
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

// read passes on the output on the terminal until it is closed.
func (c *conversation) read() {
	defer close(c.shown)
	buffer := make([]byte, 4<<10)
	for {
		count, err := c.terminal.Read(buffer)
		if count > 0 {
			c.shown <- bytes.Clone(buffer[:count])
		}
		if err != nil {
			return // it was closed, or ssh has ended; others report both
		}
	}
}

// fail ends ssh after a question without an answer.
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

// nextQuestion waits for a question. The error is io.EOF when the terminal was closed.
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
	// The terminal would interpret it.
	if strings.ContainsFunc(answer, func(r rune) bool { return r < 0x80 && unicode.IsControl(r) }) {
		return fmt.Errorf("ssh asks %q: the answer contains a control character", question)
	}
	if _, err := c.terminal.WriteString(answer + "\n"); err != nil {
		return fmt.Errorf("answering ssh, which asks %q: %w", question, err)
	}
	if secret {
		return nil
	}
	return c.skipEcho()
}

// skipEcho drops the echo of the answer, with its line break.
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
				return nil // ssh has ended, and explain returns why
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
