package openssh

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/rmctl/rmctl/remote"
)

// openTerminal returns our side of a new pseudo-terminal, which a Close wakes
// up readers of, and the device that ssh gets.
func openTerminal() (terminal, device *os.File, err error) {
	opened, device, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("opening a terminal for ssh: %w", err)
	}
	// What pty.Open returns was set to block, and cannot be unset.
	descriptor := -1
	err = withDescriptor(opened, func(original int) (err error) {
		if descriptor, err = unix.FcntlInt(uintptr(original), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return err
		}
		return unix.SetNonblock(descriptor, true)
	})
	err = errors.Join(err, opened.Close())
	if descriptor >= 0 {
		terminal = os.NewFile(uintptr(descriptor), opened.Name())
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("opening a terminal for ssh: %w", err), device.Close())
		if terminal != nil {
			err = errors.Join(err, terminal.Close())
		}
		return nil, nil, err
	}
	return terminal, device, nil
}

// withDescriptor does something with an open file that os.File does not offer.
func withDescriptor(file *os.File, do func(descriptor int) error) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var doErr error
	err = connection.Control(func(descriptor uintptr) { doErr = do(int(descriptor)) })
	return errors.Join(err, doErr)
}

// setSize sets the size of a terminal.
func setSize(terminal *os.File, size remote.Size) error {
	bounded := func(characters int) uint16 { return uint16(min(max(characters, 0), 1<<16-1)) }
	err := withDescriptor(terminal, func(descriptor int) error {
		return unix.IoctlSetWinsize(descriptor, unix.TIOCSWINSZ, &unix.Winsize{Row: bounded(size.Rows), Col: bounded(size.Columns)})
	})
	if err != nil {
		return fmt.Errorf("setting the size of the terminal of ssh: %w", err)
	}
	return nil
}

// makeRaw lets a terminal pass everything on as it is.
func makeRaw(terminal *os.File) error {
	err := withDescriptor(terminal, func(descriptor int) error {
		_, err := term.MakeRaw(descriptor)
		return err
	})
	if err != nil {
		return fmt.Errorf("setting the modes of the terminal of ssh: %w", err)
	}
	return nil
}

// echoes reports whether a terminal shows what is typed, which ssh switches off
// for what is secret.
func echoes(terminal *os.File) (bool, error) {
	shown := false
	err := withDescriptor(terminal, func(descriptor int) error {
		modes, err := unix.IoctlGetTermios(descriptor, getTerminalModes)
		if err == nil {
			shown = modes.Lflag&unix.ECHO != 0
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("asking the terminal of ssh for its modes: %w", err)
	}
	return shown, nil
}
