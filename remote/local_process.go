package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
)

// groupPoll is how often a process group is polled after its leader has ended, because the
// system does not report the end of processes that are not children. A session takes
// longer, because its processes are searched among all.
const (
	groupPoll   = 5 * time.Millisecond
	sessionPoll = 25 * time.Millisecond
)

// localProcess is a running child.
type localProcess struct {
	*execution.Run
	child         *exec.Cmd
	group         bool     // the child leads a process group of its own
	terminal      *os.File // its end of its pseudo-terminal, whose session it leads; nil without one
	grace, linger time.Duration

	input  *os.File // our end of the pipe to its input; or nil
	output []*outputCopy

	endSizes   chan struct{} // closed to end followSizes
	sizesEnded chan struct{} // closed when followSizes has ended, and sizesErr is final
	sizesErr   error

	exited   chan struct{} // closed when the child was reaped, and exitErr is final
	exitErr  error
	reaping  sync.Mutex // held while its id is used, and while it is reaped
	isReaped bool
}

// startLocal starts the child with the command's streams.
func startLocal(ctx context.Context, child *exec.Cmd, command Command, grace, linger time.Duration) (*localProcess, error) {
	p := &localProcess{
		child: child, group: !command.Foreground || command.Terminal != nil, grace: grace, linger: linger,
		endSizes: make(chan struct{}), sizesEnded: make(chan struct{}), exited: make(chan struct{}),
	}
	ctx, p.Run = execution.NewRun(ctx)
	command.Stdin, command.Stdout, command.Stderr = execution.NonNil(command.Stdin), execution.NonNil(command.Stdout), execution.NonNil(command.Stderr)
	if command.Terminal != nil {
		defer heedHangUp()()
	}
	childEnds, err := p.connect(command)
	if err == nil {
		p.child, err = execute(ctx, child)
	}
	err = errors.Join(err, execution.CloseAll(childEnds...))
	if err != nil {
		p.Terminate()
		return nil, errors.Join(err, p.closeOwnEnds())
	}
	if p.input != nil {
		isTerminal := p.terminal != nil
		p.Feed(p.input, command.Stdin, isTerminal, isTerminal)
	}
	for _, output := range p.output {
		go output.run()
	}
	if p.terminal != nil {
		go p.followSizes(command.Terminal.Resized)
	}
	go p.reap()
	go p.supervise(ctx)
	return p, nil
}

// connect gives the child its streams: files unchanged, pipes for others, or a terminal. It
// returns the child's ends of the pipes, which the caller closes after the start.
func (p *localProcess) connect(command Command) ([]*os.File, error) {
	if command.Terminal != nil {
		return nil, p.connectTerminal(command)
	}
	var childEnds []*os.File
	if file, isFile := command.Stdin.(*os.File); isFile {
		p.child.Stdin = file
	} else if command.Stdin != nil {
		reader, writer, err := os.Pipe()
		if err != nil {
			return childEnds, fmt.Errorf("making a pipe for its input: %w", err)
		}
		childEnds = append(childEnds, reader)
		p.child.Stdin, p.input = reader, writer
	}

	attach := func(sink io.Writer) (io.Writer, error) {
		if _, isFile := sink.(*os.File); isFile || sink == nil {
			return sink, nil
		}
		reader, writer, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("making a pipe for its output: %w", err)
		}
		childEnds = append(childEnds, writer)
		p.output = append(p.output, &outputCopy{source: reader, sink: execution.Sink{Writer: sink}, ended: make(chan struct{})})
		return writer, nil
	}
	var err error
	if p.child.Stdout, err = attach(command.Stdout); err != nil {
		return childEnds, err
	}
	if execution.SameWriter(command.Stdout, command.Stderr) {
		p.child.Stderr = p.child.Stdout
		return childEnds, nil
	}
	p.child.Stderr, err = attach(command.Stderr)
	return childEnds, err
}

func (p *localProcess) closeOwnEnds() error {
	ends := []*os.File{p.input, p.terminal}
	for _, output := range p.output {
		ends = append(ends, output.source)
	}
	return execution.CloseAll(ends...)
}

// Signal sends a signal to the process's group.
func (p *localProcess) Signal(number syscall.Signal) error {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if p.isReaped {
		return nil // its id may mean another process
	}
	target := p.child.Process.Pid
	if p.group {
		target = -target
	}
	if err := syscall.Kill(target, number); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending signal %v: %w", number, err)
	}
	return nil
}

