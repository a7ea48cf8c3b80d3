package dap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// answerWithin bounds how long a debugger may take to answer.
const answerWithin = 10 * time.Second

// Errors of a client.
var (
	errEnded = errors.New("the debugger has ended")
	errHangs = errors.New("the debugger did not answer in time")
	errFlood = errors.New("the debugger reports without end")
)

// A refusal is the message with which a debugger refuses a request.
type refusal struct{ message string }

// Error implements error.
func (e refusal) Error() string { return e.message }

// A stream is where a debugger reads and writes.
type stream interface {
	io.ReadWriter
	SetWriteDeadline(limit time.Time) error
}

// A client exchanges messages with a debugger. It may be used by several goroutines.
type client struct {
	stream  stream
	observe func(message) bool // runs in the goroutine of read; false for too many events
	writing sync.Mutex

	mutex   sync.Mutex
	last    int // sequence number
	waiting map[int]chan message
	ended   error // why there are no further answers
	over    chan struct{}
}

func newClient(stream stream, observe func(message) bool) *client {
	return &client{stream: stream, observe: observe, waiting: map[int]chan message{}, over: make(chan struct{})}
}

// read reads messages until the debugger ends or sends an invalid one.
func (c *client) read() {
	reader := bufio.NewReaderSize(c.stream, 64<<10)
	if err := skipNoise(reader); err != nil {
		c.fail(endedBy(err))
	}
	for c.err() == nil {
		read, err := readMessage(reader)
		switch {
		case err != nil:
			c.fail(endedBy(err))
		case read.Type == "response":
			c.deliver(read)
		case read.Type == "event" && !c.observe(read):
			c.fail(errFlood)
		}
	}
}

func endedBy(err error) error {
	if errors.Is(err, io.EOF) {
		return errEnded
	}
	return fmt.Errorf("%w: %w", errEnded, err)
}

func (c *client) deliver(read message) {
	c.mutex.Lock()
	answered, isKnown := c.waiting[read.RequestSeq]
	delete(c.waiting, read.RequestSeq)
	c.mutex.Unlock()
	if isKnown {
		answered <- read // it holds one
	}
}

// fail ends all exchange. The first reason counts.
func (c *client) fail(reason error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.ended == nil {
		c.ended = reason
		close(c.over)
	}
}

func (c *client) err() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.ended
}

// call sends a request and waits for its response, at most answerWithin. After a timeout it sends no further
// requests.
func (c *client) call(ctx context.Context, command string, arguments map[string]any) (message, error) {
	return c.callWithin(ctx, answerWithin, command, arguments)
}

func (c *client) callWithin(ctx context.Context, limit time.Duration, command string, arguments map[string]any) (message, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	number, answered, err := c.enroll()
	if err != nil {
		return message{}, err
	}
	if err := c.send(ctx, request{Seq: number, Type: "request", Command: command, Arguments: arguments}); err != nil {
		c.fail(err)
		return message{}, c.err()
	}
	select {
	case answer := <-answered:
		return answer, refused(answer)
	case <-c.over:
		return message{}, c.err()
	case <-ctx.Done():
		c.fail(errHangs)
		return message{}, c.err()
	}
}

// enroll returns the number of a new request and where its response will be.
func (c *client) enroll() (int, chan message, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.ended != nil {
		return 0, nil, c.ended
	}
	c.last++
	answered := make(chan message, 1)
	c.waiting[c.last] = answered
	return c.last, answered, nil
}

func (c *client) send(ctx context.Context, sent request) error {
	content, err := json.Marshal(sent)
	if err != nil {
		return fmt.Errorf("could not encode %s: %w", sent.Command, err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	limit, _ := ctx.Deadline()
	_ = c.stream.SetWriteDeadline(limit)
	if _, err := fmt.Fprintf(c.stream, "Content-Length: %d\r\n\r\n%s", len(content), content); err != nil {
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil
}

// refused returns the error of a response, if it has one.
func refused(answer message) error {
	if answer.Success {
		return nil
	}
	text := answer.Message
	var detailed errorBody
	if json.Unmarshal(answer.Body, &detailed) == nil && detailed.Error.Format != "" {
		text = detailed.Error.Format
	}
	if text = strings.TrimSpace(text); text == "" {
		text = "the debugger gives no reason"
	}
	return refusal{text}
}

// answerOf calls and returns the body of the response.
func answerOf[T any](ctx context.Context, client *client, command string, arguments map[string]any) (T, error) {
	var body T
	answer, err := client.call(ctx, command, arguments)
	if err == nil && len(answer.Body) > 0 && json.Unmarshal(answer.Body, &body) != nil {
		err = refusal{"the debugger answered something else"}
	}
	return body, err
}
