package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/remote"
)

// endPatience bounds the wait for a process that was to end. The background
// process kills it long before, or reports that it cannot.
const endPatience = time.Minute

// remoteProcess is the client's side of a process.
type remoteProcess struct {
	connection *connection
	link       *link
	copies     *copies
	exited     <-chan ending
	resized    <-chan remote.Size

	terminate     chan struct{}
	terminateOnce sync.Once

	done chan struct{} // closed when code and err are final
	code int
	err  error
}

// Start starts a process.
func (c *connection) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	p, err := c.start(ctx, command)
	var start *remote.StartError
	if err == nil || errors.As(err, &start) {
		return p, err
	}
	start = &remote.StartError{Directory: command.Directory, Err: err}
	if len(command.Arguments) > 0 {
		start.Program = command.Arguments[0]
	}
	return nil, start
}

func (c *connection) start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	asked := newStartRequest(c.place, command)
	l, err := c.begin(ctx, operationStart, asked)
	if err != nil {
		return nil, err
	}
	p := &remoteProcess{connection: c, link: l, terminate: make(chan struct{}), done: make(chan struct{})}
	if command.Terminal != nil {
		p.resized = command.Terminal.Resized
	}
	if !asked.Errors {
		command.Stderr = nil
	}
	if p.copies, err = l.openCopies(command.Stdin, command.Stdout, command.Stderr); err == nil {
		err = p.awaitStart(ctx)
	}
	if err != nil {
		l.close()
		var refused *refusal
		if ctx.Err() != nil && errors.As(err, &refused) {
			return nil, ctx.Err() // which is why it was not started
		}
		return nil, c.lost(err)
	}
	p.copies.begin()
	go p.supervise(ctx)
	return p, nil
}

// awaitStart waits until the process was started or the error says why not. One
// that is given up meanwhile may run by then: its answer still counts. Where none
// comes, Wait reports that nothing is known of the process.
func (p *remoteProcess) awaitStart(ctx context.Context) error {
	started, exited := make(chan error, 1), make(chan ending, 1)
	p.exited = exited
	p.link.work.Go(func() {
		err := p.link.receiveAnswer()
		started <- err
		if err != nil {
			exited <- ending{code: -1, lost: err}
			return
		}
		exited <- <-p.link.awaitExit()
	})
	cancelled, patience := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case err := <-started:
			return err
		case <-cancelled:
			timer := time.NewTimer(cleanUpPatience)
			defer timer.Stop()
			cancelled, patience = nil, timer.C
			p.link.instruct(instruction{Terminate: true})
		case <-patience:
			return nil
		}
	}
}

// supervise follows the process to its end.
func (p *remoteProcess) supervise(ctx context.Context) {
	defer close(p.done)
	defer p.link.close()
	cancelled, terminate, resized := ctx.Done(), p.terminate, p.resized
	var patience <-chan time.Time
	for {
		select {
		case how := <-p.exited:
			p.code, p.err = how.code, how.err
			if how.lost != nil {
				p.err = errors.Join(p.connection.lost(how.lost), p.copies.drain())
			} else {
				p.err = errors.Join(how.err, p.copies.finish())
			}
			return
		case <-patience:
			p.link.close()
			p.code, p.err = -1, errors.Join(errors.New("the process did not end although it was told to"), p.copies.drain())
			return
		case size, open := <-resized:
			if !open {
				resized = nil
				continue
			}
			p.link.instruct(instruction{Resize: &size})
			continue
		case <-cancelled:
		case <-terminate:
		}
		cancelled, terminate = nil, nil
		timer := time.NewTimer(endPatience)
		defer timer.Stop()
		patience = timer.C
		p.link.instruct(instruction{Terminate: true})
	}
}

// Wait waits for the end of the process and of its output.
func (p *remoteProcess) Wait() (int, error) {
	<-p.done
	return p.code, p.err
}

// Terminate asks the process to end. It returns at once.
func (p *remoteProcess) Terminate() {
	p.terminateOnce.Do(func() { close(p.terminate) })
}

// Signal sends a signal to the process group.
func (p *remoteProcess) Signal(number syscall.Signal) error {
	err := p.link.send(instruction{Signal: number})
	if err == nil || p.link.session.IsClosed() { // it has ended, or Wait reports what happened
		return nil
	}
	return fmt.Errorf("sending signal %v: %w", number, err)
}
