package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/remote"
)

// endPatience bounds the wait for the end of a canceled process. The background
// process kills it long before, or reports that it cannot.
const endPatience = time.Minute

// Start starts a process.
func (c *connection) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	p, err := c.start(ctx, command)
	if err == nil {
		return p, nil
	}
	start, isStart := errors.AsType[*remote.StartError](err)
	if !isStart {
		start = &remote.StartError{Directory: command.Directory, Err: err}
		if len(command.Arguments) > 0 {
			start.Program = command.Arguments[0]
		}
	}
	return nil, start
}

func (c *connection) start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	message := newStartRequest(c.place, command)
	l, err := c.openConversation(ctx, operationStart, message)
	if err != nil {
		return nil, err
	}
	r := &running{link: l, lost: c.lost, patience: endPatience, givenUp: errors.New("the process did not end on request")}
	ctx, r.Run = execution.NewRun(ctx)
	if command.Terminal != nil {
		r.resized = command.Terminal.Resized
	}
	if !message.Errors {
		command.Stderr = nil
	}
	if err = r.openStreams(command.Stdin, command.Stdout, command.Stderr); err == nil {
		err = r.awaitStart(ctx)
	}
	if err != nil {
		l.close()
		defer r.Terminate()
		if _, isReceived := errors.AsType[*peer.ReceivedError](err); isReceived && ctx.Err() != nil {
			return nil, ctx.Err() // the reason why it was not started
		}
		return nil, c.lost(err)
	}
	r.serve(ctx)
	return r, nil
}

// awaitStart waits until the process has started or failed to. A process whose start is
// canceled may run already, so its answer still counts. If none comes, awaitStart
// returns nil, and Wait reports that the outcome is unknown.
func (r *running) awaitStart(ctx context.Context) error {
	started, exited := make(chan error, 1), make(chan ending, 1)
	r.exited = exited
	r.link.work.Go(func() {
		err := r.link.receiveAnswer()
		started <- err
		if err != nil {
			exited <- ending{-1, r.lost(err)}
			return
		}
		exited <- r.awaitExit()
	})
	canceled, patience := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case err := <-started:
			return err
		case <-canceled:
			timer := time.NewTimer(cleanUpPatience)
			defer timer.Stop()
			canceled, patience = nil, timer.C
			r.link.instruct(instruction{Terminate: true})
		case <-patience:
			return nil
		}
	}
}
