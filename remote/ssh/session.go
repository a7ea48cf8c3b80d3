package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// Open runs a command line on the host, or opens a service of it.
func (c *dialer) Open(ctx context.Context, line string, options channel.Options) (channel.Channel, error) {
	var display *display
	if options.ForwardX11 {
		var err error
		if display, err = c.prepareX11(ctx); err != nil {
			return nil, err
		}
	}
	opened, err := await(ctx, c, func() (*session, error) {
		s, err := c.openSession()
		if err != nil {
			return nil, err
		}
		if err := s.request(line, options, display); err != nil {
			s.Close()
			return nil, err
		}
		return s, nil
	}, func(late *session) { late.Close() })
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// session is a channel of type session, on which one command runs.
type session struct {
	client   *dialer
	channel  ssh.Channel
	requests <-chan *ssh.Request
	writing  sync.Mutex // held while input is written or ended, which the library does not guard
	ended    chan struct{}
	code     int // -1 if the server has sent none
}

func (c *dialer) openSession() (*session, error) {
	opened, requests, err := c.client.OpenChannel("session", nil)
	var refused *ssh.OpenChannelError
	switch {
	case errors.As(err, &refused):
		// OpenSSH calls it a failed connection when MaxSessions is reached.
		return nil, fmt.Errorf("%w: %s says %s", channel.ErrTooManyChannels, c.settings.alias, visible(refused.Message, 200))
	case err != nil:
		return nil, c.lostBy(err)
	}
	s := &session{client: c, channel: opened, requests: requests, ended: make(chan struct{}), code: -1}
	if !c.spawn(s.follow) {
		s.Close()
		return nil, c.lost()
	}
	return s, nil
}

// lostBy explains the error of a request.
func (c *dialer) lostBy(err error) error {
	if !errors.Is(err, io.EOF) && c.alive() {
		return fmt.Errorf("asking the server of %s: %s", c.settings.alias, visible(err.Error(), 300))
	}
	if errors.Is(err, io.EOF) && c.alive() {
		return fmt.Errorf("the server of %s closed the channel", c.settings.alias)
	}
	return c.giveUp()
}

// giveUp closes a broken connection, and returns the reason.
func (c *dialer) giveUp() error {
	c.wire.Close()
	<-c.ended
	return c.lost()
}

// request sets up the channel and starts the command.
func (s *session) request(line string, options channel.Options, display *display) error {
	for name, value := range s.client.settings.environment {
		// AcceptEnv of the server decides whether it counts.
		if _, err := s.channel.SendRequest("env", false, ssh.Marshal(struct{ Name, Value string }{name, value})); err != nil {
			return s.client.lostBy(err)
		}
	}
	if s.client.forwardsAgent {
		if _, err := s.channel.SendRequest("auth-agent-req@openssh.com", false, nil); err != nil {
			return s.client.lostBy(err)
		}
	}
	if options.Terminal != nil {
		if err := s.demand("pty-req", terminalRequest(options.Terminal), "a terminal (PermitTTY)"); err != nil {
			return err
		}
	}
	if display != nil {
		if err := s.demand("x11-req", display.request(), "to forward X11 (X11Forwarding)"); err != nil {
			return err
		}
	}
	kind := "exec"
	if options.Subsystem {
		kind = "subsystem"
	}
	granted, err := s.channel.SendRequest(kind, true, ssh.Marshal(struct{ Text string }{line}))
	switch {
	case err != nil:
		return s.client.lostBy(err)
	case granted:
		return nil
	case options.Subsystem:
		return fmt.Errorf("%w: %s", channel.ErrNoSubsystem, line)
	}
	return fmt.Errorf("the server of %s refuses to run commands", s.client.settings.alias)
}

func (s *session) demand(name string, payload []byte, meaning string) error {
	granted, err := s.channel.SendRequest(name, true, payload)
	if err != nil {
		return s.client.lostBy(err)
	}
	if !granted {
		return fmt.Errorf("the server of %s refuses %s", s.client.settings.alias, meaning)
	}
	return nil
}

// terminalRequest describes a terminal. The modes are those of a new one, because the
// user's own is in raw mode: the other side echoes and edits lines.
func terminalRequest(terminal *remote.Terminal) []byte {
	modes := ssh.Marshal(struct {
		Echo       uint8
		EchoOn     uint32
		Input      uint8
		InputRate  uint32
		Output     uint8
		OutputRate uint32
		End        uint8
	}{ssh.ECHO, 1, ssh.TTY_OP_ISPEED, 38400, ssh.TTY_OP_OSPEED, 38400, 0})
	return ssh.Marshal(struct {
		Type                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}{terminal.Type, dimension(terminal.Size.Columns), dimension(terminal.Size.Rows), 0, 0, string(modes)})
}

func dimension(characters int) uint32 { return uint32(execution.Length(characters)) }

// follow receives the exit code of the command until the channel ends.
func (s *session) follow() {
	defer close(s.ended)
	for request := range s.requests {
		switch request.Type {
		case "exit-status":
			var status struct{ Code uint32 }
			if ssh.Unmarshal(request.Payload, &status) == nil {
				s.code = int(status.Code & 0xff)
			}
		case "exit-signal":
			var status struct {
				Signal         string
				Core           bool
				Error, Languge string
			}
			if ssh.Unmarshal(request.Payload, &status) == nil {
				name, _, _ := strings.Cut(status.Signal, "@")
				s.code = 128 + int(unix.SignalNum("SIG"+name))
			}
		}
		if request.WantReply {
			// If it is not sent, the channel has ended.
			_ = request.Reply(false, nil)
		}
	}
}

// Stdin is the input of the command.
func (s *session) Stdin() io.WriteCloser { return input{s} }

// Stdout is its output.
func (s *session) Stdout() io.Reader { return s.channel }

// Stderr is its error output.
func (s *session) Stderr() io.Reader { return s.channel.Stderr() }

// input is the way into a channel; closing it is the end of input only.
type input struct{ session *session }

func (i input) Write(p []byte) (int, error) {
	i.session.writing.Lock()
	defer i.session.writing.Unlock()
	count, err := i.session.channel.Write(p)
	if err != nil && i.session.client.wire.failure() != nil {
		err = i.session.client.giveUp()
	}
	return count, err
}

func (i input) Close() error {
	i.session.writing.Lock()
	defer i.session.writing.Unlock()
	// A command that has ended does not mind.
	if err := i.session.channel.CloseWrite(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// Resize sends the size of the terminal.
func (s *session) Resize(size remote.Size) error {
	_, err := s.channel.SendRequest("window-change", false, ssh.Marshal(struct{ Columns, Rows, Width, Height uint32 }{
		dimension(size.Columns), dimension(size.Rows), 0, 0,
	}))
	return s.unlessEnded(err)
}

// Signal asks the server to send a signal.
func (s *session) Signal(signal syscall.Signal) error {
	name := strings.TrimPrefix(unix.SignalName(signal), "SIG")
	if name == "" {
		return fmt.Errorf("signal %d has no name that %s supports", int(signal), s.client.settings.alias)
	}
	_, err := s.channel.SendRequest("signal", false, ssh.Marshal(struct{ Name string }{name}))
	return s.unlessEnded(err)
}

// unlessEnded returns the error of a request, nil if the command has ended.
func (s *session) unlessEnded(err error) error {
	switch {
	case err == nil:
		return nil
	case execution.IsClosed(s.client.ended):
		return s.client.lost()
	case execution.IsClosed(s.ended), errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// Wait waits for the end of the command.
func (s *session) Wait() (code int, err error) {
	<-s.ended
	if s.code >= 0 {
		return s.code, nil
	}
	if s.client.alive() {
		return -1, fmt.Errorf("the server of %s closed the channel without an exit code", s.client.settings.alias)
	}
	return -1, s.client.lostBy(io.EOF)
}

// Close ends the channel.
func (s *session) Close() error {
	if err := s.channel.Close(); err != nil && !errors.Is(err, io.EOF) {
		return s.unlessEnded(err)
	}
	return nil
}
