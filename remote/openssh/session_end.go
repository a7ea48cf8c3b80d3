package openssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// Stdin is the input of the command. Closing that of a terminal does nothing: the end of
// its input has to be typed.
func (s *session) Stdin() io.WriteCloser { return s.stdin }

// Stdout is the output of the command.
func (s *session) Stdout() io.Reader { return s.stdout }

// Stderr is the error output of the command. Without a master, a server's banner comes
// first.
func (s *session) Stderr() io.Reader { return s.stderr }

// Resize sets the size of the terminal, and notifies ssh, which notifies the host.
func (s *session) Resize(size remote.Size) error {
	if s.terminal == nil {
		return errors.New("resizing a terminal: the channel has no terminal")
	}
	if err := execution.Resize(s.terminal, size.Columns, size.Rows); err != nil {
		return err
	}
	if s.way == throughOwnMaster {
		// The ssh of the channel would do this too, but not at once.
		s.dialer.master.signal(syscall.SIGWINCH)
	} else {
		s.process.signal(syscall.SIGWINCH)
	}
	return nil
}

// Signal always fails: the ssh program has no way to send signals.
func (s *session) Signal(syscall.Signal) error {
	return fmt.Errorf("sending a signal through the ssh program: %w", errors.ErrUnsupported)
}

// Wait waits for the end. The code is 255 for a command that a signal ended, because ssh
// does not report which one. The messages of ssh, which the command cannot forge, and the
// master show whether ssh itself has failed.
func (s *session) Wait() (int, error) {
	p := s.process
	<-p.ended
	switch {
	case p.err != nil:
		return -1, fmt.Errorf("running ssh for %s: %w", s.dialer.options.Host, p.err)
	case p.messages.finished.isFound() && p.code >= 0:
		return p.code, nil
	case p.cut.Load():
		return -1, s.dialer.lost(errClosed)
	case p.code < 0:
		return -1, s.dialer.lost(errors.New("its ssh was ended by a signal"))
	case p.messages.killed.isFound():
		return 255, nil
	case s.way == directly:
		return -1, s.dialer.lost(lastLines(p.messages.text.String()))
	}
	if !s.dialer.masterAnswers(context.Background(), s.way) {
		return -1, s.dialer.lostMaster()
	}
	if s.options.Subsystem && !s.heard.Load() {
		return -1, fmt.Errorf("opening %q at %s: %w", s.line, s.dialer.options.Host, channel.ErrNoSubsystem)
	}
	return 255, nil
}

// lostMaster returns why the connection is gone.
func (d *dialer) lostMaster() error {
	if d.way == throughUsersMaster {
		return d.lost(errors.New("the user's control master does not answer"))
	}
	if !execution.ClosesWithin(d.master.ended, endGrace) {
		return d.lost(errors.New("the control master does not answer"))
	}
	d.drainMaster()
	return d.lost(lastLines(d.master.messages.text.String() + d.masterErrors.String()))
}

// Close ends ssh, and with it the channel.
func (s *session) Close() error {
	s.closeOnce.Do(func() {
		if s.process != nil {
			if s.silent.Load() {
				// It is about to end by itself, with its exit code.
				execution.ClosesWithin(s.process.ended, lastWords)
			}
			s.process.end()
		}
		s.closeErr = execution.CloseAll(s.own...) // those too that the caller has closed
		if s.dropped != nil {
			<-s.dropped
		}
	})
	return s.closeErr
}

// dropErrors discards the error stream of ssh for a terminal, which has only messages of
// ssh itself.
func (s *session) dropErrors() {
	source := s.stderr
	s.dropped = make(chan struct{})
	go func() {
		defer close(s.dropped)
		// It fails when the channel is closed.
		_, _ = io.Copy(io.Discard, source)
	}()
	s.stderr = strings.NewReader("")
}

// restOfErrors reads the error stream of an ssh that has ended.
func (s *session) restOfErrors() string {
	source, isFile := s.stderr.(*os.File)
	if !isFile || source.SetReadDeadline(time.Now().Add(lastWords)) != nil {
		return ""
	}
	text := &tail{}
	// Processes that it started may hold the stream open until the deadline.
	_, _ = io.Copy(text, execution.NewLateReader(source))
	return text.String()
}

// terminalInput types into a terminal.
type terminalInput struct{ *os.File }

// Close leaves the terminal open, for its output.
func (terminalInput) Close() error { return nil }

// noticingReader notes the first byte and the end of a stream.
type noticingReader struct {
	source io.Reader
	heard  *atomic.Bool // set at the first byte
	silent *atomic.Bool // set at the end
}

// Read reads from its source.
func (r noticingReader) Read(buffer []byte) (int, error) {
	count, err := r.source.Read(buffer)
	if count > 0 {
		r.heard.Store(true)
	}
	if err == io.EOF {
		r.silent.Store(true)
	}
	return count, err
}
