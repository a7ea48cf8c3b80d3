package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/wire"
)

// cleanUpPatience bounds the wait for a write that was given up to remove what
// it had begun, and for a process that was given up to be started or not.
const cleanUpPatience = 10 * time.Second

// A Dialer connects to a server of this package, of this user.
type Dialer func(ctx context.Context) (net.Conn, error)

// Socket returns the Dialer of a unix socket.
func Socket(path string) Dialer {
	return func(ctx context.Context) (net.Conn, error) { return wire.Dial(ctx, path) }
}

// Dial returns a connection to a place that a server provides, which opens it
// now if it is not open yet. Prompter answers what the place asks, now or when
// the server has to open the connection again; nil tells that there is nobody.
//
// Errors of the place are as the server's transport has them. Those of getting
// to the server are a *DialError: nothing was asked of the place then.
func Dial(ctx context.Context, dial Dialer, place Place, prompter remote.Prompter) (remote.Connection, error) {
	c := &connection{dial: dial, place: place, prompter: prompter}
	described := make(chan []byte, 1)
	talk, err := c.begin(ctx, newRequest(operationConnect, place), nil, func(kind wire.Kind, payload []byte) error {
		if kind != frameDone {
			return wire.RefuseFrame(kind, payload)
		}
		offer(described, payload)
		return nil
	})
	if err != nil {
		return nil, err
	}
	select {
	case payload := <-described:
		err = wire.Decode(payload, &c.info)
	case <-talk.listening.Done():
		err = c.lost(context.Cause(talk.listening))
	case <-ctx.Done():
		err = fmt.Errorf("connecting to %s: %w", place.Host, ctx.Err())
	}
	if err != nil {
		talk.stop()
		return nil, err
	}
	c.hold = talk
	return c, nil
}

// A DialError tells that the server that holds connections was not reached, or
// that it speaks another version.
type DialError struct{ Err error }

func (e *DialError) Error() string {
	return "reaching the process that holds connections: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }

// ErrServerEnded tells that the server ended before it had answered.
var ErrServerEnded = errors.New("the process that holds the connection has ended")

// connection is a remote.Connection behind a server. It has a conversation for
// each operation, and one that makes the server keep the connection.
type connection struct {
	dial     Dialer
	place    Place
	prompter remote.Prompter
	info     remote.Info
	hold     *talk
}

var _ remote.Connection = (*connection)(nil)

// Info describes the place.
func (c *connection) Info() remote.Info { return c.info }

// Close lets go of the connection, which the server may keep for others.
// Processes that were started end when they are no longer waited for, with
// this process.
func (c *connection) Close() error {
	c.hold.stop()
	return nil
}

// talk is the client's side of one conversation.
type talk struct {
	link      *wire.Link
	listening context.Context
	stop      func()
}

// begin begins a conversation. Prepare makes its streams; it may be nil. The
// conversation outlives ctx.
func (c *connection) begin(ctx context.Context, asked request, prepare func(*wire.Link), handle func(wire.Kind, []byte) error) (*talk, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s %q: %w", describe(asked.Operation), asked.Path, err)
	}
	conn, err := c.dial(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s %q: %w", describe(asked.Operation), asked.Path, ctx.Err())
		}
		return nil, &DialError{err}
	}
	t := &talk{link: wire.NewLink(conn, ownErrors())}
	if prepare != nil {
		prepare(t.link)
	}
	if err := t.link.SendHeader(asked); err != nil {
		return nil, &DialError{errors.Join(err, conn.Close())}
	}
	t.listening, t.stop = t.link.Listen(context.WithoutCancel(ctx), c.prompter, handle)
	return t, nil
}

// lost tells what the end of a conversation means: what the server refused it
// with or, where the server has gone, that the place cannot be reached any more.
func (c *connection) lost(cause error) error {
	var refused *wire.Refusal
	if errors.As(cause, &refused) {
		if errors.Is(refused, ErrOtherProtocol) || errors.Is(refused, wire.ErrTooManyClients) {
			return &DialError{refused.Err}
		}
		return refused.Err
	}
	if errors.Is(cause, io.EOF) || errors.Is(cause, syscall.ECONNRESET) {
		cause = ErrServerEnded
	}
	return &remote.ConnectError{Host: c.place.Host, Reason: remote.Disconnected, Err: cause}
}

