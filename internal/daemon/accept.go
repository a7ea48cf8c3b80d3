package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/peer"
)

// mostClients is how many conversations the process takes part in at once.
const mostClients = 1024

// headerPatience bounds the wait for the header of a client.
const headerPatience = 10 * time.Second

// farewellPatience bounds the wait for clients to close their ends when the process ends.
// A client closes its end after it has read the last message, which it could miss if the
// process closed first.
const farewellPatience = 10 * time.Second

// acceptPause follows an accept that failed because something ran out.
const acceptPause = 100 * time.Millisecond

// serve accepts clients of this user until ctx is canceled or the listener is
// closed, which is no error, and waits for their conversations.
func (p *process) serve(ctx context.Context) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		conn, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case isTemporary(err):
			select {
			case <-time.After(acceptPause):
			case <-ctx.Done():
			}
			continue
		case err != nil:
			return fmt.Errorf("accepting clients: %w", err)
		}
		clients.Go(func() {
			defer conn.Close()
			p.serveClient(ctx, conn)
		})
	}
}

// isTemporary reports an error after which accepting may work again: the
// process has no file descriptor left, or a client went away at once.
func isTemporary(err error) bool {
	var failed *net.OpError
	return errors.As(err, &failed) && failed.Temporary()
}

// serveClient serves one conversation. When ctx is canceled it cuts the conversation off,
// unless only the client's end is left to be closed. A client that is gone needs no answer.
func (p *process) serveClient(ctx context.Context, conn net.Conn) {
	spare := context.AfterFunc(ctx, func() { conn.Close() })
	defer spare()
	if peer.Check(conn) != nil || conn.SetDeadline(time.Now().Add(headerPatience)) != nil {
		return
	}
	select {
	case p.clients <- struct{}{}:
		defer func() { <-p.clients }()
	default:
		_ = writeReply(conn, replyRefusal, pack(errTooManyClients))
		return
	}
	head, err := readHeader(conn)
	if err != nil && !errors.Is(err, errProtocol) {
		return
	}
	defer func() { p.used.Store(time.Now().UnixNano()) }()
	if !p.agrees(conn, head, err) {
		return
	}
	l, err := acceptLink(ctx, conn)
	if err != nil {
		return
	}
	defer l.close()
	p.converse(ctx, l, head.Operation)
	if spare() {
		l.awaitClient(ctx)
	}
}

// agrees replies to a header, or to err for an invalid one, and reports whether a conversation follows.
func (p *process) agrees(conn net.Conn, head header, err error) bool {
	switch {
	case err == nil && head.Operation == operationHello:
		_ = writeReply(conn, replyDone, p.greeting(head.Build))
		return false
	case err == nil && head.Protocol != protocolVersion:
		err = fmt.Errorf("%w: protocol version %d instead of %d", errOtherProtocol, protocolVersion, head.Protocol)
	}
	if err != nil {
		_ = writeReply(conn, replyRefusal, pack(err))
		return false
	}
	return writeReply(conn, replyDone, struct{}{}) == nil && conn.SetDeadline(time.Time{}) == nil
}

// awaitClient waits until the client has closed its end, for some time only once ctx is
// canceled.
func (l *link) awaitClient(ctx context.Context) {
	select {
	case <-l.session.CloseChan():
	case <-ctx.Done():
		execution.ClosesWithin(l.session.CloseChan(), farewellPatience)
	}
}
