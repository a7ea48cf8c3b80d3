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

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/relay"
	"github.com/rmctl/rmctl/remote/wire"
)

// StartPatience bounds the wait for a background process to be there after it
// was started.
const StartPatience = 10 * time.Second

// startPoll is how often a process that was started is looked for.
const startPoll = 5 * time.Millisecond

// ErrNotRunning tells that there is no background process.
var ErrNotRunning = errors.New("there is no background process")

// ErrOtherVersion tells that the background process is of a version that this
// one cannot talk to, and stays because it hosts sessions.
var ErrOtherVersion = errors.New("the background process is of another version, and stays for the sessions that it hosts")

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
type Client struct {
	options ClientOptions
	socket  string
}

var _ Sessions = (*Client)(nil)

// Open finds the background process, and starts one if there is none and
// options say how. A process of another build is made to end, or used if it
// has sessions. The error is ErrNotRunning or ErrOtherVersion, or tells what
// went wrong.
func Open(ctx context.Context, options ClientOptions) (*Client, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	socket := SocketPath(options.Folder)
	c := &Client{options: options, socket: socket}
	if _, err := c.ensure(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Find returns a client of the process that a folder has, if it has one, of
// whatever build. Its calls return ErrNotRunning if there is none.
func Find(folder string) *Client {
	return &Client{options: ClientOptions{Folder: folder, Log: slog.New(slog.DiscardHandler)}, socket: SocketPath(folder)}
}

// Greet asks the background process what it is.
func (c *Client) Greet(ctx context.Context) (Greeting, error) { return c.ensure(ctx) }

// ensure makes sure that there is a process that can be used.
func (c *Client) ensure(ctx context.Context) (Greeting, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, StartPatience, fmt.Errorf("%w: it did not answer within %v", ErrNotRunning, StartPatience))
	defer cancel()
	poll := time.NewTicker(startPoll)
	defer poll.Stop()
	started := false
	for {
		greeting, err := c.hello(ctx)
		switch {
		case ctx.Err() != nil:
			return Greeting{}, context.Cause(ctx)
		case err == nil && !greeting.Retires && greeting.Protocol == Protocol:
			return greeting, nil
		case err == nil && !greeting.Retires:
			return Greeting{}, ErrOtherVersion
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

// isAbsent reports whether an error tells that nobody is there, or has just left.
func isAbsent(err error) bool {
	var gone *GoneError
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &gone)
}

// hello asks who is there.
func (c *Client) hello(ctx context.Context) (Greeting, error) {
	var greeting Greeting
	conn, err := wire.Dial(ctx, c.socket)
	if err != nil {
		return greeting, err
	}
	err = c.converse(ctx, conn, request{Protocol: Protocol, Operation: operationHello, Build: c.options.Build}, nil, &greeting)
	return greeting, err
}

// dial connects to the process, starting one if the last has ended.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	conn, err := wire.Dial(ctx, c.socket)
	if err == nil || !isAbsent(err) {
		return conn, err
	}
	if _, err := c.ensure(ctx); err != nil {
		return nil, err
	}
	return wire.Dial(ctx, c.socket)
}

// Connect returns a connection to a place, which the background process keeps.
// Errors are those of relay.Dial. A process that ends just then, as one does that
// nobody used or that makes room, is replaced once.
func (c *Client) Connect(ctx context.Context, place relay.Place, prompter remote.Prompter) (remote.Connection, error) {
	connection, err := relay.Dial(ctx, c.dial, place, prompter)
	if err != nil && ctx.Err() == nil && (errors.Is(err, relay.ErrServerEnded) || isCut(err)) {
		return relay.Dial(ctx, c.dial, place, prompter)
	}
	return connection, err
}

// isCut reports whether an error tells that what was sent reached nobody.
func isCut(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// Connections lists the connections that are kept.
func (c *Client) Connections(ctx context.Context) ([]ConnectionInfo, error) {
	return list[ConnectionInfo](ctx, c, request{Protocol: Protocol, Operation: operationConnections})
}

// CloseConnections closes those connections that lead to one of the places.
// What runs over them is lost. It returns those that there were.
func (c *Client) CloseConnections(ctx context.Context, places ...relay.Place) ([]ConnectionInfo, error) {
	asked := request{Protocol: Protocol, Operation: operationClose}
	for _, place := range places {
		asked.Places = append(asked.Places, packedPlace{Transport: place.Transport, Host: []byte(place.Host), SSHConfig: []byte(place.SSHConfig)})
	}
	return list[ConnectionInfo](ctx, c, asked)
}

// Stop closes all connections, which it returns, and ends the background
// process. ErrSessionsLive tells that it stays because it hosts sessions.
func (c *Client) Stop(ctx context.Context) ([]ConnectionInfo, error) {
	return list[ConnectionInfo](ctx, c, request{Protocol: Protocol, Operation: operationStop})
}

// List describes the living sessions.
func (c *Client) List(ctx context.Context) ([]SessionInfo, error) {
	return list[SessionInfo](ctx, c, request{Protocol: Protocol, Operation: operationSessions})
}

// list has a conversation whose answer is a list.
func list[V any](ctx context.Context, c *Client, asked request) ([]V, error) {
	conn, err := wire.Dial(ctx, c.socket)
	if err != nil {
		return nil, notRunning(err)
	}
	var items []V
	item := func(payload []byte) error {
		if len(items) >= mostItems {
			return fmt.Errorf("%w: a list of more than %d elements", wire.ErrProtocol, mostItems)
		}
		var one V
		err := wire.Decode(payload, &one)
		items = append(items, one)
		return err
	}
	if err := c.converse(ctx, conn, asked, item, nil); err != nil {
		return nil, err
	}
	return items, nil
}

// mostItems bounds the lists that a process may send.
const mostItems = 10_000

// notRunning tells an absent process from one that cannot be reached.
func notRunning(err error) error {
	if isAbsent(err) {
		return ErrNotRunning
	}
	return fmt.Errorf("talking to the background process: %w", err)
}

// converse has a conversation in which only the process speaks, up to its
// answer. Item takes the elements of a list; it may be nil.
func (c *Client) converse(ctx context.Context, conn net.Conn, asked request, item func([]byte) error, result any) error {
	link := wire.NewLink(conn, errorsByName())
	if err := link.SendHeader(asked); err != nil {
		return errors.Join(unsent(err), conn.Close())
	}
	answered := make(chan []byte, 1)
	listening, stop := link.Listen(ctx, nil, func(kind wire.Kind, payload []byte) error {
		switch {
		case kind == frameItem && item != nil:
			return item(payload)
		case kind == frameDone:
			offer(answered, payload)
			return nil
		}
		return wire.RefuseFrame(kind, payload)
	})
	defer stop()
	payload, err := await(ctx, listening, answered)
	if err != nil || result == nil {
		return err
	}
	return wire.Decode(payload, result)
}

// await waits for an answer.
func await[V any](ctx, listening context.Context, answered <-chan V) (V, error) {
	var none V
	select {
	case answer := <-answered:
		return answer, nil
	case <-listening.Done():
	}
	select {
	case answer := <-answered: // the process answers, and then closes the link
		return answer, nil
	default:
	}
	if ctx.Err() != nil {
		return none, ctx.Err()
	}
	return none, whyLost(context.Cause(listening))
}

// unsent tells why a conversation did not begin.
func unsent(err error) error {
	if isCut(err) {
		return &GoneError{err}
	}
	return err
}

// whyLost tells what the end of a conversation means.
func whyLost(cause error) error {
	var refused *wire.Refusal
	if errors.As(cause, &refused) {
		return refused.Err
	}
	return &GoneError{cause}
}
