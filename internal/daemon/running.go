package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// copyBuffer is how many bytes are read from a stream at once.
const copyBuffer = 64 << 10

// running is a client's hold on a process or session. It is a remote.Handle.
type running struct {
	*execution.Run
	link    *link
	exited  <-chan ending
	resized <-chan remote.Size
	signals <-chan syscall.Signal
	lost    func(error) error // explains the loss of the link

	// patience is how long a process may take to end: 0 to let go of it at once. Then Wait
	// returns givenUp.
	patience time.Duration
	givenUp  error

	stdin     io.Reader
	input     *stream // nil without
	staysOpen bool    // the stream, at the end of the input
	outputs   []*outputCopy
}

// outputCopy copies a stream to a writer. A writer that fails is not written to
// again, but the stream is read on, so that the process can go on.
type outputCopy struct {
	source *stream
	sink   execution.Sink
}

// ending is how a process or session ended, as far as that is known.
type ending struct {
	code int // -1 if unknown
	err  error
}

// openStreams opens the streams of a process that are not nil, in the order in which
// the server accepts them.
func (r *running) openStreams(stdin io.Reader, sinks ...io.Writer) (err error) {
	if r.stdin = stdin; stdin != nil {
		if r.input, err = r.link.open(); err != nil {
			return err
		}
	}
	for _, sink := range sinks {
		if sink == nil {
			continue
		}
		source, err := r.link.open()
		if err != nil {
			return err
		}
		r.outputs = append(r.outputs, &outputCopy{source, execution.Sink{Writer: sink}})
	}
	return nil
}

// awaitExit receives the message about the end.
func (r *running) awaitExit() ending {
	var how exit
	if err := r.link.receive(&how); err != nil {
		return ending{-1, r.lost(err)}
	}
	return ending{how.Code, how.Failed.unpack()}
}

// serve copies the streams until the end.
func (r *running) serve(ctx context.Context) {
	if r.input != nil {
		r.Feed(r.input, r.stdin, false, r.staysOpen)
	}
	var copying sync.WaitGroup
	for _, output := range r.outputs {
		copying.Go(func() {
			// awaitExit reports a link that is lost.
			_, _ = io.CopyBuffer(&output.sink, output.source, make([]byte, copyBuffer))
		})
	}
	go func() {
		how := r.follow(ctx)
		if how.code == -1 {
			r.link.close() // so that the outputs end
		}
		copying.Wait()
		failures := []error{how.err}
		for _, output := range r.outputs {
			if err := output.sink.Err; err != nil {
				failures = append(failures, fmt.Errorf("writing the output: %w", err))
			}
		}
		failures = append(failures, r.InputFailure())
		r.link.close()
		r.End(how.code, errors.Join(failures...))
	}()
}

// follow waits for the end, and passes on sizes and signals meanwhile.
func (r *running) follow(ctx context.Context) ending {
	canceled, resized, signals := ctx.Done(), r.resized, r.signals
	var patience <-chan time.Time
	for {
		select {
		case how := <-r.exited:
			return how
		case <-patience:
			return ending{-1, r.givenUp}
		case size, open := <-resized:
			if !open {
				resized = nil
				continue
			}
			r.link.instruct(instruction{Resize: &size})
		case number, open := <-signals:
			if !open {
				signals = nil
				continue
			}
			r.link.instruct(instruction{Signal: number})
		case <-canceled:
			if r.patience == 0 {
				return ending{-1, r.givenUp}
			}
			timer := time.NewTimer(r.patience)
			defer timer.Stop()
			canceled, patience = nil, timer.C
			r.link.instruct(instruction{Terminate: true})
		}
	}
}

// instruct sends an instruction. awaitExit reports a process that is gone.
func (l *link) instruct(i instruction) { _ = l.send(i) }

// Signal sends a signal to the process group.
func (r *running) Signal(number syscall.Signal) error {
	err := r.link.send(instruction{Signal: number})
	if err == nil || r.link.session.IsClosed() { // if it has ended, Wait reports that
		return nil
	}
	return fmt.Errorf("sending signal %v: %w", number, err)
}
