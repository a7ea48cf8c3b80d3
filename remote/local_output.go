package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
)

const (
	outputBuffer = 64 << 10
	firstBuffer  = 4 << 10 // most commands print little
)

// outputCopy copies one output stream of a process to its writer.
type outputCopy struct {
	source *os.File
	sink   execution.Sink
	ended  chan struct{} // closed when err and that of the sink are final
	err    error         // of reading
}

// run copies until the stream ends or its deadline passes. After a failed Write it reads on
// without writing: closing the stream would kill the process, and with it perhaps a
// submission whose outcome would be unknown.
func (c *outputCopy) run() {
	defer close(c.ended)
	source := execution.NewLateReader(c.source)
	buffer := make([]byte, firstBuffer)
	for {
		count, err := source.Read(buffer)
		_, _ = c.sink.Write(buffer[:count]) // never fails
		if count == len(buffer) && count < outputBuffer {
			buffer = make([]byte, outputBuffer)
		}
		switch {
		case err == nil:
		case err == io.EOF, errors.Is(err, os.ErrDeadlineExceeded):
			return
		default:
			c.err = fmt.Errorf("reading its output: %w", err)
			return
		}
	}
}

// finish lets run end by the deadline, or as soon as ctx is done, closes the stream
// once it has ended, and returns its error.
func (c *outputCopy) finish(ctx context.Context, deadline time.Time) error {
	select {
	case <-c.ended:
		return c.close()
	case <-time.After(time.Until(deadline)):
	case <-ctx.Done():
	}
	if err := c.source.SetReadDeadline(time.Now()); err != nil {
		return errors.Join(fmt.Errorf("ending its output: %w", err), c.source.Close())
	}
	<-c.ended
	return c.close()
}

// close closes the stream, which run has left, and returns what went wrong.
func (c *outputCopy) close() error {
	if c.sink.Err != nil {
		c.sink.Err = fmt.Errorf("writing its output: %w", c.sink.Err)
	}
	closeErr := c.source.Close()
	if closeErr != nil {
		closeErr = fmt.Errorf("closing its output: %w", closeErr)
	}
	return cmp.Or(c.sink.Err, c.err, closeErr)
}
