package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/peer"
)

// mostClients is how many conversations the process takes part in at once.
const mostClients = 1024

// headerPatience bounds the wait for the header of a client.
const headerPatience = 10 * time.Second

// pauses after an accept that failed because something ran out.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// serve accepts clients of this user until ctx is cancelled or the listener is
// closed, which is no error, and waits for their conversations.
func (p *process) serve(ctx context.Context) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	places := make(chan struct{}, mostClients)
	pause := shortestPause
	for {
		conn, err := p.listener.Accept()
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
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			p.serveClient(ctx, conn, places)
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

// serveClient takes part in one conversation. A client that is gone needs no answer.
func (p *process) serveClient(ctx context.Context, conn net.Conn, places chan struct{}) {
	if peer.Check(conn) != nil || conn.SetDeadline(time.Now().Add(headerPatience)) != nil {
		return
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		_ = writeReply(conn, replyRefusal, pack(errTooManyClients))
		return
	}
	reader := bufio.NewReader(conn)
	asked, err := readHeader(reader)
	if err != nil && !errors.Is(err, errProtocol) {
		return
	}
	p.arrive()
	defer p.depart()
	switch {
	case err == nil && asked.Operation == operationHello:
		_ = writeReply(conn, replyDone, p.greeting(asked.Build))
		return
	case err == nil && asked.Protocol != protocolVersion:
		err = fmt.Errorf("%w: it speaks version %d, not %d", errOtherProtocol, protocolVersion, asked.Protocol)
	}
	if err != nil {
		_ = writeReply(conn, replyRefusal, pack(err))
		return
	}
	if writeReply(conn, replyDone, struct{}{}) != nil || conn.SetDeadline(time.Time{}) != nil {
		return
	}
	l, err := acceptLink(ctx, bufferedConn{conn, reader})
	if err != nil {
		return
	}
	defer l.close()
	p.converse(ctx, l, asked.Operation)
}

// bufferedConn is a connection that something was read from already.
type bufferedConn struct {
	net.Conn
	reader io.Reader
}

func (c bufferedConn) Read(buffer []byte) (int, error) { return c.reader.Read(buffer) }
