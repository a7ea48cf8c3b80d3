package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/wire"
)

// endPatience bounds the wait for a process that was told to end. The server
// kills it long before, or says that it cannot.
const endPatience = time.Minute

// process is the client's side of a process.
type process struct {
	talk    *talk
	lost    func(error) error
	exited  chan exit
	resized <-chan remote.Size

	outputs []*wire.OutputCopy
	input   *wire.InputCopy // nil without

	terminate     chan struct{}
	terminateOnce sync.Once

	done chan struct{} // closed when code and err are final
	code int
	err  error
}

// Start starts a process.
func (c *connection) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	failed := func(err error) (remote.Handle, error) {
		var start *remote.StartError
		if errors.As(err, &start) {
			return nil, err
		}
		start = &remote.StartError{Directory: command.Directory, Err: err}
		if len(command.Arguments) > 0 {
			start.Program = command.Arguments[0]
		}
		return nil, start
	}
	if err := ctx.Err(); err != nil {
		return failed(err)
	}
	p := &process{
		lost: c.lost, exited: make(chan exit, 1), terminate: make(chan struct{}), done: make(chan struct{}),
	}
	if command.Terminal != nil {
		p.resized = command.Terminal.Resized
	}
	merged := sameWriter(command.Stdout, command.Stderr)
	asked := newRequest(operationStart, c.place)
	asked.Command = packCommand(command, merged)
	started := make(chan struct{}, 1)
	var err error
	p.talk, err = c.begin(ctx, asked,
		func(link *wire.Link) { p.connect(link, command, merged) },
		func(kind wire.Kind, payload []byte) error { return p.frame(kind, payload, started) })
	if err != nil {
		return failed(err)
	}
	err = p.awaitStart(ctx, started)
	if err != nil {
		var refused *wire.Refusal
		if ctx.Err() != nil && errors.As(err, &refused) {
			err = ctx.Err() // which is why the server did not start it
		} else {
			err = c.lost(err)
		}
	}
	if err != nil {
		p.talk.stop()
		return failed(err)
	}
	p.begin(ctx)
	return p, nil
}

// awaitStart waits until the server has started the process or says that it did
// not, which is the error. A process that is given up meanwhile may run by then:
// the server is told, and its answer still counts. Where none comes, Wait tells
// that nothing is known of the process.
func (p *process) awaitStart(ctx context.Context, started <-chan struct{}) error {
	cancelled, patience := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case <-started:
			return nil
		case <-p.talk.listening.Done():
			// A process that ends at once is told of together with its end.
			select {
			case <-started:
				return nil
			default:
				return context.Cause(p.talk.listening)
			}
		case <-cancelled:
			timer := time.NewTimer(cleanUpPatience)
			defer timer.Stop()
			cancelled, patience = nil, timer.C
			p.send(frameTerminate, struct{}{})
		case <-patience:
			return nil
		}
	}
}

// connect makes the streams.
func (p *process) connect(link *wire.Link, command remote.Command, merged bool) {
	if command.Stdin != nil {
		p.input = wire.NewInputCopy(command.Stdin, link.Outlet(streamInput))
	}
	// The server ends both outputs, whether they have a writer or not.
	for number, sink := range map[byte]io.Writer{streamOutput: command.Stdout, streamErrors: command.Stderr} {
		if merged && number == streamErrors {
			sink = nil
		}
		p.outputs = append(p.outputs, wire.NewOutputCopy(link.Inlet(number), sink))
	}
}

// frame handles what the server says.
func (p *process) frame(kind wire.Kind, payload []byte, started chan struct{}) error {
	switch kind {
	case frameDone:
		offer(started, struct{}{})
		return nil
	case frameExit:
		var how exit
		err := wire.Decode(payload, &how)
		offer(p.exited, how)
		return err
	}
	return wire.RefuseFrame(kind, payload)
}

// sameWriter reports whether both streams go to one writer, and so through one
// stream, which keeps their order.
func sameWriter(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// begin serves the process in goroutines of which Wait waits for all but a
// read of the input.
func (p *process) begin(ctx context.Context) {
	if p.input != nil {
		go p.input.Run()
	}
	for _, output := range p.outputs {
		go output.Run()
	}
	go p.supervise(ctx)
}

// supervise follows the process to its end.
func (p *process) supervise(ctx context.Context) {
	defer close(p.done)
	defer p.talk.stop()
	cancelled, terminate, resized := ctx.Done(), p.terminate, p.resized
	var patience <-chan time.Time
	for {
		select {
		case how := <-p.exited:
			p.finish(how)
			return
		case <-p.talk.listening.Done():
			select {
			case how := <-p.exited: // the server says so, and then closes the link
				p.finish(how)
			default:
				p.code, p.err = -1, errors.Join(p.lost(context.Cause(p.talk.listening)), p.drain())
			}
			return
		case <-patience:
			p.talk.stop()
			p.code, p.err = -1, errors.Join(errors.New("the process did not end although it was told to"), p.drain())
			return
		case size, open := <-resized:
			if !open {
				resized = nil
				continue
			}
			p.send(frameResize, size)
			continue
		case <-cancelled:
		case <-terminate:
		}
		cancelled, terminate = nil, nil
		timer := time.NewTimer(endPatience)
		defer timer.Stop()
		patience = timer.C
		p.send(frameTerminate, struct{}{})
	}
}

// send tells the server something. That it is gone shows at once, elsewhere.
func (p *process) send(kind wire.Kind, value any) {
	_ = p.talk.link.SendValue(kind, value)
}

// finish takes how the process ended, once all its output was written.
func (p *process) finish(how exit) {
	p.code = how.Code
	var failures []error
	if how.Failed != nil {
		failures = append(failures, p.talk.link.Unpack(how.Failed))
	}
	failures = append(failures, p.drain())
	if p.input != nil {
		failures = append(failures, p.input.End())
	}
	p.err = errors.Join(failures...)
}

// drain waits until all output that arrived was written.
func (p *process) drain() error {
	var failures []error
	for _, output := range p.outputs {
		failures = append(failures, output.Wait())
	}
	return errors.Join(failures...)
}

// Wait waits for the end of the process and of its output.
func (p *process) Wait() (int, error) {
	<-p.done
	return p.code, p.err
}

// Terminate asks the process to end. It returns at once.
func (p *process) Terminate() {
	p.terminateOnce.Do(func() { close(p.terminate) })
}

// Signal sends a signal to the process group.
func (p *process) Signal(number syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := p.talk.link.SendValue(frameSignal, int(number)); err != nil {
		select {
		case <-p.talk.listening.Done(): // it has ended, or Wait tells what happened
			return nil
		default:
			return fmt.Errorf("sending signal %v: %w", number, err)
		}
	}
	return nil
}