// reap waits for the end of the child. No other process gets its id before it is reaped,
// and isReaped keeps signals from using the id afterwards.
func (p *localProcess) reap() {
	defer close(p.exited)
	if awaitEnd(p.child.Process.Pid) != nil {
		// This system cannot wait without reaping. Holding the lock meanwhile would block
		// signals.
		p.exitErr = p.child.Wait()
		p.reaping.Lock()
		defer p.reaping.Unlock()
	} else {
		p.reaping.Lock()
		defer p.reaping.Unlock()
		p.exitErr = p.child.Wait()
	}
	p.isReaped = true
}

// supervise follows the process from its start until all its output was delivered.
func (p *localProcess) supervise(ctx context.Context) {
	var err error
	cut := false
	select {
	case <-p.exited:
	case <-ctx.Done():
		err, cut = p.end(), true
	}
	if err == nil {
		err = p.exitErr
	}
	code, err := exitCode(err)
	p.End(code, errors.Join(err, p.finishStreams(ctx, cut)))
}

// end ends the process with its group, or with the session of its terminal, and waits until
// it is reaped.
func (p *localProcess) end() error {
	if p.hasEnded() {
		return nil // what it left behind continues
	}
	p.signal(syscall.SIGTERM)
	// A stopped process would not see the request before it is continued.
	p.signal(syscall.SIGCONT)
	grace := time.After(p.grace)
	var hangUp <-chan time.Time
	if p.terminal != nil {
		// An interactive shell ignores the request, but not a hangup.
		hangUp = time.After(p.grace / 2)
	}
	for waiting := true; waiting; {
		select {
		case <-p.exited:
			p.endRest(grace)
			return nil
		case <-hangUp:
			p.signal(syscall.SIGHUP)
		case <-grace:
			waiting = false
		}
	}
	p.signal(syscall.SIGKILL)
	if execution.ClosesWithin(p.exited, p.linger) || p.hasEnded() { // while this process was held up
		return nil
	}
	// It hangs inside the kernel, mostly in a network file system. If it ever ends,
	// reap reaps it.
	return execution.ErrUnkillable
}

// hasEnded reports whether the process was reaped. If so, it waits until exited is closed.
func (p *localProcess) hasEnded() bool {
	p.reaping.Lock()
	isReaped := p.isReaped
	p.reaping.Unlock()
	if isReaped {
		<-p.exited
	}
	return isReaped
}

// endRest waits for the rest of the group or session until the grace period is over, then
// kills it. The id of the group cannot belong to another group while one of its processes
// lives.
func (p *localProcess) endRest(grace <-chan time.Time) {
	if !p.group {
		return
	}
	pause := groupPoll
	if p.terminal != nil {
		pause = sessionPoll
		p.signal(syscall.SIGHUP)
	}
	poll := time.NewTicker(pause)
	defer poll.Stop()
	for p.signal(syscall.Signal(0)) {
		select {
		case <-poll.C:
		case <-grace:
			p.signal(syscall.SIGKILL)
			return
		}
	}
}

// signal signals the session or the group of the process, or the process alone if it shares
// our group. It reports whether a process got the signal.
func (p *localProcess) signal(number syscall.Signal) bool {
	switch id := p.child.Process.Pid; {
	case p.terminal != nil:
		return signalSession(id, number)
	case p.group:
		return syscall.Kill(-id, number) == nil
	default:
		return p.child.Process.Signal(number) == nil
	}
}

// finishStreams waits for the output. Processes that outlive the command may hold its pipes
// for ever, so their output counts for the linger time only, and after a cancellation only
// what is there already.
func (p *localProcess) finishStreams(ctx context.Context, cut bool) error {
	deadline := time.Now()
	if !cut {
		deadline = deadline.Add(p.linger)
	}
	failures := []error{p.endTerminal()}
	for _, output := range p.output {
		failures = append(failures, output.finish(ctx, deadline))
	}
	if p.input != nil {
		// A blocked write fails, as the child's end is closed. A blocked read of the
		// source cannot be ended.
		if err := p.input.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			failures = append(failures, fmt.Errorf("closing its input: %w", err))
		}
		failures = append(failures, p.InputFailure())
	}
	return errors.Join(failures...)
}

// exitCode turns the error of waiting into an exit code.
func exitCode(err error) (int, error) {
	if err == nil {
		return 0, nil
	}
	exit, hasEnded := errors.AsType[*exec.ExitError](err)
	if !hasEnded {
		return -1, fmt.Errorf("waiting for the process: %w", err)
	}
	if status, known := exit.Sys().(syscall.WaitStatus); known && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
