package openssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// invocation is a running ssh. It leads a session of its own, so that signals of the
// user's terminal do not reach it, and so that all its children end with it.
type invocation struct {
	command      *exec.Cmd
	messages     *messages
	conversation *conversation // nil for one that never asks

	signals sync.Mutex // held while a signal is sent, so that its id is still its own
	reaped  bool

	endOnce sync.Once
	cut     atomic.Bool   // whether end has ended it
	ended   chan struct{} // closed when code and err are final
	code    int           // 255 for a failure of ssh itself
	err     error
}

// streams are the ends of pipes or terminals that ssh gets; nil ones are
// /dev/null.
type streams struct{ stdin, stdout, stderr *os.File }

// close closes our copies of them. Input and output may be one terminal.
func (s streams) close() error { return execution.CloseAll(s.stdin, s.stdout, s.stderr) }

// call says how ssh is started.
type call struct {
	arguments    func(messages string) []string // for the path of the pipe for messages
	streams      streams                        // of the caller, who closes them
	asks         bool                           // whether ssh may ask the user
	errors       *tail                          // shown with questions, as its messages are; may be nil
	terminalType string
}

// start starts ssh.
func (d *dialer) start(ctx context.Context, c call) (p *invocation, err error) {
	p = &invocation{ended: make(chan struct{})}
	if p.messages, err = listen(d.newMessagePath()); err != nil {
		return nil, err
	}
	if c.asks {
		if p.conversation, err = newConversation(d.options.Host, d.options.Prompter, recent(&p.messages.text, c.errors)); err != nil {
			return nil, errors.Join(err, p.messages.finish())
		}
	}
	p.command = exec.Command(d.options.Program, c.arguments(p.messages.path)...)
	p.command.Env = environment(c.terminalType)
	if c.streams.stdin != nil {
		p.command.Stdin = c.streams.stdin
	}
	if c.streams.stdout != nil {
		p.command.Stdout = c.streams.stdout
	}
	if c.streams.stderr != nil {
		p.command.Stderr = c.streams.stderr
	}
	p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p.conversation != nil {
		p.command.ExtraFiles = []*os.File{p.conversation.device}
		p.command.SysProcAttr.Setctty = true
		p.command.SysProcAttr.Ctty = 3 // where the extra files begin
	}
	if err := d.launch(p); err != nil {
		if p.conversation != nil {
			err = errors.Join(err, p.conversation.close())
		}
		return nil, errors.Join(err, p.messages.finish())
	}
	// A question ends with ssh.
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if p.conversation != nil {
		p.conversation.giveUp = func() { p.signal(syscall.SIGTERM) }
		go p.conversation.run(asking)
	}
	go func() {
		defer close(p.ended)
		defer d.forget(p)
		p.wait(cancel)
	}()
	return p, nil
}

// launch starts the process, and registers it for Close to end.
func (d *dialer) launch(p *invocation) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.closed {
		return d.lost(errClosed)
	}
	if err := p.command.Start(); err != nil {
		return d.failure(remote.BadConfiguration, fmt.Errorf("starting %s: %w", d.options.Program, err))
	}
	d.open[p] = struct{}{}
	return nil
}

// wait follows the process to its end.
func (p *invocation) wait(stopAsking func()) {
	waitErr := p.command.Wait()
	p.signals.Lock()
	p.reaped = true
	p.signals.Unlock()
	stopAsking()
	if p.conversation != nil {
		p.err = p.conversation.close()
		<-p.conversation.ended
	}
	p.code = p.command.ProcessState.ExitCode()
	if _, hasEnded := errors.AsType[*exec.ExitError](waitErr); waitErr != nil && !hasEnded {
		p.err = errors.Join(p.err, fmt.Errorf("waiting for ssh: %w", waitErr))
	}
	p.err = errors.Join(p.err, p.messages.finish())
}

// signal sends a signal to ssh and all that it started.
func (p *invocation) signal(number syscall.Signal) {
	p.signals.Lock()
	defer p.signals.Unlock()
	if p.reaped {
		return
	}
	// The only possible failure is that no process is left.
	_ = syscall.Kill(-p.command.Process.Pid, number)
}

// end ends the process and waits until it has ended.
func (p *invocation) end() {
	p.endOnce.Do(func() {
		if p.hasEnded() {
			return
		}
		p.cut.Store(true)
		p.signal(syscall.SIGTERM)
		if !execution.ClosesWithin(p.ended, endGrace) {
			p.signal(syscall.SIGKILL)
		}
	})
	<-p.ended
}

func (p *invocation) hasEnded() bool { return execution.IsClosed(p.ended) }

// errStartLimit reports that ssh took too long.
var errStartLimit = errors.New("no answer in time")

// awaitStart waits until ready, which it polls and calls after each event, or until the
// process has ended. It does not end the process.
func (p *invocation) awaitStart(ctx context.Context, limit time.Duration, poll <-chan time.Time, ready func() bool) (bool, error) {
	patience := time.NewTimer(limit)
	defer patience.Stop()
	var asking <-chan bool
	if p.conversation != nil {
		asking = p.conversation.asking
		defer close(p.conversation.unheeded)
	}
	for !ready() {
		select {
		case <-p.messages.opened.found:
		case <-poll:
		case <-p.ended:
			return ready(), nil
		case <-ctx.Done():
			return false, ctx.Err()
		case <-patience.C:
			return false, errStartLimit
		case begins := <-asking:
			patience.Stop()
			if !begins {
				patience.Reset(limit)
			}
		}
	}
	return true, nil
}
