package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/remote"
)

// cleanUpPatience bounds the wait for a canceled write to remove its temporary file,
// and for the answer to a canceled start.
const cleanUpPatience = 10 * time.Second

// A DialError reports that the process that holds connections was not reached,
// or that it speaks another version.
type DialError struct{ Err error }

func (e *DialError) Error() string {
	return "connecting to the background process: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }

// errServerEnded reports that the process ended before it had answered.
var errServerEnded = errors.New("the background process has ended")

// connection is a remote.Connection that the background process keeps. It has a
// conversation for each operation, and one that makes the process keep the
// connection.
type connection struct {
	dial     dialer
	place    Place
	prompter remote.Prompter
	info     remote.Info
	hold     *link
}

var _ remote.Connection = (*connection)(nil)

func connect(ctx context.Context, dial dialer, place Place, prompter remote.Prompter) (remote.Connection, error) {
	c := &connection{dial: dial, place: place, prompter: prompter}
	l, err := c.openConversation(ctx, operationConnect, request{Place: place.pack()})
	if err != nil {
		return nil, err
	}
	if err := l.await(ctx, &c.info); err != nil {
		l.close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("connecting to %s: %w", place.Host, ctx.Err())
		}
		return nil, c.lost(err)
	}
	c.hold = l
	return c, nil
}

// Info describes the host.
func (c *connection) Info() remote.Info { return c.info }

// Close lets go of the connection, which the process may keep for others.
// Processes that were started end when they are no longer waited for, with
// this process.
func (c *connection) Close() error {
	c.hold.close()
	return nil
}

// openConversation begins a conversation, which outlives ctx.
func (c *connection) openConversation(ctx context.Context, operation string, message request) (*link, error) {
	var l *link
	err := ctx.Err()
	if err == nil {
		l, err = openConversation(ctx, c.dial, operation, message, c.prompter)
	}
	var gone *GoneError
	switch {
	case err == nil:
		return l, nil
	case ctx.Err() != nil:
		return nil, c.failed(ctx, operation, string(message.Path), err)
	case errors.As(err, &gone):
		return nil, c.lost(err)
	}
	return nil, &DialError{err}
}

// failed explains why an operation on a path failed.
func (c *connection) failed(ctx context.Context, operation, path string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s %q: %w", describe(operation), path, ctx.Err())
	}
	return c.lost(err)
}

// lost explains the end of a conversation: the error of the operation, or a
// ConnectError if the process is gone.
func (c *connection) lost(err error) error {
	if received, isReceived := errors.AsType[*peer.ReceivedError](err); isReceived {
		return received
	}
	return &remote.ConnectError{Host: c.place.Host, Reason: remote.Disconnected, Err: errServerEnded}
}

// ask has a conversation of one message, and stores the answer in results.
func (c *connection) ask(ctx context.Context, operation string, message request, results ...any) error {
	message.Place = c.place.pack()
	l, err := c.openConversation(ctx, operation, message)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.await(ctx, results...); err != nil {
		return c.failed(ctx, operation, string(message.Path), err)
	}
	return nil
}

// Stat describes a file.
func (c *connection) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	var info files.Info
	if err := c.ask(ctx, operationStat, request{Path: []byte(path)}, &info); err != nil {
		return nil, err
	}
	return info, nil
}

// MkdirAll makes a directory and those above it.
func (c *connection) MkdirAll(ctx context.Context, path string, mode fs.FileMode) error {
	return c.ask(ctx, operationMkdir, request{Path: []byte(path), Mode: mode})
}

// Chmod gives a file exactly those permissions.
func (c *connection) Chmod(ctx context.Context, path string, mode fs.FileMode) error {
	return c.ask(ctx, operationChmod, request{Path: []byte(path), Mode: mode})
}

// Remove removes a file or an empty directory.
func (c *connection) Remove(ctx context.Context, path string) error {
	return c.ask(ctx, operationRemove, request{Path: []byte(path)})
}

// WriteFile writes a file. The content goes through a stream, and a verdict follows.
func (c *connection) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	l, err := c.openConversation(ctx, operationWrite, request{Place: c.place.pack(), Path: []byte(path), Mode: mode})
	if err != nil {
		return err
	}
	defer l.close()
	sink, err := l.open()
	if err != nil {
		return c.failed(ctx, operationWrite, path, err)
	}
	answered := make(chan error, 1)
	l.work.Go(func() {
		answered <- l.receiveAnswer()
		sink.Close() // the reader is gone
	})
	broken := l.sendContent(ctx, sink, content)
	err = awaitCleanUp(ctx, answered, broken != nil)
	switch {
	case broken != nil:
		return fmt.Errorf("%s %q: %w", describe(operationWrite), path, broken)
	case err != nil:
		return c.failed(ctx, operationWrite, path, err)
	}
	return nil
}

// awaitCleanUp waits for the answer to a write. After a canceled write the answer means
// that the process has cleaned up, and the wait is bounded.
func awaitCleanUp(ctx context.Context, answered <-chan error, givenUp bool) error {
	if !givenUp {
		select {
		case err := <-answered:
			return err
		case <-ctx.Done():
		}
	}
	timer := time.NewTimer(cleanUpPatience)
	defer timer.Stop()
	select {
	case err := <-answered:
		return err
	case <-timer.C:
		return errors.New("the background process does not answer")
	}
}

// sendContent sends a file's content and the verdict. It returns the error of reading it.
func (l *link) sendContent(ctx context.Context, sink io.WriteCloser, content io.Reader) error {
	end := func(isWhole bool) {
		// Only the first verdict counts. If the process is gone, the answer shows it.
		_ = l.send(verdict{isWhole})
		_ = sink.Close()
	}
	defer context.AfterFunc(ctx, func() { end(false) })()
	_, broken := execution.CopyInput(sink, execution.ContextReader(ctx, content), false)
	if broken != nil || ctx.Err() == nil {
		end(broken == nil)
	}
	return broken
}

// describe returns the verb of an operation for errors.
func describe(operation string) string {
	switch operation {
	case operationStat:
		return "describing"
	case operationMkdir:
		return "creating directory"
	case operationChmod:
		return "changing the permissions of"
	default:
		return strings.TrimSuffix(operation, "e") + "ing"
	}
}
