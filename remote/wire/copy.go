package wire

import (
	"errors"
	"fmt"
	"io"
)

// An OutputCopy copies a stream that arrives to a writer. A writer that fails
// is not written to again, but the stream is read on, so that what sends it can
// go on.
type OutputCopy struct {
	source *Inlet
	sink   io.Writer
	ended  chan struct{} // closed when err is final
	err    error
}

// NewOutputCopy prepares a copy. Without a sink the stream is discarded.
func NewOutputCopy(source *Inlet, sink io.Writer) *OutputCopy {
	if sink == nil {
		sink = io.Discard
	}
	return &OutputCopy{source: source, sink: sink, ended: make(chan struct{})}
}

// Run copies until the stream ends, or its link is lost.
func (c *OutputCopy) Run() {
	defer close(c.ended)
	buffer := make([]byte, MaxFrame)
	for {
		count, err := c.source.Read(buffer)
		if count > 0 && c.err == nil {
			if _, writeErr := c.sink.Write(buffer[:count]); writeErr != nil {
				c.err = fmt.Errorf("writing its output: %w", writeErr)
			}
		}
		if err != nil {
			return
		}
	}
}

// Wait waits for the end of Run and returns what writing failed with.
func (c *OutputCopy) Wait() error {
	<-c.ended
	return c.err
}

// An InputCopy sends what it reads until nobody wants more.
type InputCopy struct {
	source io.Reader
	outlet *Outlet
	ended  chan error // holds what reading failed with, once it ended

	// KeepOpen is whether the stream stays open at the end of what is read.
	KeepOpen bool
}

// NewInputCopy prepares a copy.
func NewInputCopy(source io.Reader, outlet *Outlet) *InputCopy {
	return &InputCopy{source: source, outlet: outlet, ended: make(chan error, 1)}
}

// Run copies until the source ends or nobody wants more.
func (c *InputCopy) Run() {
	buffer := make([]byte, 32<<10)
	for {
		count, err := c.source.Read(buffer)
		if count > 0 {
			if _, writeErr := c.outlet.Write(buffer[:count]); writeErr != nil {
				c.ended <- nil
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			c.ended <- err
			if !c.KeepOpen {
				// That the other end is gone shows where its messages are read.
				_ = c.outlet.Close()
			}
			return
		}
	}
}

// End lets go of the input. It does not wait for a read that is under way, and
// returns what reading failed with before.
func (c *InputCopy) End() error {
	c.outlet.Abandon()
	select {
	case err := <-c.ended:
		if err != nil {
			return fmt.Errorf("reading its input: %w", err)
		}
	default:
	}
	return nil
}
