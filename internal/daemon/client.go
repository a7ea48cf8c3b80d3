package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/remote"
)

// startPatience bounds the wait for a new background process to answer.
const startPatience = 10 * time.Second

// startPoll is the time between two attempts to reach a new process.
const startPoll = 5 * time.Millisecond

// ErrNotRunning reports that there is no background process.
var ErrNotRunning = errors.New("no background process")

// errOtherVersion reports a background process with another protocol, which stays
// because it hosts sessions.
var errOtherVersion = errors.New("the background process has another version and still hosts sessions")

// ClientOptions of a client.
type ClientOptions struct {
	Folder string // as in Options
	Build  string // of this program
	// Start starts a background process for the folder, detached from this
	// one, and does not wait for it. Nil uses only a running process.
	Start func() error
	Log   *slog.Logger // may be nil
}

// A Client talks to a background process. Its methods may be called
// concurrently. When the background process has ended, the next call starts another.
type Client struct{ options ClientOptions }

// Open finds the background process, or starts one with options.Start. A process of
// another build ends, unless it has sessions. The error is ErrNotRunning if there is
// no process and options.Start is nil.
func Open(ctx context.Context, options ClientOptions) (*Client, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{options}
	if _, err := c.ensure(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Find returns a client of the process of a folder, of any build. Its calls return
// ErrNotRunning without a process.
func Find(folder string) *Client {
	return &Client{ClientOptions{Folder: folder, Log: slog.New(slog.DiscardHandler)}}
}

// Greet returns a description of the background process.
func (c *Client) Greet(ctx context.Context) (Greeting, error) { return c.ensure(ctx) }

// ensure finds or starts a usable process.
func (c *Client) ensure(ctx context.Context) (Greeting, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("%w: it did not answer within %v", ErrNotRunning, startPatience))
	defer cancel()
	poll := time.NewTicker(startPoll)
	defer poll.Stop()
	started := false
	build := c.options.Build
	for {
		greeting, err := c.hello(ctx, build)
		switch {
		case ctx.Err() != nil:
			return Greeting{}, context.Cause(ctx)
		case err == nil && !greeting.Retires && greeting.Protocol == protocolVersion:
			return greeting, nil
		case err == nil && !greeting.Retires:
			return Greeting{}, errOtherVersion
		case err == nil: // it makes room
			// Once: clients of two builds that come at the same time must not end each other's processes again and again.
			started, build = false, ""
		case !isAbsent(err):
			return Greeting{}, fmt.Errorf("background process: %w", err)
		}
		if !started {
			if c.options.Start == nil {
				return Greeting{}, ErrNotRunning
			}
			c.options.Log.Info("starting the background process")
			if err := c.options.Start(); err != nil {
				return Greeting{}, fmt.Errorf("starting the background process: %w", err)
			}
			started = true
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return Greeting{}, context.Cause(ctx)
		}
	}
}

// isAbsent reports whether an error means that no process runs, or that it has just ended.
func isAbsent(err error) bool {
	var gone *GoneError
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &gone)
}

// hello returns the greeting of the process. One of another build than the given one makes room.
func (c *Client) hello(ctx context.Context, build string) (Greeting, error) {
	var greeting Greeting
	conn, err := c.dialLiving(ctx)
	if err != nil {
		return greeting, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	err = greet(conn, header{Protocol: protocolVersion, Operation: operationHello, Build: build}, &greeting)
	return greeting, err
}

// dialLiving connects to a running process.
func (c *Client) dialLiving(ctx context.Context) (net.Conn, error) {
	return peer.Dial(ctx, SocketPath(c.options.Folder))
}

// dial connects to the process, starting one if the last has ended.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	conn, err := c.dialLiving(ctx)
	if err == nil || !isAbsent(err) {
		return conn, err
	}
	if _, err := c.ensure(ctx); err != nil {
		return nil, err
	}
	return c.dialLiving(ctx)
}

// dialer connects to a process: see Client.dial and Client.dialLiving.
type dialer func(ctx context.Context) (net.Conn, error)

