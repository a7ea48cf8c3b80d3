// Package bridge provides a connection in which an agent executes the commands of [definition.Command]
// and serves files below [definition.OutputFolder]. It passes everything else to the underlying
// connection. With the definition from package definition, a target with an agent works like any other.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/agenttrace"
	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/remote"
)

// Options describe the agent.
type Options struct {
	Agent       []string          // program and arguments
	Proxy       string            // agentclient.Stdio, also if empty, or agentclient.TCP
	Environment map[string]string // added to the host's environment
	Memory      *Memory           // state passed to later sessions; may be nil
	Log         *slog.Logger      // may be nil
}

// A Connection is a connection to the host of an agent with the agent's session. The session starts with
// the first command for the agent, and again after it was lost.
type Connection struct {
	remote.Connection
	options Options
	life    context.Context
	end     context.CancelFunc

	mutex    sync.Mutex
	attempt  *attempt // latest attempt to start a session; nil before the first
	failures int      // of attempts in a row
	canceled canceled // jobs canceled over this connection
	messages agenttrace.Recorder
	closed   bool
}

var _ remote.Connection = (*Connection)(nil)

// New returns a connection over another one. Close closes both.
func New(below remote.Connection, options Options) *Connection {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Memory == nil {
		options.Memory = &Memory{}
	}
	life, end := context.WithCancel(context.Background())
	return &Connection{Connection: below, options: options, life: life, end: end}
}

// Close ends the session, then the underlying connection. Whether jobs keep running depends on the agent.
func (c *Connection) Close() error {
	c.mutex.Lock()
	attempt := c.attempt
	c.closed = true
	c.mutex.Unlock()
	var err error
	if attempt != nil {
		if session := attempt.current(); session != nil {
			err = session.Close()
		}
	}
	c.end()
	if attempt != nil {
		<-attempt.done
		attempt.finish(c.options.Memory, c.key())
	}
	return errors.Join(err, c.Connection.Close())
}

// Ended returns a channel that is closed once the underlying connection has ended, nil if that cannot
// detect its end.
func (c *Connection) Ended() <-chan struct{} {
	if noticing, able := c.Connection.(interface{ Ended() <-chan struct{} }); able {
		return noticing.Ended()
	}
	return nil
}

// IsBusy reports whether the session must stay open because some of its jobs have not ended.
func (c *Connection) IsBusy() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.attempt == nil {
		return false
	}
	session := c.attempt.current()
	return session != nil && areUnfinished(session)
}

// Start starts a process, or a command for the agent.
func (c *Connection) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	if len(command.Arguments) == 0 || command.Arguments[0] != definition.Command {
		return c.Connection.Start(ctx, command)
	}
	r := &request{connection: c, command: command, stdout: orDiscard(command.Stdout), stderr: orDiscard(command.Stderr)}
	if len(command.Arguments) > 1 && slices.Contains(verbsWithoutSession(), command.Arguments[1]) {
		return start(ctx, r), nil
	}
	var err error
	if r.attempt, r.session, err = c.session(ctx); err != nil {
		return nil, &remote.StartError{Program: definition.Command, Err: err}
	}
	return start(ctx, r), nil
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// A LostError reports that there is no session with the agent, although the connection may work. It
// matches remote.ErrUnreachable, so that states become stale.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }

// Is reports whether the target is remote.ErrUnreachable.
func (e *LostError) Is(target error) bool { return target == remote.ErrUnreachable }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// KeepsConnection reports whether the underlying connection still works.
func (e *LostError) KeepsConnection() bool { return !errors.Is(e.Err, remote.ErrUnreachable) }

// key identifies the agent in a Memory.
func (c *Connection) key() string {
	info := c.Info()
	return fmt.Sprintf("%q", slices.Concat([]string{info.Transport, info.User, info.Host, c.options.Proxy}, c.options.Agent))
}

// agent returns the command of the agent. Agents of the Eclipse PTP use TCP by default.
func (c *Connection) agent() []string {
	saysProxy := slices.ContainsFunc(c.options.Agent, func(argument string) bool { return strings.HasPrefix(argument, "--proxy") })
	if c.options.Proxy == agentclient.TCP || saysProxy {
		return c.options.Agent
	}
	return append(slices.Clone(c.options.Agent), "--proxy="+agentclient.Stdio)
}

// sessionOptions returns the options of the next session.
func (c *Connection) sessionOptions() agentclient.Options {
	o := agentclient.Options{
		Connection: c.Connection, Agent: c.agent(), Environment: c.options.Environment, Proxy: c.options.Proxy,
		Listen: c.Listen, Trace: c.messages.Write, // the lines of an agent may have secrets, so no log gets them
	}
	o.CheckPeer = func(ctx context.Context, conn net.Conn) error {
		return peer.CheckForwarded(ctx, c.Connection, conn)
	}
	if c.Info().Transport == "local" {
		o.CheckPeer = peer.CheckTCP
	}
	o.Session, o.Resume = c.options.Memory.recall(c.key())
	return o
}
