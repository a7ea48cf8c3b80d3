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

// running is a client's hold on a process or session. It is a remote.Process.
type running struct {
	link    *link
	copies  *copies
	exited  <-chan ending
	resized <-chan remote.Size
	signals <-chan syscall.Signal
	lost    func(error) error // explains the loss of the link

	// patience is how long what is to end may take to do so: 0 to let go of it at
	// once. Then Wait returns givenUp.
	patience time.Duration
	givenUp  error

	terminate     chan struct{}
	terminateOnce sync.Once

	done chan struct{} // closed when code and err are final
	code int
	err  error
}

func newRunning(l *link, lost func(error) error, givenUp error) *running {
	return &running{link: l, lost: lost, givenUp: givenUp, terminate: make(chan struct{}), done: make(chan struct{})}
}

// ending is how a process or session ended, as far as that is known.
type ending struct {
	code int
	err  error // of the process
	lost error // of the link: the code is -1
}

// awaitExit receives the message about the end.
func (l *link) awaitExit() <-chan ending {
	exited := make(chan ending, 1)
	l.work.Go(func() {
		var how exit
		if err := l.receive(&how); err != nil {
			exited <- ending{code: -1, lost: err}
			return
		}
		ended := ending{code: how.Code}
		if how.Failed != nil {
			ended.err = how.Failed.unpack()
		}
		exited <- ended
	})
	return exited
}

// begin serves the streams until the end.
func (r *running) begin(ctx context.Context) {
	r.copies.begin()
	go func() {
		defer close(r.done)
		how := r.follow(ctx)
		if how.lost != nil {
			how.err = r.lost(how.lost)
		}
		if how.code == -1 {
			r.link.close() // so that the outputs end
		}
		r.code, r.err = how.code, errors.Join(how.err, r.copies.finish())
		r.link.close()
	}()
}

// follow waits for the end, and passes on what the client says meanwhile.
func (r *running) follow(ctx context.Context) ending {
	cancelled, terminate, resized, signals := ctx.Done(), r.terminate, r.resized, r.signals
	var patience <-chan time.Time
	for {
		select {
		case how := <-r.exited:
			return how
		case <-patience:
			return ending{code: -1, err: r.givenUp}
		case size, open := <-resized:
			if !open {
				resized = nil
				continue
			}
			r.link.instruct(instruction{Resize: &size})
			continue
		case number, open := <-signals:
			if !open {
				signals = nil
				continue
			}
			r.link.instruct(instruction{Signal: number})
			continue
		case <-cancelled:
		case <-terminate:
		}
		if r.patience == 0 {
			return ending{code: -1, err: r.givenUp}
		}
		cancelled, terminate = nil, nil
		timer := time.NewTimer(r.patience)
		defer timer.Stop()
		patience = timer.C
		r.link.instruct(instruction{Terminate: true})
	}
}

// instruct sends an instruction. That the process is gone shows where its
// messages are read.
func (l *link) instruct(i instruction) { _ = l.send(i) }

// Wait waits for the end of the process and of its output.
func (r *running) Wait() (int, error) {
	<-r.done
	return r.code, r.err
}

// Terminate asks the process to end. It returns at once.
func (r *running) Terminate() {
	r.terminateOnce.Do(func() { close(r.terminate) })
}

// Signal sends a signal to the process group.
func (r *running) Signal(number syscall.Signal) error {
	err := r.link.send(instruction{Signal: number})
	if err == nil || r.link.session.IsClosed() { // it has ended, or Wait reports what happened
		return nil
	}
	return fmt.Errorf("sending signal %v: %w", number, err)
}
