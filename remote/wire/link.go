// Package wire is a conversation between two processes of one user over a unix
// socket: a header of JSON on one line, then frames in both directions. Streams
// in it have windows, so that a stream whose reader is slow holds up no other.
// Everything that is read is bounded.
package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/rmctl/rmctl/remote"
)

// Bounds of what is sent and accepted.
const (
	MaxHeader = 16 << 20 // bytes of a header: the longest command line of any system, in JSON, fits
	MaxFrame  = 64 << 10 // bytes of a frame's payload
)

// frameHead is the kind of a frame and the length of its payload.
const frameHead = 1 + 4

// A Kind tells what a frame means. Letters are for conversations; the rest is
// handled by the link itself.
type Kind byte

// The kinds that the link handles, which no conversation sees.
const (
	kindData     Kind = 1 // a stream's number, then bytes
	kindEnd      Kind = 2 // a stream's number, then why it ended, if not because all was sent
	kindTaken    Kind = 3 // a stream's number, then how many bytes were taken
	kindQuestion Kind = 4
	kindAnswer   Kind = 5
	kindForget   Kind = 6 // the number of a question that needs no answer any more
	kindFailure  Kind = 7 // the conversation failed
)

// ErrProtocol tells that what arrived is not what the protocol allows.
var ErrProtocol = errors.New("what the other process sent is not as agreed")

// A Link is one end of a conversation. Its methods may be called concurrently.
type Link struct {
	conn   net.Conn
	reader *bufio.Reader
	own    map[string]error

	sending sync.Mutex

	mutex   sync.Mutex
	inlets  map[byte]*Inlet
	outlets map[byte]*Outlet
	lost    error // not nil once nothing more arrives

	asking  questions
	answers answering
}

// NewLink makes a link of a connection that nothing was read from yet. Own are
// errors by name that the conversation passes on beside those of package remote.
func NewLink(conn net.Conn, own map[string]error) *Link {
	return &Link{
		conn: conn, reader: bufio.NewReaderSize(conn, MaxFrame+frameHead), own: own,
		inlets: map[byte]*Inlet{}, outlets: map[byte]*Outlet{},
	}
}

// Close ends the conversation for both.
func (l *Link) Close() error {
	return l.conn.Close()
}

// SendHeader sends the line that begins a conversation. That the other end has
// refused it before, or is gone, shows in Listen, with the reason.
func (l *Link) SendHeader(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	if len(line) > MaxHeader {
		return fmt.Errorf("a request of %d bytes is longer than %d", len(line), MaxHeader)
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	_, err = l.conn.Write(append(line, '\n'))
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

// ReceiveHeader returns the line that begins a conversation.
func (l *Link) ReceiveHeader() ([]byte, error) {
	var line []byte
	for {
		part, err := l.reader.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxHeader:
			return nil, fmt.Errorf("%w: a header of more than %d bytes", ErrProtocol, MaxHeader)
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Send sends a frame. It waits as long as the other end does not read.
func (l *Link) Send(kind Kind, payload []byte) error {
	return l.send(kind, nil, payload)
}

// send sends a frame whose payload has two parts.
func (l *Link) send(kind Kind, first, second []byte) error {
	length := len(first) + len(second)
	if length > MaxFrame {
		return fmt.Errorf("a frame of %d bytes is longer than %d", length, MaxFrame)
	}
	frame := make([]byte, 0, frameHead+length)
	frame = append(frame, byte(kind))
	frame = binary.BigEndian.AppendUint32(frame, uint32(length))
	frame = append(append(frame, first...), second...)
	l.sending.Lock()
	defer l.sending.Unlock()
	_, err := l.conn.Write(frame)
	return err
}

// SendValue sends a frame that holds a value as JSON.
func (l *Link) SendValue(kind Kind, value any) error {
	payload, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	return l.Send(kind, payload)
}

// Decode reads the value of a frame that SendValue sent, or of a header.
func Decode(payload []byte, value any) error {
	if err := json.Unmarshal(payload, value); err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return nil
}

// Fail tells the other end that the conversation failed, and why.
func (l *Link) Fail(err error) error {
	return l.SendValue(kindFailure, l.Pack(err))
}

// Listen reads frames until the link is lost, in a goroutine, and handles
// those of the conversation one after the other. An error of handle ends the
// link. The context that is returned is cancelled, with the reason as its
// cause, when the link is lost; stop ends the link and waits for the goroutine.
// Prompter answers questions of the other end; with nil there is nobody to ask.
func (l *Link) Listen(ctx context.Context, prompter remote.Prompter, handle func(Kind, []byte) error) (listening context.Context, stop func()) {
	listening, lose := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	var asked sync.WaitGroup
	l.answers.begin(listening, prompter, &asked)
	go func() {
		defer close(ended)
		err := l.receiveAll(handle)
		l.lose(err)
		lose(err)
		l.conn.Close() // nobody reads what the other end may still send
	}()
	return listening, func() {
		l.conn.Close()
		<-ended
		asked.Wait()
	}
}

// receiveAll reads and handles frames until something fails.
func (l *Link) receiveAll(handle func(Kind, []byte) error) error {
	for {
		kind, payload, err := l.receive()
		if err != nil {
			return err
		}
		if kind >= kindData && kind <= kindTaken {
			err = l.streamFrame(kind, payload)
		} else {
			switch kind {
			case kindFailure:
				return &Refusal{Err: l.Unpack(payload)}
			case kindQuestion:
				err = l.answers.question(l, payload)
			case kindForget:
				err = l.answers.forget(payload)
			case kindAnswer:
				err = l.asking.answer(l, payload)
			default:
				err = handle(kind, payload)
			}
		}
		if err != nil {
			return err
		}
	}
}

// receive reads one frame.
func (l *Link) receive() (Kind, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(l.reader, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length > MaxFrame {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes", ErrProtocol, length)
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(l.reader, payload); err != nil {
		return 0, nil, fmt.Errorf("in the middle of a frame: %w", err)
	}
	return Kind(head[0]), payload, nil
}

// lose ends all streams and questions.
func (l *Link) lose(err error) {
	l.mutex.Lock()
	l.lost = err
	for _, inlet := range l.inlets {
		inlet.end(fmt.Errorf("%w: %w", ErrLost, err))
	}
	for _, outlet := range l.outlets {
		outlet.fail(fmt.Errorf("%w: %w", ErrLost, err))
	}
	l.mutex.Unlock()
	l.asking.lose(err)
}

// A Refusal is what the other end said when it ended the conversation with
// Fail. It is the cause of the context of Listen then.
type Refusal struct{ Err error }

func (e *Refusal) Error() string { return e.Err.Error() }

// Unwrap returns what was said.
func (e *Refusal) Unwrap() error { return e.Err }

// ErrLost is what streams of a link fail with when it is lost.
var ErrLost = errors.New("the connection to the other process was lost")

// RefuseFrame is a handler for conversations in which the other end sends
// nothing but streams and answers.
func RefuseFrame(kind Kind, _ []byte) error {
	return fmt.Errorf("%w: a frame of kind %d", ErrProtocol, kind)
}
