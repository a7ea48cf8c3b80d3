package channel

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

const (
	groupPoll  = 20 * time.Millisecond  // between looks at a group whose leader has ended
	sessPoll   = 100 * time.Millisecond // the same for what is left on a terminal, which takes longer
	outputPoll = 10 * time.Millisecond  // between looks whether output still comes
	outputLull = 200 * time.Millisecond // of a stream that nobody waits for any more
	overdue    = 4 << 20                // most bytes taken of what outlives a process, after Linger
)

// handle is a process on the host.
type handle struct {
	*execution.Run
	connection *connection
	command    remote.Command
	session    *session
	task       *task
	reported   startReport
	shared     bool // it is in the process group of its shells
}

// serve starts what a running process needs.
func (p *handle) serve(ctx context.Context) {
	p.connection.pool.crew.run(func() { p.supervise(ctx) })
	isTerminal := p.command.Terminal != nil
	if isTerminal && p.command.Terminal.Resized != nil {
		p.connection.pool.crew.run(func() { p.followSize(p.command.Terminal.Resized) })
	}
	if p.command.Stdin != nil || isTerminal {
		// The end of a channel's input does not reach a program that reads the terminal.
		p.Feed(p.session.channel.Stdin(), p.command.Stdin, isTerminal, isTerminal)
	}
}

func (p *handle) followSize(resized <-chan remote.Size) {
	for {
		select {
		case size, more := <-resized:
			if !more {
				return
			}
			// Only the look of a terminal depends on it.
			_ = p.session.channel.Resize(size)
		case <-p.Done:
			return
		}
	}
}

// supervise follows the process from its start until all its output was delivered.
func (p *handle) supervise(ctx context.Context) {
	var code int
	var err error
	cut := false
	select {
	case code = <-p.task.exited:
	case <-p.task.ended:
		code, err = p.outcome(false)
	case <-ctx.Done():
		code, err = p.end(ctx)
		cut = true
	}
	p.End(code, errors.Join(err, p.finish(ctx, cut)))
}

// outcome returns the code of a process whose output has ended.
func (p *handle) outcome(killed bool) (int, error) {
	select {
	case code := <-p.task.exited:
		return code, nil
	default:
	}
	if !execution.ClosesWithin(p.session.over, p.connection.settings.Linger) {
		// The shell between us and the program was killed.
		return -1, errors.New("waiting for the process: the host does not know how it ended")
	}
	lost := p.session.lost()
	if killed && errors.Is(lost, errShellEnded) {
		return 128 + int(syscall.SIGKILL), nil
	}
	return -1, fmt.Errorf("waiting for the process: %w", lost)
}

// finish waits for the output, gives the session back, and returns what failed about
// the streams.
func (p *handle) finish(ctx context.Context, cut bool) error {
	whole := p.awaitOutput(ctx, cut)
	var failures []error
	stdout, stderr := p.session.detach()
	for _, failure := range []error{stdout, stderr} {
		if failure != nil {
			failures = append(failures, fmt.Errorf("writing its output: %w", failure))
		}
	}
	failures = append(failures, p.InputFailure())
	p.connection.pool.release(p.session, whole && p.session.alive())
	return errors.Join(failures...)
}

// awaitOutput waits until all output has come, and reports whether it has. It always waits
// for the output of the process itself. Processes that outlive it may hold its pipes for
// ever, so their output counts for Linger only, and after a cancellation only what is
// under way.
func (p *handle) awaitOutput(ctx context.Context, cut bool) bool {
	if !cut {
		cut = p.awaitFlush(ctx)
	}
	deadline := time.Now()
	if !cut {
		deadline = deadline.Add(p.connection.settings.Linger)
	}
	poll := time.NewTicker(outputPoll)
	defer poll.Stop()
	late := int64(-1)
	for {
		done := ctx.Done()
		if late >= 0 || cut {
			done = nil
		}
		select {
		case <-p.task.ended:
			return true
		case <-done:
			deadline, cut = time.Now(), true
		case <-poll.C:
		}
		now := time.Now()
		if now.Before(deadline) {
			continue
		}
		written := p.session.written()
		if late < 0 {
			late = written
		}
		if p.session.quiet(now) > outputLull || written-late > overdue {
			return false
		}
	}
}

// awaitFlush waits for the output of the process itself. It reports whether ctx was done
// before.
func (p *handle) awaitFlush(ctx context.Context) (cut bool) {
	select {
	case <-p.task.flushed:
	case <-p.task.ended:
	case <-ctx.Done():
		return true
	}
	return false
}
