package openssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// session is one ssh process with a command at its other end.
type session struct {
	dialer  *dialer
	process *invocation
	line    string
	options channel.Options
	way     way

	stdin    io.WriteCloser
	stdout   io.Reader
	stderr   io.Reader
	terminal *os.File      // nil without one
	own      []*os.File    // our ends of all of them
	dropped  chan struct{} // not nil while errors are dropped; closed at their end
	heard    atomic.Bool   // the host has sent something
	silent   atomic.Bool   // the output has ended

	closeOnce sync.Once
	closeErr  error
}

// Open runs a command line, or opens a service. A channel with ForwardX11 is a connection
// of its own, so that the shared one gives no server access to the user's display.
//
// Through a master, ssh does not report a service that is not offered: the channel's
// output ends at once, and Wait returns ErrNoSubsystem.
func (d *dialer) Open(ctx context.Context, line string, options channel.Options) (channel.Channel, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("opening a channel to %s: %w", d.options.Host, err)
	}
	if options.ForwardX11 && os.Getenv("DISPLAY") == "" {
		return nil, fmt.Errorf("forwarding X11 from %s: DISPLAY does not name a display of this machine", d.options.Host)
	}
	s := &session{dialer: d, line: line, options: options, way: d.way}
	if options.ForwardX11 && s.way == throughOwnMaster {
		s.way = directly
	}
	if err := s.open(ctx); err != nil {
		closeErr := s.Close()
		if d.isClosed() {
			err = d.lost(errClosed)
		}
		return nil, errors.Join(err, closeErr)
	}
	return s, nil
}

func (s *session) open(ctx context.Context) error {
	theirs, err := s.makeStreams()
	if err != nil {
		return err
	}
	if err := errors.Join(s.start(ctx, theirs), theirs.close()); err != nil {
		return err
	}
	return s.awaitOpen(ctx)
}

// makeStreams makes pipes, or a terminal, and returns the ends that ssh gets.
func (s *session) makeStreams() (streams, error) {
	var theirs streams
	failed := func(err error) (streams, error) {
		return streams{}, errors.Join(fmt.Errorf("making streams for ssh: %w", err), theirs.close())
	}
	if options := s.options.Terminal; options != nil {
		terminal, device, err := execution.OpenTerminal()
		if err != nil {
			return failed(err)
		}
		s.terminal, s.own = terminal, append(s.own, terminal)
		theirs.stdin, theirs.stdout = device, device
		if err := execution.Resize(terminal, options.Size.Columns, options.Size.Rows); err != nil {
			return failed(err)
		}
		s.stdin, s.stdout = terminalInput{terminal}, execution.NewLateReader(terminal)
	} else {
		input, ours, err := os.Pipe()
		if err != nil {
			return failed(err)
		}
		theirs.stdin, s.stdin, s.own = input, ours, append(s.own, ours)
		output, theirOutput, err := os.Pipe()
		if err != nil {
			return failed(err)
		}
		theirs.stdout, s.stdout, s.own = theirOutput, noticingReader{output, &s.heard, &s.silent}, append(s.own, output)
	}
	problems, theirProblems, err := os.Pipe()
	if err != nil {
		return failed(err)
	}
	theirs.stderr, s.stderr, s.own = theirProblems, problems, append(s.own, problems)
	return theirs, nil
}

// start starts ssh with the streams.
func (s *session) start(ctx context.Context, theirs streams) (err error) {
	terminalType := ""
	if terminal := s.options.Terminal; terminal != nil {
		terminalType = terminal.Type
	}
	s.process, err = s.dialer.start(ctx, call{
		arguments: func(messages string) []string { return s.dialer.channelArguments(s.line, s.options, s.way, messages) },
		streams:   theirs, asks: s.way == directly, terminalType: terminalType,
	})
	return err
}

// awaitOpen waits until ssh reports that the command runs.
func (s *session) awaitOpen(ctx context.Context) error {
	d := s.dialer
	opened, err := s.process.awaitStart(ctx, d.options.StartLimit, nil, s.process.messages.opened.isFound)
	switch {
	case errors.Is(err, errStartLimit):
		return d.noAnswer()
	case err != nil:
		return fmt.Errorf("opening a channel to %s: %w", d.options.Host, err)
	case opened:
		// The answer to this comes before the one to the command.
		if s.options.ForwardX11 && x11Refused.MatchString(s.process.messages.text.String()) {
			return fmt.Errorf("forwarding X11 from %s: the server refuses it (X11Forwarding)", d.options.Host)
		}
		if s.terminal != nil {
			s.dropErrors()
			// The host has copied the modes of our terminal. From now on ours must pass
			// everything on. ssh sets that as well, but perhaps after the first input.
			return makeRaw(s.terminal)
		}
		return nil
	}
	stderr := s.restOfErrors()
	if s.options.Subsystem && subsystemRefused.MatchString(s.process.messages.text.String()+stderr) {
		return fmt.Errorf("opening %q at %s: %w", s.line, d.options.Host, channel.ErrNoSubsystem)
	}
	if err := d.explain(s.process, stderr); s.way == directly || errors.Is(err, channel.ErrTooManyChannels) || d.masterAnswers(ctx, s.way) {
		return err
	}
	return d.lostMaster()
}
