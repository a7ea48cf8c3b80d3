package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// headerPatience bounds the wait for the header of a client, dialPatience that for a
// place in the queue of a server. That is had at once, but for a client that the machine
// holds up.
const (
	headerPatience = 10 * time.Second
	dialPatience   = time.Minute
)

// pauses after an accept that failed because something ran out.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// ErrTooManyClients tells that a server takes no further client at the moment.
var ErrTooManyClients = errors.New("too many clients at once")

// A Server takes part in conversations that clients begin.
type Server struct {
	Clients int              // how many at once; more are refused
	Own     map[string]error // as of NewLink
	// Handle takes part in one conversation. Nothing but the header was read;
	// Handle has to Listen. The link is closed when it returns.
	Handle func(ctx context.Context, link *Link, header []byte)
}

// Serve accepts clients of this user until ctx is cancelled or the listener is
// closed, which is no error, and waits for their conversations. Cancelling ctx
// closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	unwatch := context.AfterFunc(ctx, func() { listener.Close() })
	defer unwatch()
	var clients sync.WaitGroup
	defer clients.Wait()
	places := make(chan struct{}, s.Clients)
	pause := shortestPause
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			pause = shortestPause
		case errors.Is(err, net.ErrClosed):
			return nil
		case isTemporary(err) && wait(ctx, pause):
			pause = min(2*pause, longestPause)
			continue
		default:
			return fmt.Errorf("accepting clients: %w", errors.Join(err, ctx.Err()))
		}
		clients.Go(func() {
			defer conn.Close()
			unwatch := context.AfterFunc(ctx, func() { conn.Close() })
			defer unwatch()
			s.serve(ctx, conn, places)
		})
	}
}

// isTemporary reports an error after which accepting may work again: the
// process has no file descriptor left, or a client went away at once.
func isTemporary(err error) bool {
	var failed *net.OpError
	return errors.As(err, &failed) && failed.Temporary()
}

// wait reports whether the time passed before ctx was done.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Server) serve(ctx context.Context, conn net.Conn, places chan struct{}) {
	if CheckPeer(conn) != nil {
		return
	}
	link := NewLink(conn, s.Own)
	deadline := time.Now().Add(headerPatience)
	if conn.SetReadDeadline(deadline) != nil {
		return
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		if conn.SetWriteDeadline(deadline) == nil {
			_ = link.Fail(ErrTooManyClients) // a client that is gone needs no refusal
		}
		return
	}
	header, err := link.ReceiveHeader()
	if err != nil || conn.SetReadDeadline(time.Time{}) != nil {
		return
	}
	s.Handle(ctx, link, header)
}

// Dial connects to the unix socket of a process of this user.
func Dial(ctx context.Context, socket string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialPatience}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := CheckPeer(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// CheckPeer refuses a process of another user at the other end of a unix socket.
func CheckPeer(conn net.Conn) error {
	socket, isUnix := conn.(*net.UnixConn)
	if !isUnix {
		return fmt.Errorf("%s is no unix socket, and does not tell who is at its other end", conn.RemoteAddr().Network())
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return fmt.Errorf("asking who is at the other end: %w", err)
	}
	var user int
	var asked error
	if err := raw.Control(func(descriptor uintptr) { user, asked = peerUser(int(descriptor)) }); err != nil || asked != nil {
		return fmt.Errorf("asking who is at the other end: %w", errors.Join(err, asked))
	}
	return checkUser(user)
}
