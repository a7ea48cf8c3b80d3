package execution

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// OpenTerminal returns our end of a new pseudo-terminal and the device for a process. Our
// end supports deadlines, and its Close wakes up readers.
func OpenTerminal() (terminal, device *os.File, err error) {
	opened, device, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	// What pty.Open returns was set to block, and cannot be unset.
	terminal, err = Duplicate(opened)
	if err = errors.Join(err, opened.Close()); err != nil {
		return nil, nil, errors.Join(err, device.Close())
	}
	return terminal, device, nil
}

// Duplicate returns a second, non-blocking file of the same terminal, so that
// one can be closed while the other is in use.
func Duplicate(file *os.File) (*os.File, error) {
	descriptor := -1
	err := Control(file, func(original int) (err error) {
		if descriptor, err = unix.FcntlInt(uintptr(original), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return err
		}
		return unix.SetNonblock(descriptor, true)
	})
	if err != nil {
		if descriptor >= 0 {
			err = errors.Join(err, unix.Close(descriptor))
		}
		return nil, err
	}
	return os.NewFile(uintptr(descriptor), file.Name()), nil
}

// Control calls do with the descriptor of an open file.
func Control(file *os.File, do func(descriptor int) error) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var doErr error
	err = connection.Control(func(descriptor uintptr) { doErr = do(int(descriptor)) })
	return errors.Join(err, doErr)
}

// Resize sets the size of a terminal, which notifies its processes.
func Resize(terminal *os.File, columns, rows int) error {
	err := Control(terminal, func(descriptor int) error {
		return unix.IoctlSetWinsize(descriptor, unix.TIOCSWINSZ, &unix.Winsize{Row: Length(rows), Col: Length(columns)})
	})
	if err != nil {
		return fmt.Errorf("setting the size of the terminal: %w", err)
	}
	return nil
}

// Length is a number of columns or rows as terminals know it.
func Length(characters int) uint16 {
	return uint16(min(max(characters, 0), math.MaxUint16))
}
