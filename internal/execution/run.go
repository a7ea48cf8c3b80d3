package execution

import (
	"context"
	"fmt"
	"io"
)

// A Run is a process from its start to its end, wherever it runs: what a
// remote.Handle has that is the same for all connections.
type Run struct {
	// Done is closed when the code and the error are final.
	Done chan struct{}

	cancel context.CancelFunc
	input  chan error // holds the result of copying the input, once that has ended
	code   int
	err    error
}

// NewRun returns a run, and a context that is done when the process is to end.
// The caller ends the run with End, or with Terminate where the process does not start.
func NewRun(ctx context.Context) (context.Context, *Run) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &Run{Done: make(chan struct{}), cancel: cancel, input: make(chan error, 1)}
}

// Terminate asks for the end of the process. It returns at once.
func (r *Run) Terminate() { r.cancel() }

// Wait waits for the end of the process and of its output.
func (r *Run) Wait() (int, error) {
	<-r.Done
	return r.code, r.err
}

// End sets what Wait returns.
func (r *Run) End(code int, err error) {
	r.code, r.err = code, err
	r.cancel()
	close(r.Done)
}

// Feed copies the input of the process in a goroutine, as CopyInput does. Nobody
// waits for it, because a read of the source cannot be ended. The pipe is closed at
// the end of the source unless it is to stay open.
func (r *Run) Feed(pipe io.WriteCloser, source io.Reader, isTerminal, staysOpen bool) {
	go func() {
		refused, err := CopyInput(pipe, source, isTerminal)
		r.input <- err
		if !refused && !staysOpen {
			_ = pipe.Close() // an ended process needs no end of its input
		}
	}()
}

// InputFailure returns why the input could not be read, as far as that is known.
func (r *Run) InputFailure() error {
	select {
	case err := <-r.input:
		if err != nil {
			return fmt.Errorf("reading the input: %w", err)
		}
	default:
	}
	return nil
}
