package agentclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// Ways to reach an agent.
const (
	Stdio = "stdio" // by the standard input and output of its process
	TCP   = "tcp"   // it connects to a port
)

// exitPatience is the time for an agent's process to exit after its session.
const exitPatience = time.Second

// A stream is a connection to an agent, and the agent's process.
type stream struct {
	io.Reader
	io.Writer
	hangUp func()        // stops reading and writing
	ended  chan struct{} // closed when the process has ended
	handle remote.Handle
}

// close ends the connection and the process. After an orderly end of the session, the process has some
// time to exit.
func (s *stream) close(isOrderly bool) {
	s.hangUp()
	if !isOrderly || !execution.ClosesWithin(s.ended, exitPatience) {
		s.handle.Terminate()
	}
	<-s.ended
}

// connect starts the agent and returns the connection to it.
func (o *Options) connect(ctx context.Context, report *reporter) (*stream, error) {
	switch {
	case len(o.Agent) == 0:
		return nil, errNoProgram
	case o.Proxy == "" || o.Proxy == Stdio:
		return o.connectStdio(ctx, report)
	case o.Proxy == TCP:
		return o.connectTCP(ctx, report)
	}
	return nil, fmt.Errorf("unknown proxy %q: use %s or %s", o.Proxy, Stdio, TCP)
}

// command returns the command that starts the agent.
func (o *Options) command(arguments ...string) remote.Command {
	return remote.Command{Arguments: append(slices.Clone(o.Agent), arguments...), Directory: o.Directory, Environment: o.Environment}
}

// connectStdio starts an agent that uses its standard input and output.
func (o *Options) connectStdio(ctx context.Context, report *reporter) (*stream, error) {
	input, toAgent := io.Pipe()
	fromAgent, output := io.Pipe()
	lines := &lineWriter{line: report.line}
	command := o.command()
	command.Stdin, command.Stdout, command.Stderr = input, output, lines
	handle, err := o.Connection.Start(ctx, command)
	if err != nil {
		return nil, err
	}
	s := &stream{Reader: fromAgent, Writer: toAgent, handle: handle, ended: make(chan struct{})}
	s.hangUp = func() {
		_ = toAgent.Close()
		_ = fromAgent.CloseWithError(errClosed)
	}
	go func() {
		defer close(s.ended)
		err := exitError(handle.Wait())
		lines.end()
		_ = output.CloseWithError(err)
		_ = input.CloseWithError(io.ErrClosedPipe)
	}()
	return s, nil
}

// exitError returns why an agent's process ended: io.EOF for exit code 0.
func exitError(code int, err error) error {
	switch {
	case errors.Is(err, remote.ErrUnreachable):
		return err
	case code > 0:
		return fmt.Errorf("the agent exited with code %d", code)
	}
	return io.EOF
}

// connectTCP starts an agent that connects to a port, and accepts one connection.
func (o *Options) connectTCP(ctx context.Context, report *reporter) (*stream, error) {
	if o.Listen == nil {
		return nil, errors.New("this connection cannot listen for the agent")
	}
	listener, err := o.Listen(ctx)
	if err != nil {
		return nil, err
	}
	arguments, err := addressArguments(listener.Addr())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	lines := &lineWriter{line: report.line}
	command := o.command(arguments...)
	command.Stdout, command.Stderr = lines, lines
	handle, err := o.Connection.Start(ctx, command)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &stream{handle: handle, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		err := exitError(handle.Wait())
		lines.end()
		if errors.Is(err, io.EOF) {
			err = errors.New("the agent ended without connecting")
		}
		cancel(err)
	}()
	conn, err := o.accept(waiting, listener)
	if err != nil {
		s.hangUp = func() {}
		s.close(false)
		return nil, err
	}
	s.Reader, s.Writer, s.hangUp = conn, conn, func() { _ = conn.Close() }
	return s, nil
}

// addressArguments returns the options with the address for the agent.
func addressArguments(address net.Addr) ([]string, error) {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return nil, fmt.Errorf("listening for the agent: %w", err)
	}
	if number, err := strconv.Atoi(port); err != nil || number <= 0 {
		return nil, fmt.Errorf("listening for the agent: address %s has no port", address)
	}
	return []string{"--proxy=tcp", "--host=" + host, "--port=" + port}, nil
}

// accept accepts one connection within the limit and stops listening. The process at the
// other end must pass the check.
func (o *Options) accept(ctx context.Context, listener net.Listener) (net.Conn, error) {
	limit := cmp.Or(o.Limit, answerLimit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the agent did not connect within %s", limit))
	defer cancel()
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = listener.Close()
	})
	conn, err := listener.Accept()
	if stop() {
		_ = listener.Close()
	} else {
		<-closed
	}
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	if o.CheckPeer == nil {
		return conn, nil
	}
	if err := o.CheckPeer(ctx, conn); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrPeer, err), conn.Close())
	}
	return conn, nil
}
