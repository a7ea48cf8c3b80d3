package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/rmctl/rmctl/remote"
)

// endPatience bounds the wait for a process that was to end. The background
// process kills it long before, or reports that it cannot.
const endPatience = time.Minute

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
	r := newRunning(l, c.lost, errors.New("the process did not end although it was asked to"))
	r.patience = endPatience
	if command.Terminal != nil {
		r.resized = command.Terminal.Resized
	}
	if !asked.Errors {
		command.Stderr = nil
	}
	if r.copies, err = l.openCopies(command.Stdin, command.Stdout, command.Stderr); err == nil {
		err = r.awaitStart(ctx)
	}
	if err != nil {
		l.close()
		var refused *refusal
		if ctx.Err() != nil && errors.As(err, &refused) {
			return nil, ctx.Err() // which is why it was not started
		}
		return nil, c.lost(err)
	}
	r.begin(ctx)
	return r, nil
}

// awaitStart waits until the process was started or the error says why not. One
// that is given up meanwhile may run by then: its answer still counts. Where none
// comes, Wait reports that nothing is known of the process.
func (r *running) awaitStart(ctx context.Context) error {
	started, exited := make(chan error, 1), make(chan ending, 1)
	r.exited = exited
	r.link.work.Go(func() {
		err := r.link.receiveAnswer()
		started <- err
		if err != nil {
			exited <- ending{code: -1, lost: err}
			return
		}
		exited <- <-r.link.awaitExit()
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
			r.link.instruct(instruction{Terminate: true})
		case <-patience:
			return nil
		}
	}
}
