package track

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/execution"
)

const (
	// mostTail is the length of the kept end of each stream, in bytes.
	mostTail = 4 << 10
	// copySize is the size of the pipe and of the buffer for copying.
	copySize = 256 << 10
	// lateOutput bounds how long to wait for the output of processes that outlive the program.
	lateOutput = time.Second
)

// A stream passes on the output of the program and keeps its end.
type stream struct {
	to        *os.File // the wrapper's own stream
	far       *os.File // the program's end
	near      *os.File // the wrapper's end; nil if the program has the wrapper's own stream
	kept      tail
	finishing sync.WaitGroup
}

// newStream returns a stream of the program that replaces one of this process. An interactive program
// uses the terminal itself; otherwise a program that expects a terminal gets a new one.
func newStream(to *os.File, isInteractive bool) (*stream, error) {
	s := &stream{to: to, far: to}
	if isTerminal(to) {
		if isInteractive {
			return s, nil
		}
		return s, s.openTerminal()
	}
	near, far, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.near, s.far = near, far
	// A small pipe only makes the program wait more often.
	_ = execution.Control(near, func(descriptor int) error {
		_, err := unix.FcntlInt(uintptr(descriptor), unix.F_SETPIPE_SZ, copySize)
		return err
	})
	return s, nil
}

// openTerminal creates a terminal for the program that passes bytes on unchanged: the wrapper's terminal
// processes them.
func (s *stream) openTerminal() error {
	near, far, err := execution.OpenTerminal()
	if err != nil {
		return err
	}
	s.near, s.far = near, far
	return execution.Control(far, func(descriptor int) error {
		settings, err := unix.IoctlGetTermios(descriptor, unix.TCGETS)
		if err != nil {
			return err
		}
		settings.Oflag &^= unix.OPOST
		settings.Lflag &^= unix.ECHO
		if size, err := unix.IoctlGetWinsize(int(s.to.Fd()), unix.TIOCGWINSZ); err == nil {
			_ = unix.IoctlSetWinsize(descriptor, unix.TIOCSWINSZ, size) // optional
		}
		return unix.IoctlSetTermios(descriptor, unix.TCSETS, settings)
	})
}

func isTerminal(file *os.File) bool {
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}

// started starts passing on the program's output.
func (s *stream) started() {
	if s.near == nil {
		return
	}
	_ = s.far.Close() // the program has a copy
	s.finishing.Go(s.copy)
}

func (s *stream) copy() {
	source := execution.NewLateReader(s.near)
	buffer := make([]byte, copySize)
	for {
		count, err := source.Read(buffer)
		if count > 0 {
			s.kept.add(buffer[:count])
			if _, failure := s.to.Write(buffer[:count]); failure != nil {
				s.refuse(failure)
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// refuse makes further writes of the program fail, as writes to the wrapper's stream do.
func (s *stream) refuse(err error) {
	_ = s.near.Close() // only read
	if !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(os.Stderr, "rmctl-node: passing on the output: %v\n", err)
	}
}

// drain waits until all output of the program was passed on.
func (s *stream) drain() {
	if s.near == nil {
		return
	}
	_ = s.near.SetReadDeadline(time.Now().Add(lateOutput)) // fails only if it is closed
	s.finishing.Wait()
	_ = s.near.Close() // only read
}

// close closes a stream that no program uses.
func (s *stream) close() {
	if s.near != nil {
		_ = s.far.Close()
		s.drain()
	}
}

// A tail keeps the end of its input.
type tail struct {
	mutex sync.Mutex
	text  []byte
	total int64
}

func (t *tail) add(data []byte) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.total += int64(len(data))
	if len(data) >= mostTail {
		t.text = append(t.text[:0], data[len(data)-mostTail:]...)
		return
	}
	if excess := len(t.text) + len(data) - mostTail; excess > 0 {
		t.text = t.text[:copy(t.text, t.text[excess:])]
	}
	t.text = append(t.text, data...)
}

// end returns the kept bytes and the total number of bytes.
func (t *tail) end() (string, int64) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return string(t.text), t.total
}
