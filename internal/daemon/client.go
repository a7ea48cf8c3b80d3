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

// startPatience bounds the wait for a background process to be there after it
// was started.
const startPatience = 10 * time.Second

// startPoll is how often a process that was started is looked for.
const startPoll = 5 * time.Millisecond

// ErrNotRunning reports that there is no background process.
var ErrNotRunning = errors.New("there is no background process")

// errOtherVersion reports that the background process is of a version that this
// one cannot talk to, and stays because it hosts sessions.
var errOtherVersion = errors.New("the background process is of another version, and stays for the sessions that it hosts")

// ClientOptions of a client.
type ClientOptions struct {
	Folder string // as in Options
	Build  string // of this program
	// Start starts a background process for the folder, detached from this
	// one, and does not wait for it. Nil to use only one that is there.
	Start func() error
	Log   *slog.Logger // may be nil
}

// A Client talks to a background process. Its methods may be called
// concurrently. It is for as long as the process of the client: when the
// background process ends, the next call starts another one.
type Client struct{ options ClientOptions }

// Open finds the background process, and starts one if there is none and
// options say how. A process of another build is made to end, or used if it
// has sessions. The error is ErrNotRunning if there is none.
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

// Find returns a client of the process that a folder has, if it has one, of
// whatever build. Its calls return ErrNotRunning if there is none.
func Find(folder string) *Client {
	return &Client{ClientOptions{Folder: folder, Log: slog.New(slog.DiscardHandler)}}
}

// Greet returns what the background process says of itself.
func (c *Client) Greet(ctx context.Context) (Greeting, error) { return c.ensure(ctx) }

// ensure makes sure that there is a process that can be used.
func (c *Client) ensure(ctx context.Context) (Greeting, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("%w: it did not answer within %v", ErrNotRunning, startPatience))
	defer cancel()
	poll := time.NewTicker(startPoll)
	defer poll.Stop()
	started := false
	for {
		greeting, err := c.hello(ctx)
		switch {
		case ctx.Err() != nil:
			return Greeting{}, context.Cause(ctx)
		case err == nil && !greeting.Retires && greeting.Protocol == protocolVersion:
			return greeting, nil
		case err == nil && !greeting.Retires:
			return Greeting{}, errOtherVersion
		case err == nil: // it makes room
			started = false
		case !isAbsent(err):
			return Greeting{}, fmt.Errorf("talking to the background process: %w", err)
		}
		if !started {
			if c.options.Start == nil {
				return Greeting{}, ErrNotRunning
			}
			c.options.Log.Info("starting a background process that holds connections")
			if err := c.options.Start(); err != nil {
				return Greeting{}, fmt.Errorf("starting a background process: %w", err)
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

// isAbsent reports whether an error means that nobody is there, or has just left.
func isAbsent(err error) bool {
	var gone *GoneError
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &gone)
}

// hello finds out which process is there.
func (c *Client) hello(ctx context.Context) (Greeting, error) {
	var greeting Greeting
	conn, err := c.dialLiving(ctx)
	if err != nil {
		return greeting, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	err = greet(conn, header{Protocol: protocolVersion, Operation: operationHello, Build: c.options.Build}, &greeting)
	return greeting, err
}

// dialLiving connects to the process that is there.
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

// begin begins a conversation, which outlives ctx. Prompter answers what the
// process asks; with nil there is nobody to ask.
func begin(ctx context.Context, dial dialer, operation string, asked request, prompter remote.Prompter) (*link, error) {
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
		conn.Close() // err says more
		return nil, err
	}
	l, err := openLink(conn)
	if err != nil {
		return nil, &GoneError{err}
	}
	answering, _ := l.context(context.WithoutCancel(ctx)) // until the link is closed
	l.work.Go(func() { l.answerQuestions(answering, prompter) })
	if err := l.send(asked); err != nil {
		l.close()
		return nil, &GoneError{err}
	}
	return l, nil
}

// ask has a conversation of one question, whose answer is put into results.
func ask(ctx context.Context, dial dialer, operation string, asked request, results ...any) error {
	l, err := begin(ctx, dial, operation, asked, nil)
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

// Connect returns a connection to a place, which the background process keeps.
// It opens the connection now if it is not open yet. Prompter answers what the
// place asks, now or when the process has to open the connection again; nil if
// there is nobody.
//
// Errors of the place are as the process's transport has them. Those of getting
// to the process are a *DialError: nothing was asked of the place then. A
// process that ends just then, as one does that nobody used or that makes room,
// is replaced once.
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

// CloseConnections closes those connections that lead to one of the places.
// What runs over them is lost. It returns those that there were.
func (c *Client) CloseConnections(ctx context.Context, places ...Place) ([]ConnectionInfo, error) {
	var asked request
	for _, place := range places {
		asked.Places = append(asked.Places, place.pack())
	}
	return list[ConnectionInfo](ctx, c, operationClose, asked)
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

// list has a conversation whose answer is a list.
func list[V any](ctx context.Context, c *Client, operation string, asked request) (items []V, err error) {
	err = ask(ctx, c.dialLiving, operation, asked, &items)
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

// whyLost returns what the error of a conversation means.
func whyLost(ctx context.Context, err error) error {
	var received *receivedError
	var gone *GoneError
	var failed *net.OpError
	switch {
	case err == nil, errors.As(err, &gone), errors.As(err, &received):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed) && failed.Op == "dial":
		return fmt.Errorf("talking to the background process: %w", err)
	case errors.Is(err, ErrNotRunning), errors.Is(err, errOtherVersion): // of starting it
		return err
	}
	return &GoneError{err}
}
