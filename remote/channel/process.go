package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/remote"
)

const (
	groupPoll  = 20 * time.Millisecond  // between looks at a group whose leader has ended
	sessPoll   = 100 * time.Millisecond // the same for what is left on a terminal, which takes longer
	outputPoll = 10 * time.Millisecond  // between looks whether output still comes
	outputLull = 200 * time.Millisecond // of a stream that nobody waits for any more
	overdue    = 4 << 20                // most bytes taken of what outlives a process, after Linger

	// What is typed at a terminal to tell that there is no more input, and after
	// which characters a line begins, so that typing it once is enough.
	endOfInput   = "\x04"
	endOfTheLine = "\n\r\x03\x04\x1c"
)

// process is a process at the place, with the goroutines that serve it.
type process struct {
	connection *Connection
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

func newProcess(c *Connection, command remote.Command) *process {
	return &process{
		connection: c, command: command,
		terminate: make(chan struct{}), inputEnded: make(chan error, 1), done: make(chan struct{}),
	}
}

// serve starts what a running process needs.
func (p *process) serve(ctx context.Context) {
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

// copyInput feeds the process until the source ends or the process does not
// want more, which is no error.
func (p *process) copyInput() {
	stdin := p.session.channel.Stdin()
	sink := &inputSink{pipe: stdin}
	var err error
	if p.command.Stdin != nil {
		_, err = io.Copy(sink, p.command.Stdin)
	}
	if sink.refused {
		err = nil
	}
	if p.command.Terminal != nil {
		// The end of a channel's input does not reach who reads the terminal.
		sink.typeEnd()
	} else if !sink.refused {
		// A process that has ended does not mind.
		_ = stdin.Close()
	}
	p.inputEnded <- err
}

// inputSink tells errors of the channel, where the process wants no more or
// which Wait tells, from those of the source.
type inputSink struct {
	pipe    io.Writer
	last    byte // of what was written
	refused bool
}

func (s *inputSink) Write(data []byte) (int, error) {
	written, err := s.pipe.Write(data)
	s.refused = err != nil
	if written > 0 {
		s.last = data[written-1]
	}
	return written, err
}

// typeEnd tells the readers of a terminal that there is no more input. In the
// middle of a line the first time only ends that line.
func (s *inputSink) typeEnd() {
	end := endOfInput
	if s.last != 0 && strings.IndexByte(endOfTheLine, s.last) < 0 {
		end += endOfInput
	}
	// A process that has ended does not mind.
	_, _ = s.Write([]byte(end))
}

func (p *process) followSize(resized <-chan remote.Size) {
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
func (p *process) Wait() (int, error) {
	<-p.done
	return p.code, p.err
}

// Terminate asks the process's group to end, and kills it after the grace
// period. It returns at once.
func (p *process) Terminate() {
	p.terminateOnce.Do(func() { close(p.terminate) })
}

// Signal sends a signal to the process's group, through another channel.
func (p *process) Signal(number syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	name := strings.TrimPrefix(unix.SignalName(number), "SIG")
	if name == "" {
		return fmt.Errorf("sending signal %d: there is none of that number", number)
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.connection.settings.Patience)
	defer cancel()
	if _, err := p.signal(ctx, theGroup, name); err != nil {
		return fmt.Errorf("sending signal %v: %w", number, err)
	}
	return nil
}

// reach tells whom a signal is for.
type reach int

const (
	theGroup   reach = iota // of the process, which has not ended
	everything              // that was started with it
	whatIsLeft              // of that, after its end
)

// signal sends signals. It reports whether there was anybody to reach.
func (p *process) signal(ctx context.Context, whom reach, names ...string) (reached bool, err error) {
	if p.shared {
		return p.signalShared(names)
	}
	id := p.reported.process
	if id == 0 {
		return false, errors.New("the place did not tell the id of the process")
	}
	var code string
	switch {
	case p.command.Terminal != nil && whom == theGroup:
		code = fmt.Sprintf("rmctl_terminal %d group ", id)
	case p.command.Terminal != nil:
		code = fmt.Sprintf("rmctl_terminal %d session ", id)
	case whom == whatIsLeft:
		code = fmt.Sprintf("rmctl_signal %d 0 ", id)
	default:
		code = fmt.Sprintf("rmctl_signal %d %d ", id, p.reported.parent)
	}
	status, err := p.connection.call(ctx, code+strings.Join(names, " "))
	return status == 0, err
}

// signalShared asks the place to signal the group of the channel. Only the end of
// all output tells that nothing is left of it.
func (p *process) signalShared(names []string) (reached bool, err error) {
	select {
	case <-p.task.ended:
		return false, nil
	default:
	}
	for _, name := range names {
		if name == "0" {
			continue
		}
		if err := p.session.channel.Signal(unix.SignalNum("SIG" + name)); err != nil {
			return false, fmt.Errorf("the place opens one channel at a time, and refuses to signal what runs there: %w", err)
		}
	}
	return true, nil
}

// call runs shell code of ours in a shell that does not wait behind commands.
func (c *Connection) call(ctx context.Context, code string) (status int, err error) {
	var s *session
	var line string
	m := newMarker()
	if c.pool.oneShot {
		s, _, err = c.pool.session(ctx, forSignals, plainLine, Options{})
		line = openLine(m) + "; "
	} else {
		s, err = c.pool.shell(ctx, forSignals)
	}
	if err != nil {
		return -1, err
	}
	t := s.begin(m, nil, nil, c.pool.oneShot, 2)
	if _, err := s.send(ctx, line+callLine(m, code)); err != nil {
		c.pool.release(s, false)
		return -1, err
	}
	select {
	case <-t.ended:
	case <-ctx.Done():
		c.pool.release(s, false)
		return -1, ctx.Err()
	}
	c.pool.release(s, s.alive())
	select {
	case status = <-t.exited:
		return status, nil
	default:
		return -1, s.lost()
	}
}

// supervise follows the process from its start until nothing of it is left to
// wait for.
func (p *process) supervise(ctx context.Context) {
	defer close(p.done)
	cut := false
	select {
	case p.code = <-p.task.exited:
	case <-p.task.ended:
		p.code, p.err = p.outcome(false)
	case <-ctx.Done():
		p.code, p.err, cut = p.end(ctx)
	case <-p.terminate:
		p.code, p.err, cut = p.end(ctx)
	}
	p.finish(ctx, cut)
}

// outcome returns the code of a process whose output has ended.
func (p *process) outcome(killed bool) (int, error) {
	select {
	case code := <-p.task.exited:
		return code, nil
	default:
	}
	patience := time.NewTimer(p.connection.settings.Linger)
	defer patience.Stop()
	select {
	case <-p.session.over:
	case <-patience.C:
		// Somebody killed the shell between us and the program.
		return -1, errors.New("waiting for the process: the place does not know how it ended")
	}
	lost := p.session.lost()
	var connect *remote.ConnectError
	if killed && errors.As(lost, &connect) && errors.Is(connect.Err, errShellEnded) {
		return 128 + int(syscall.SIGKILL), nil
	}
	return -1, fmt.Errorf("waiting for the process: %w", lost)
}

// end ends the process and its group, and returns its code.
func (p *process) end(ctx context.Context) (code int, err error, cut bool) {
	select {
	case code = <-p.task.exited:
		return code, nil, true
	default:
	}
	settings := p.connection.settings
	limit := settings.Grace + settings.Linger
	signals, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*limit)
	defer cancel()
	grace := time.NewTimer(settings.Grace)
	defer grace.Stop()

	if p.reported.process == 0 {
		// Nothing was heard of it yet.
		select {
		case p.reported = <-p.task.started:
		case <-grace.C:
			p.session.close()
			return -1, p.connection.pool.silence(), true
		}
		if p.reported.failure != "" {
			return -1, errors.Join(errNotStarted, ctx.Err()), true
		}
	}
	// A stopped process would not see the request before it is continued.
	_, failure := p.signal(signals, everything, "TERM", "CONT")
	grace.Reset(settings.Grace) // from when it was asked
	var hangUp <-chan time.Time
	if p.command.Terminal != nil {
		// The request means nothing to an interactive shell; that its terminal
		// has gone does.
		timer := time.NewTimer(settings.Grace / 2)
		defer timer.Stop()
		hangUp = timer.C
	}
	for waiting := true; waiting; {
		select {
		case code = <-p.task.exited:
			p.endRest(signals, grace.C)
			return code, nil, true
		case <-p.task.ended:
			if code, err = p.outcome(false); err == nil {
				p.endRest(signals, grace.C)
			}
			return code, err, true
		case <-hangUp:
			_, failure = p.signal(signals, everything, "HUP")
			grace.Reset(settings.Grace / 2)
		case <-grace.C:
			waiting = false
		}
	}
	_, killing := p.signal(signals, everything, "KILL")
	patience := time.NewTimer(settings.Linger)
	defer patience.Stop()
	select {
	case code = <-p.task.exited:
		return code, nil, true
	case <-p.task.ended:
		code, err = p.outcome(killing == nil)
		return code, err, true
	case <-patience.C:
		return -1, errors.Join(errUnkillable, failure, killing), true
	}
}

var errUnkillable = errors.New("the process did not end although it was killed")

// endRest gives what is left of the group, or on the terminal, the rest of the
// grace period, then kills it.
func (p *process) endRest(ctx context.Context, grace <-chan time.Time) {
	pause, first := groupPoll, "0"
	if p.command.Terminal != nil {
		pause, first = sessPoll, "HUP"
	}
	poll := time.NewTicker(pause)
	defer poll.Stop()
	for name := first; ; name = "0" {
		// Where the place cannot be asked any more, nothing can be ended.
		reached, err := p.signal(ctx, whatIsLeft, name)
		if !reached || err != nil {
			return
		}
		select {
		case <-poll.C:
		case <-grace:
			_, _ = p.signal(ctx, whatIsLeft, "KILL")
			return
		}
	}
}

// finish waits for the output, gives the session back and completes the error.
func (p *process) finish(ctx context.Context, cut bool) {
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
func (p *process) awaitOutput(ctx context.Context, cut bool) bool {
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
// whether it was told to end meanwhile.
func (p *process) awaitFlush(ctx context.Context) (cut bool) {
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
