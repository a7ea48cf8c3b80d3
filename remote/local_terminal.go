package remote

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/execution"
)

// connectTerminal gives the child a new pseudo-terminal for all its streams.
func (p *localProcess) connectTerminal(command Command) error {
	master, slave, err := execution.OpenTerminal()
	if err != nil {
		return fmt.Errorf("opening a pseudo-terminal: %w", err)
	}
	input, err := execution.Duplicate(master)
	if err != nil {
		return errors.Join(fmt.Errorf("opening a pseudo-terminal: %w", err), master.Close(), slave.Close())
	}
	sink := command.Stdout
	if sink == nil {
		sink = io.Discard
	}
	p.terminal, p.input = slave, input
	p.output = []*outputCopy{{source: master, sink: execution.Sink{Writer: sink}, ended: make(chan struct{})}}
	p.child.Stdin, p.child.Stdout, p.child.Stderr = slave, slave, slave
	p.child.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	return resize(master, command.Terminal.Size)
}

// ignoresHangUp reports whether this process was started to ignore SIGHUP, as by nohup.
var ignoresHangUp = sync.OnceValue(func() bool { return signal.Ignored(syscall.SIGHUP) })

// heedHangUp lets children that are started until release is called have the default for
// SIGHUP: a program on a terminal of ours is hung up on, whatever this process ignores.
// Children of a process that handles a signal have its default.
func heedHangUp() (release func()) {
	if !ignoresHangUp() {
		return func() {}
	}
	unheard := make(chan os.Signal, 1)
	signal.Notify(unheard, syscall.SIGHUP)
	return func() { signal.Stop(unheard) }
}

func resize(terminal *os.File, size Size) error {
	return execution.Resize(terminal, size.Columns, size.Rows)
}

// followSizes sets the sizes of the terminal until endSizes is closed.
func (p *localProcess) followSizes(sizes <-chan Size) {
	defer close(p.sizesEnded)
	for {
		select {
		case size, more := <-sizes:
			if !more {
				return
			}
			if err := resize(p.terminal, size); err != nil {
				p.sizesErr = err
				return
			}
		case <-p.endSizes:
			return
		}
	}
}

// endTerminal ends what serves the terminal once the process has ended, so that
// its output ends as soon as no other process has it.
func (p *localProcess) endTerminal() error {
	if p.terminal == nil {
		return nil
	}
	close(p.endSizes)
	<-p.sizesEnded
	return errors.Join(p.sizesErr, p.terminal.Close())
}

// signalSession sends a signal to all processes of a terminal's session, whose shells put
// them in groups of their own. It reports whether a process got the signal.
func signalSession(session int, number syscall.Signal) bool {
	members, err := sessionMembers(session)
	if err != nil {
		return syscall.Kill(-session, number) == nil
	}
	reached := false
	for _, id := range members {
		process, err := os.FindProcess(id)
		if err != nil {
			continue
		}
		// The id may belong to another process by now, but not while it is held.
		if current, err := unix.Getsid(id); err == nil && current == session && process.Signal(number) == nil {
			reached = true
		}
		if err := process.Release(); err != nil {
			continue // it was released by having ended
		}
	}
	return reached
}
