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

	"github.com/google/go-dap"
)

// answerWithin bounds how long a debugger may take to answer.
const answerWithin = 10 * time.Second

// Errors of a client.
var (
	errEnded = errors.New("the debugger has ended")
	errHangs = errors.New("the debugger did not answer in time")
	errFlood = errors.New("the debugger reports without end")
)

// A refusal is what a debugger says when it cannot do what is requested.
type refusal struct{ message string }

// Error implements error.
func (e refusal) Error() string { return e.message }

// A stream is where a debugger reads and writes.
type stream interface {
	io.ReadWriter
	SetWriteDeadline(limit time.Time) error
}

// An outgoing message is a request with any arguments.
type outgoing struct {
	dap.Request
	Arguments any `json:"arguments,omitempty"`
}

// A pending request waits for its response.
type pending struct {
	answered chan dap.ResponseMessage  // holds one
	first    func(dap.ResponseMessage) // runs before the next message is read; may be nil
}

// A client exchanges messages with a debugger. It may be used by several goroutines.
type client struct {
	stream  stream
	observe func(dap.EventMessage) bool // runs in the goroutine of read; false for too many events
	writing sync.Mutex

	mutex   sync.Mutex
	last    int // sequence number
	waiting map[int]pending
	ended   error // why there are no further answers
	over    chan struct{}
}

func newClient(stream stream, observe func(dap.EventMessage) bool) *client {
	return &client{stream: stream, observe: observe, waiting: map[int]pending{}, over: make(chan struct{})}
}

// read reads messages until the debugger ends or sends what is no message.
func (c *client) read() {
	reader := bufio.NewReaderSize(c.stream, 64<<10)
	for {
		message, err := readMessage(reader)
		var unknown *dap.DecodeProtocolMessageFieldError
		switch {
		case errors.As(err, &unknown):
			continue // debuggers have events of their own
		case errors.Is(err, io.EOF):
			c.fail(errEnded)
			return
		case err != nil:
			c.fail(fmt.Errorf("%w: %w", errEnded, err))
			return
		}
		switch message := message.(type) {
		case dap.ResponseMessage:
			c.deliver(message)
		case dap.EventMessage:
			if !c.observe(message) {
				c.fail(errFlood)
			}
		}
		if c.err() != nil {
			return
		}
	}
}

func (c *client) deliver(message dap.ResponseMessage) {
	number := message.GetResponse().RequestSeq
	c.mutex.Lock()
	waiting, isKnown := c.waiting[number]
	delete(c.waiting, number)
	c.mutex.Unlock()
	if !isKnown {
		return
	}
	if waiting.first != nil {
		waiting.first(message)
	}
	waiting.answered <- message
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

// call sends a request and waits for its response, at most answerWithin. A debugger that does not
// answer in time is not asked again. first may be nil.
func (c *client) call(ctx context.Context, command string, arguments any, first func(dap.ResponseMessage)) (dap.ResponseMessage, error) {
	return c.callWithin(ctx, answerWithin, command, arguments, first)
}

func (c *client) callWithin(ctx context.Context, limit time.Duration, command string, arguments any, first func(dap.ResponseMessage)) (dap.ResponseMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	number, answered, err := c.enroll(first)
	if err != nil {
		return nil, err
	}
	if err := c.send(ctx, number, command, arguments); err != nil {
		c.fail(err)
		return nil, c.err()
	}
	select {
	case message := <-answered:
		return message, refused(message)
	case <-c.over:
		return nil, c.err()
	case <-ctx.Done():
		c.fail(errHangs)
		return nil, c.err()
	}
}

// enroll returns the number of a new request and where its response will be.
func (c *client) enroll(first func(dap.ResponseMessage)) (int, chan dap.ResponseMessage, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.ended != nil {
		return 0, nil, c.ended
	}
	c.last++
	answered := make(chan dap.ResponseMessage, 1)
	c.waiting[c.last] = pending{answered: answered, first: first}
	return c.last, answered, nil
}

func (c *client) send(ctx context.Context, number int, command string, arguments any) error {
	message := outgoing{Request: dap.Request{ProtocolMessage: dap.ProtocolMessage{Seq: number, Type: "request"}, Command: command}, Arguments: arguments}
	content, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("could not encode %s: %w", command, err)
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
func refused(message dap.ResponseMessage) error {
	response := message.GetResponse()
	if response.Success {
		return nil
	}
	text := response.Message
	if detailed, isDetailed := message.(*dap.ErrorResponse); isDetailed && detailed.Body.Error != nil && detailed.Body.Error.Format != "" {
		text = detailed.Body.Error.Format
	}
	if text = strings.TrimSpace(text); text == "" {
		text = "the debugger gives no reason"
	}
	return refusal{text}
}

// answerOf calls and returns the response as the type that it should have.
func answerOf[T dap.ResponseMessage](ctx context.Context, client *client, command string, arguments any) (T, error) {
	message, err := client.call(ctx, command, arguments, nil)
	if err != nil {
		var none T
		return none, err
	}
	answer, isExpected := message.(T)
	if !isExpected {
		return answer, refusal{"the debugger answered something else"}
	}
	return answer, nil
}
