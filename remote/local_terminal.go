package remote

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// What is typed at a terminal to tell that there is no more input, and after
// which characters a line begins, so that typing it once is enough.
const (
	endOfInput   = "\x04"
	endOfTheLine = "\n\r\x03\x04\x1c"
)

// connectTerminal gives the child a new pseudo-terminal for all its streams.
func (p *localProcess) connectTerminal(command Command) error {
	master, slave, err := openTerminal()
	if err != nil {
		return fmt.Errorf("opening a pseudo-terminal: %w", err)
	}
	input, err := duplicate(master)
	if err != nil {
		return errors.Join(fmt.Errorf("opening a pseudo-terminal: %w", err), master.Close(), slave.Close())
	}
	sink := command.Stdout
	if file, isFile := sink.(*os.File); sink == nil || isFile && file == nil {
		sink = io.Discard
	}
	p.terminal, p.input = slave, input
	p.output = []*outputCopy{{source: master, sink: sink, isTerminal: true, ended: make(chan struct{})}}
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

// openTerminal returns both ends of a new pseudo-terminal; ours can be read
// with a deadline.
func openTerminal() (master, slave *os.File, err error) {
	opened, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	// What pty.Open returns was set to block, and cannot be unset.
	master, err = duplicate(opened)
	err = errors.Join(err, opened.Close())
	if err != nil {
		return nil, nil, errors.Join(err, slave.Close())
	}
	return master, slave, nil
}

// duplicate returns a second, non-blocking file of the same terminal, so that
// one can be closed while the other is in use.
func duplicate(file *os.File) (*os.File, error) {
	connection, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	descriptor := -1
	var duplicateErr error
	err = connection.Control(func(original uintptr) {
		descriptor, duplicateErr = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
		if duplicateErr == nil {
			duplicateErr = unix.SetNonblock(descriptor, true)
		}
	})
	if err = errors.Join(err, duplicateErr); err != nil {
		if descriptor >= 0 {
			err = errors.Join(err, unix.Close(descriptor))
		}
		return nil, err
	}
	return os.NewFile(uintptr(descriptor), file.Name()), nil
}

// resize sets the size of a terminal, which tells its processes.
func resize(terminal *os.File, size Size) error {
	connection, err := terminal.SyscallConn()
	if err != nil {
		return fmt.Errorf("setting the size of its terminal: %w", err)
	}
	var resizeErr error
	err = connection.Control(func(descriptor uintptr) {
		resizeErr = unix.IoctlSetWinsize(int(descriptor), unix.TIOCSWINSZ,
			&unix.Winsize{Row: terminalLength(size.Rows), Col: terminalLength(size.Columns)})
	})
	if err = errors.Join(err, resizeErr); err != nil {
		return fmt.Errorf("setting the size of its terminal: %w", err)
	}
	return nil
}

// terminalLength is a length as terminals know it.
func terminalLength(characters int) uint16 {
	return uint16(min(max(characters, 0), math.MaxUint16))
}

// followSizes passes on the sizes of the terminal until it is told to end.
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

// signalSession sends a signal to all processes of a terminal's session, whose
// shells put them in groups of their own. It reports whether there was anybody
// to reach.
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
		// Its id may mean another process by now, but not once it is held.
		if current, err := unix.Getsid(id); err == nil && current == session && process.Signal(number) == nil {
			reached = true
		}
		if err := process.Release(); err != nil {
			continue // it was released by having ended
		}
	}
	return reached
}
