package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/yamux"
)

// longestMessage bounds the bytes of a message: the longest command line of any system fits.
const longestMessage = 16 << 20

// mostQuestions bounds the questions that wait for answers on one link.
const mostQuestions = 16

// errLost is the error of the streams of a lost link.
var errLost = errors.New("the connection to the other process was lost")

// A link is one end of a conversation that has begun. The client opens the
// streams: first one for messages in both directions, then those of what the
// conversation is about. The server opens a stream for each question.
//
// The client ends a link. A server that closed its end first could make the
// client's end fail before all was read.
type link struct {
	session *yamux.Session
	decoder *messageDecoder
	asking  atomic.Int32 // questions that wait for answers

	sending sync.Mutex
	encoder *json.Encoder

	work sync.WaitGroup // goroutines that end with the session
}

// multiplexing returns the configuration of both ends. It has no timeouts, because the
// kernel reports the end of the other process: a client that is stopped for a while, as
// by Ctrl-Z, loses nothing.
func multiplexing() *yamux.Config {
	config := yamux.DefaultConfig()
	config.AcceptBacklog = mostQuestions
	config.EnableKeepAlive = false
	config.ConnectionWriteTimeout = math.MaxInt64
	config.StreamOpenTimeout, config.StreamCloseTimeout = 0, 0
	config.LogOutput = io.Discard
	return config
}

// openLink returns the client's end.
func openLink(conn net.Conn) (*link, error) {
	session, err := yamux.Client(conn, multiplexing())
	if err != nil {
		return nil, err
	}
	messages, err := session.OpenStream()
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return newLink(session, messages), nil
}

// acceptLink returns the server's end, once the client has opened its own.
func acceptLink(ctx context.Context, conn net.Conn) (*link, error) {
	session, err := yamux.Server(conn, multiplexing())
	if err != nil {
		return nil, err
	}
	messages, err := session.AcceptStreamWithContext(ctx)
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return newLink(session, messages), nil
}

func newLink(session *yamux.Session, messages *yamux.Stream) *link {
	return &link{session: session, decoder: newMessageDecoder(&stream{messages}), encoder: json.NewEncoder(messages)}
}

// close ends the conversation for both, and waits for the link's goroutines.
func (l *link) close() {
	l.session.Close() // never fails
	l.work.Wait()
}

// context returns a context that is canceled when the link is lost. The caller cancels it before
// it closes the link.
func (l *link) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	l.work.Go(func() {
		defer cancel()
		select {
		case <-l.session.CloseChan():
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

// send sends a message. It waits as long as the other end does not read.
func (l *link) send(value any) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	return l.encoder.Encode(value)
}

// receive waits for a message. Only one goroutine may call it at a time.
func (l *link) receive(value any) error {
	return l.decoder.decode(value)
}

// An answer precedes the results of an operation, or reports its failure.
type answer struct {
	Failed *failure `json:",omitempty"`
}

// answer sends the results of an operation.
func (l *link) answer(results ...any) error {
	if err := l.send(answer{}); err != nil {
		return err
	}
	for _, result := range results {
		if err := l.send(result); err != nil {
			return err
		}
	}
	return nil
}

// fail sends the error of an operation.
func (l *link) fail(err error) error { return l.send(answer{pack(err)}) }

// receiveAnswer waits for the results of an operation. The error is a *peer.ReceivedError
// if the operation failed at the other end.
func (l *link) receiveAnswer(results ...any) error {
	var received answer
	if err := l.receive(&received); err != nil {
		return err
	}
	if err := received.Failed.unpack(); err != nil {
		return err
	}
	for _, result := range results {
		if err := l.receive(result); err != nil {
			return err
		}
	}
	return nil
}

// open opens a stream of the conversation.
func (l *link) open() (*stream, error) {
	opened, err := l.session.OpenStream()
	return &stream{opened}, err
}

// accept returns the next stream that the client opened.
func (l *link) accept(ctx context.Context) (*stream, error) {
	opened, err := l.session.AcceptStreamWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return &stream{opened}, nil
}

// stream carries bytes. Closing it ends one direction.
type stream struct{ *yamux.Stream }

// Read reads what arrived. The multiplexer reports a lost link as the end of
// the stream; here it is errLost, after all that arrived.
func (s *stream) Read(buffer []byte) (int, error) {
	count, err := s.Stream.Read(buffer)
	switch {
	case count > 0: // an error comes from accepting at the other end
		return count, nil
	case s.Session().IsClosed():
		return 0, errLost
	}
	return 0, err
}

// messageDecoder decodes messages, which are JSON of bounded length.
type messageDecoder struct {
	limited *io.LimitedReader
	decoder *json.Decoder
}

func newMessageDecoder(reader io.Reader) *messageDecoder {
	limited := &io.LimitedReader{R: reader}
	return &messageDecoder{limited, json.NewDecoder(limited)}
}

func (d *messageDecoder) decode(value any) error {
	d.limited.N = longestMessage
	err := d.decoder.Decode(value)
	if err != nil && d.limited.N <= 0 {
		err = fmt.Errorf("%w: a message of more than %d bytes", errProtocol, longestMessage)
	}
	return err
}
