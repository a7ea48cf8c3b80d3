package execution

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// A pipe holds at most pipeCapacity bytes on the known systems, unless a privileged process
// raised the limit. After drainPause without data it counts as empty.
const (
	pipeCapacity = 1 << 20
	drainPause   = 5 * time.Millisecond
)

// LateReader reads a pipe or a terminal to its end, or until its deadline has passed and it
// is empty. So it returns all that a process wrote before it ended.
type LateReader struct {
	source *os.File
	isLate bool
	count  int // of bytes since it is late
}

// NewLateReader returns a reader of a file that can have a deadline.
func NewLateReader(source *os.File) *LateReader { return &LateReader{source: source} }

// Read reads from the file. Once its deadline has passed and it is empty the error
// is os.ErrDeadlineExceeded.
func (r *LateReader) Read(buffer []byte) (int, error) {
	if !r.isLate {
		count, err := r.source.Read(buffer)
		if r.isLate = errors.Is(err, os.ErrDeadlineExceeded); !r.isLate {
			return count, end(err)
		}
	}
	if r.count >= pipeCapacity { // processes that live on write into it
		return 0, os.ErrDeadlineExceeded
	}
	if err := r.source.SetReadDeadline(time.Now().Add(drainPause)); err != nil {
		return 0, err
	}
	count, err := r.source.Read(buffer)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		count, err = readNow(r.source, buffer)
	}
	r.count += count
	return count, end(err)
}

// end returns io.EOF for EIO, with which a terminal of Linux ends when no process has it
// open.
func end(err error) error {
	if errors.Is(err, syscall.EIO) {
		return io.EOF
	}
	return err
}

// readNow reads from a pipe or terminal without waiting, and clears its deadline. The error
// is os.ErrDeadlineExceeded if it is empty, io.EOF at its end. On a busy machine a deadline
// may pass before a Read begins, which then does not read at all.
func readNow(source *os.File, buffer []byte) (count int, err error) {
	connection, err := source.SyscallConn()
	if err != nil {
		return 0, err
	}
	if err := source.SetReadDeadline(time.Time{}); err != nil {
		return 0, err
	}
	var readErr error
	err = connection.Read(func(descriptor uintptr) bool {
		for {
			if count, readErr = syscall.Read(int(descriptor), buffer); readErr != syscall.EINTR {
				return true
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case readErr == syscall.EAGAIN:
		return 0, os.ErrDeadlineExceeded
	case readErr != nil:
		return 0, readErr
	case count == 0:
		return 0, io.EOF
	}
	return count, nil
}
