package channel

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// handle is a process at the place, with the goroutines that serve it.
type handle struct {
	connection *connection
	command    remote.Command
	session    *session
	task       *task
	reported   startReport
	shared     bool // it is in the group of the shells that serve it

	terminate     chan struct{}
	terminateOnce sync.Once
	inputEnded    chan error // gets the result of copying the input

	done chan struct{} // closed when code and err are final
	code int
	err  error
}

func newHandle(c *connection, command remote.Command) *handle {
	return &handle{
		connection: c, command: command,
		terminate: make(chan struct{}), inputEnded: make(chan error, 1), done: make(chan struct{}),
	}
}

// serve starts what a running process needs.
func (p *handle) serve(ctx context.Context) {
	p.connection.pool.crew.run(func() { p.supervise(ctx) })
	if p.command.Terminal != nil {
		if resized := p.command.Terminal.Resized; resized != nil {
			p.connection.pool.crew.run(func() { p.followSize(resized) })
		}
	}
	if p.command.Stdin != nil || p.command.Terminal != nil {
		// A read of the source cannot be ended from here: nobody waits for it.
		go p.copyInput()
	}
}

// copyInput feeds the process.
func (p *handle) copyInput() {
	stdin := p.session.channel.Stdin()
	// The end of a channel's input does not reach who reads the terminal.
	refused, err := execution.CopyInput(stdin, p.command.Stdin, p.command.Terminal != nil)
	if p.command.Terminal == nil && !refused {
		// A process that has ended does not mind.
		_ = stdin.Close()
	}
	p.inputEnded <- err
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
		case <-p.done:
			return
		}
	}
}

// Wait waits for the end of the process and of its output.
func (p *handle) Wait() (int, error) {
	<-p.done
	return p.code, p.err
}

// Terminate asks the process's group to end, and kills it after the grace
// period. It returns at once.
func (p *handle) Terminate() {
	p.terminateOnce.Do(func() { close(p.terminate) })
}

// supervise follows the process from its start until nothing of it is left to
// wait for.
func (p *handle) supervise(ctx context.Context) {
	defer close(p.done)
	select {
	case p.code = <-p.task.exited:
		p.finish(ctx, false)
		return
	case <-p.task.ended:
		p.code, p.err = p.outcome(false)
		p.finish(ctx, false)
		return
	case <-ctx.Done():
	case <-p.terminate:
	}
	p.code, p.err = p.end(ctx)
	p.finish(ctx, true)
}

// outcome returns the code of a process whose output has ended.
func (p *handle) outcome(killed bool) (int, error) {
	select {
	case code := <-p.task.exited:
		return code, nil
	default:
	}
	if !execution.ClosesWithin(p.session.over, p.connection.settings.Linger) {
		// Somebody killed the shell between us and the program.
		return -1, errors.New("waiting for the process: the place does not know how it ended")
	}
	lost := p.session.lost()
	if killed && errors.Is(lost, errShellEnded) {
		return 128 + int(syscall.SIGKILL), nil
	}
	return -1, fmt.Errorf("waiting for the process: %w", lost)
}

// finish waits for the output, gives the session back and completes the error.
func (p *handle) finish(ctx context.Context, cut bool) {
	whole := p.awaitOutput(ctx, cut)
	stdout, stderr := p.session.detach()
	for _, failure := range []error{stdout, stderr} {
		if failure != nil {
			p.err = errors.Join(p.err, fmt.Errorf("writing its output: %w", failure))
		}
	}
	select {
	case failure := <-p.inputEnded:
		if failure != nil {
			p.err = errors.Join(p.err, fmt.Errorf("reading its input: %w", failure))
		}
	default:
	}
	p.connection.pool.release(p.session, whole && p.session.alive())
}

// awaitOutput waits until all output has come and reports whether it has. What
// the process itself wrote comes in any case. Processes that outlive it may hold
// its pipes for ever, so only what they write soon is waited for; after a
// cancellation, what is under way.
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
		done, terminate := ctx.Done(), p.terminate
		if late >= 0 || cut {
			done, terminate = nil, nil
		}
		select {
		case <-p.task.ended:
			return true
		case <-done:
			deadline, cut = time.Now(), true
		case <-terminate:
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

// awaitFlush waits until what the process itself wrote has come. It reports
// whether it was to end meanwhile.
func (p *handle) awaitFlush(ctx context.Context) (cut bool) {
	select {
	case <-p.task.flushed:
		return false
	case <-p.task.ended:
		return false
	case <-ctx.Done():
	case <-p.terminate:
	}
	return true
}