// converse has a conversation of one question, with a file's content if there
// is any, and one answer, which it puts into result unless that is nil.
func (c *connection) converse(ctx context.Context, asked request, content io.Reader, result any) error {
	answered := make(chan []byte, 1)
	var outlet *wire.Outlet
	prepare := func(link *wire.Link) {
		if content != nil {
			outlet = link.Outlet(streamInput)
		}
	}
	talk, err := c.begin(ctx, asked, prepare, func(kind wire.Kind, payload []byte) error {
		if kind != frameDone {
			return wire.RefuseFrame(kind, payload)
		}
		if outlet != nil {
			outlet.Abandon()
		}
		offer(answered, payload)
		return nil
	})
	if err != nil {
		return err
	}
	defer talk.stop()
	var broken error
	if content != nil {
		broken = sendContent(ctx, outlet, content)
	}
	answer, err := talk.answer(ctx, answered, broken != nil || content != nil && ctx.Err() != nil)
	switch {
	case broken != nil:
		return fmt.Errorf("%s %q: %w", describe(asked.Operation), asked.Path, broken)
	case ctx.Err() != nil && err != nil:
		return fmt.Errorf("%s %q: %w", describe(asked.Operation), asked.Path, ctx.Err())
	case err != nil:
		return c.lost(err)
	case result == nil:
		return nil
	}
	return wire.Decode(answer, result)
}

// answer waits for the answer. With givenUp the server knows that it is to give
// up; its answer tells that it has cleaned up, and is not waited for so long.
func (t *talk) answer(ctx context.Context, answered <-chan []byte, givenUp bool) ([]byte, error) {
	cancelled, patience := ctx.Done(), (<-chan time.Time)(nil)
	if givenUp {
		timer := time.NewTimer(cleanUpPatience)
		defer timer.Stop()
		cancelled, patience = nil, timer.C
	}
	select {
	case answer := <-answered:
		return answer, nil
	case <-t.listening.Done():
		select {
		case answer := <-answered: // the server answers, and then closes the link
			return answer, nil
		default:
			return nil, context.Cause(t.listening)
		}
	case <-cancelled:
		return nil, ctx.Err()
	case <-patience:
		return nil, errors.New("the process that holds the connection does not answer")
	}
}

// sendContent sends a file's content. The error is that of reading it.
func sendContent(ctx context.Context, outlet *wire.Outlet, content io.Reader) error {
	unwatch := context.AfterFunc(ctx, func() {
		// Should the server be gone, the answer tells.
		_ = outlet.CloseWithError(context.Cause(ctx))
	})
	defer unwatch()
	source := &contentReader{ctx: ctx, content: content}
	_, err := io.Copy(outlet, source)
	if source.err != nil {
		_ = outlet.CloseWithError(source.err)
		return source.err
	}
	if err == nil {
		_ = outlet.Close()
	}
	return nil
}

// contentReader remembers why reading failed, and fails as soon as its context
// is done.
type contentReader struct {
	ctx     context.Context
	content io.Reader
	err     error
}

func (r *contentReader) Read(data []byte) (int, error) {
	if r.err = r.ctx.Err(); r.err != nil {
		return 0, r.err
	}
	count, err := r.content.Read(data)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return count, err
}

// Stat describes a file.
func (c *connection) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	var info fileInfo
	if err := c.file(ctx, operationStat, path, 0, &info); err != nil {
		return nil, err
	}
	return info, nil
}

// MkdirAll makes a directory and those above it.
func (c *connection) MkdirAll(ctx context.Context, path string, mode fs.FileMode) error {
	return c.file(ctx, operationMkdir, path, mode, nil)
}

// Chmod gives a file exactly those permissions.
func (c *connection) Chmod(ctx context.Context, path string, mode fs.FileMode) error {
	return c.file(ctx, operationChmod, path, mode, nil)
}

// Remove removes a file or an empty directory.
func (c *connection) Remove(ctx context.Context, path string) error {
	return c.file(ctx, operationRemove, path, 0, nil)
}

// WriteFile writes a file.
func (c *connection) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	asked := newRequest(operationWrite, c.place)
	asked.Path, asked.Mode = []byte(path), uint32(mode)
	return c.converse(ctx, asked, content, nil)
}

func (c *connection) file(ctx context.Context, operation, path string, mode fs.FileMode, result any) error {
	asked := newRequest(operation, c.place)
	asked.Path, asked.Mode = []byte(path), uint32(mode)
	return c.converse(ctx, asked, nil, result)
}