// openConversation begins a conversation, which outlives ctx. Prompter answers the
// questions of the process; nil without a user.
func openConversation(ctx context.Context, dial dialer, operation string, message request, prompter remote.Prompter) (*link, error) {
	conn, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	unwatch := context.AfterFunc(ctx, func() { conn.Close() })
	err = greet(conn, header{Protocol: protocolVersion, Operation: operation}, &struct{}{})
	if !unwatch() {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close() // err is better
		return nil, err
	}
	l, err := openLink(conn)
	if err != nil {
		return nil, &GoneError{err}
	}
	answering, _ := l.context(context.WithoutCancel(ctx)) // until the link is closed
	l.work.Go(func() { l.answerQuestions(answering, prompter) })
	if err := l.send(message); err != nil {
		l.close()
		return nil, &GoneError{err}
	}
	return l, nil
}

// ask has a conversation of one message, and stores the answer in results.
func ask(ctx context.Context, dial dialer, operation string, message request, results ...any) error {
	l, err := openConversation(ctx, dial, operation, message, nil)
	if err != nil {
		return whyLost(ctx, err)
	}
	defer l.close()
	return whyLost(ctx, l.await(ctx, results...))
}

// await is receiveAnswer, and loses the link when ctx is done.
func (l *link) await(ctx context.Context, results ...any) error {
	defer context.AfterFunc(ctx, func() { l.session.Close() })()
	return l.receiveAnswer(results...)
}

// Connect returns a connection to a host that the background process keeps, and opens it if
// needed. Prompter answers prompts, now or when the process reconnects; nil without a user.
//
// Errors of the connection are those of the process's transport. If the process cannot be
// reached, the error is a *DialError, and the host was not contacted. If the process ends
// meanwhile, because it was idle or makes room, Connect starts another one once.
func (c *Client) Connect(ctx context.Context, place Place, prompter remote.Prompter) (remote.Connection, error) {
	connection, err := connect(ctx, c.dial, place, prompter)
	if errors.Is(err, errServerEnded) && ctx.Err() == nil {
		return connect(ctx, c.dial, place, prompter)
	}
	return connection, err
}

// Connections lists the connections that are kept.
func (c *Client) Connections(ctx context.Context) ([]ConnectionInfo, error) {
	return list[ConnectionInfo](ctx, c, operationConnections, request{})
}

// CloseConnections closes the connections to the hosts and returns them. Processes over them
// are lost.
func (c *Client) CloseConnections(ctx context.Context, places ...Place) ([]ConnectionInfo, error) {
	var message request
	for _, place := range places {
		message.Places = append(message.Places, place.pack())
	}
	return list[ConnectionInfo](ctx, c, operationClose, message)
}

// Stop closes all connections, which it returns, and ends the background
// process. errSessionsLive reports that it stays because it hosts sessions.
func (c *Client) Stop(ctx context.Context) ([]ConnectionInfo, error) {
	return list[ConnectionInfo](ctx, c, operationStop, request{})
}

// List describes the living sessions, oldest first.
func (c *Client) List(ctx context.Context) ([]SessionInfo, error) {
	return list[SessionInfo](ctx, c, operationSessions, request{})
}

// list runs a conversation that returns a list.
func list[V any](ctx context.Context, c *Client, operation string, message request) (items []V, err error) {
	err = ask(ctx, c.dialLiving, operation, message, &items)
	if isUnconnected(err) {
		err = ErrNotRunning
	}
	return items, err
}

// isUnconnected reports whether an error means that there was no process to connect to.
func isUnconnected(err error) bool {
	var failed *net.OpError
	return errors.As(err, &failed) && failed.Op == "dial" && isAbsent(err)
}

// whyLost explains the error of a conversation.
func whyLost(ctx context.Context, err error) error {
	var received *peer.ReceivedError
	var gone *GoneError
	var failed *net.OpError
	switch {
	case err == nil, errors.As(err, &gone), errors.As(err, &received):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed) && failed.Op == "dial":
		return fmt.Errorf("background process: %w", err)
	case errors.Is(err, ErrNotRunning), errors.Is(err, errOtherVersion): // of starting it
		return err
	}
	return &GoneError{err}
}
