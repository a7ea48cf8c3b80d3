package daemon

import (
	"errors"
	"fmt"
	"io"

	"github.com/rmctl/rmctl/internal/execution"
)

// copyBuffer is how many bytes are read from a stream at once.
const copyBuffer = 64 << 10

// copies are what the client copies between a process's streams and its own.
type copies struct {
	outputs []*outputCopy
	input   *inputCopy // nil without
}

// open opens the streams of a process, in the order in which the server accepts
// them: those that are not nil.
func (l *link) openCopies(stdin io.Reader, outputs ...io.Writer) (*copies, error) {
	c := &copies{}
	if stdin != nil {
		opened, err := l.open()
		if err != nil {
			return nil, err
		}
		c.input = &inputCopy{source: stdin, sink: opened, ended: make(chan error, 1)}
	}
	for _, sink := range outputs {
		if sink == nil {
			continue
		}
		opened, err := l.open()
		if err != nil {
			return nil, err
		}
		c.outputs = append(c.outputs, &outputCopy{source: opened, sink: execution.Sink{Writer: sink}, ended: make(chan struct{})})
	}
	return c, nil
}

// begin copies in goroutines. Finish waits for all but a read of the input.
func (c *copies) begin() {
	if c.input != nil {
		go c.input.run()
	}
	for _, output := range c.outputs {
		go output.run()
	}
}

// finish waits until all output that arrived was written, lets go of the input,
// and returns what writing and reading failed with.
func (c *copies) finish() error {
	var failures []error
	for _, output := range c.outputs {
		<-output.ended
		if err := output.sink.Err; err != nil {
			failures = append(failures, fmt.Errorf("writing its output: %w", err))
		}
	}
	if c.input != nil {
		failures = append(failures, c.input.end())
	}
	return errors.Join(failures...)
}

// outputCopy copies a stream to a writer. A writer that fails is not written to
// again, but the stream is read on, so that the process can go on.
type outputCopy struct {
	source io.Reader
	sink   execution.Sink
	ended  chan struct{} // closed when the sink gets nothing more
}

func (c *outputCopy) run() {
	defer close(c.ended)
	_, _ = io.CopyBuffer(&c.sink, c.source, make([]byte, copyBuffer)) // a link that is lost shows elsewhere
}

// inputCopy sends what it reads until nobody wants more.
type inputCopy struct {
	source   io.Reader
	sink     io.WriteCloser
	keepOpen bool       // whether the stream stays open at the end of what is read
	ended    chan error // holds what reading failed with, once it ended
}

func (c *inputCopy) run() {
	refused, err := execution.CopyInput(c.sink, c.source, false)
	c.ended <- err
	if !refused && !c.keepOpen {
		// That the server is gone shows where its messages are read.
		_ = c.sink.Close()
	}
}

// end returns what reading failed with, if it has ended.
func (c *inputCopy) end() error {
	select {
	case err := <-c.ended:
		if err != nil {
			return fmt.Errorf("reading its input: %w", err)
		}
	default:
	}
	return nil
}
