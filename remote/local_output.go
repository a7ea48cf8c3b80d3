package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// A pipe holds at most pipeCapacity bytes on every system that we know, unless
// a privileged process raised the limit; drainPause is how long its emptiness
// must last to be believed.
const (
	outputBuffer = 64 << 10
	firstBuffer  = 4 << 10 // most commands print little
	pipeCapacity = 1 << 20
	drainPause   = 5 * time.Millisecond
)

// outputCopy copies one output stream of a process to its writer.
type outputCopy struct {
	source *os.File
	sink   io.Writer
	// isTerminal tells that EIO is the end of the stream: nobody else has the
	// terminal any more.
	isTerminal bool
	ended      chan struct{} // closed when err is final
	err        error
}

// run copies until the stream ends or its deadline passes. A writer that fails
// is not written to again, but the stream is read on: closing it would kill the
// process, and with it a submission whose outcome nobody would know.
func (c *outputCopy) run() {
	defer close(c.ended)
	buffer := make([]byte, firstBuffer)
	late := false // whether the deadline has passed
	overdue := 0  // bytes read since
	for {
		count, err := c.read(buffer, late)
		c.write(buffer[:count])
		if count == len(buffer) && count < outputBuffer {
			buffer = make([]byte, outputBuffer)
		}
		if late {
			overdue += count
		}
		switch {
		case err == nil && !late:
			continue
		case err == nil && overdue < pipeCapacity:
			// The process itself is gone: what it wrote is in the pipe.
		case errors.Is(err, os.ErrDeadlineExceeded) && !late:
			late = true
		case err == nil, err == io.EOF, errors.Is(err, os.ErrDeadlineExceeded), c.isTerminal && errors.Is(err, syscall.EIO):
			return
		default:
			c.fail(fmt.Errorf("reading its output: %w", err))
			return
		}
		if err := c.source.SetReadDeadline(time.Now().Add(drainPause)); err != nil {
			c.fail(fmt.Errorf("reading its output: %w", err))
			return
		}
	}
}

// read reads what there is. After the deadline it looks once more: what is in the
// pipe by then was written before.
func (c *outputCopy) read(buffer []byte, late bool) (int, error) {
	count, err := c.source.Read(buffer)
	if late && errors.Is(err, os.ErrDeadlineExceeded) {
		return ReadNow(c.source, buffer)
	}
	return count, err
}

// write writes to the sink unless that has failed before.
func (c *outputCopy) write(data []byte) {
	if len(data) == 0 || c.err != nil {
		return
	}
	if _, err := c.sink.Write(data); err != nil {
		c.err = fmt.Errorf("writing its output: %w", err)
	}
}

// ReadNow reads what a pipe or terminal holds, without waiting, and takes its deadline
// from it. The error is os.ErrDeadlineExceeded where it holds nothing, io.EOF at its
// end. A read with a deadline does not look at the stream at all if the deadline passes
// before it begins, as it may on a busy machine.
func ReadNow(source *os.File, buffer []byte) (count int, err error) {
	connection, err := source.SyscallConn()
	if err != nil {
		return 0, err
	}
	if err := source.SetReadDeadline(time.Time{}); err != nil {
		return 0, err
	}
	var readErr error
	err = connection.Read(func(descriptor uintptr) bool {
		for {
			if count, readErr = syscall.Read(int(descriptor), buffer); readErr != syscall.EINTR {
				return true
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case readErr == syscall.EAGAIN:
		return 0, os.ErrDeadlineExceeded
	case readErr != nil:
		return 0, readErr
	case count == 0:
		return 0, io.EOF
	}
	return count, nil
}

func (c *outputCopy) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// finish lets run end by the deadline, or as soon as ctx is done or terminate
// is closed, closes the stream once it has ended, and returns its error.
func (c *outputCopy) finish(ctx context.Context, terminate <-chan struct{}, deadline time.Time) error {
	patience := time.NewTimer(time.Until(deadline))
	defer patience.Stop()
	select {
	case <-c.ended:
		return c.close()
	case <-patience.C:
	case <-ctx.Done():
	case <-terminate:
	}
	if err := c.source.SetReadDeadline(time.Now()); err != nil {
		return errors.Join(fmt.Errorf("ending its output: %w", err), c.source.Close())
	}
	<-c.ended
	return c.close()
}

// close closes the stream, which run has left, and returns what went wrong.
func (c *outputCopy) close() error {
	if err := c.source.Close(); err != nil {
		c.fail(fmt.Errorf("closing its output: %w", err))
	}
	return c.err
}
