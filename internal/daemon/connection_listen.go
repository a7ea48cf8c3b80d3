package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/rmctl/rmctl/internal/execution"
)

// past is a deadline that ends what waits.
var past = time.Unix(1, 0)

// Listen accepts connections from processes on the remote host.
func (c *connection) Listen(ctx context.Context) (net.Listener, error) {
	l, err := c.openConversation(ctx, operationListen, request{Place: c.place.pack()})
	if err != nil {
		return nil, err
	}
	var text string
	err = l.await(ctx, &text)
	var address *net.TCPAddr
	if err == nil {
		address, err = net.ResolveTCPAddr("tcp", text) // it is numeric
	}
	if err != nil {
		l.close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("listening at %s: %w", c.place.Host, ctx.Err())
		}
		return nil, c.lost(err)
	}
	s := &listening{
		link: l, connection: c, address: address,
		accepted: make(chan listenReport, 1), closed: make(chan listenReport, 1), gone: make(chan struct{}),
	}
	l.work.Go(s.follow)
	return execution.NewListener(ctx, s, address, func() error { return nil }), nil
}

// listening is the source of the connections that the background process accepts. Its link
// stays until they have ended, too.
type listening struct {
	link       *link
	connection *connection
	address    net.Addr
	accepted   chan listenReport // the answer to a request to accept
	closed     chan listenReport // the answer to the request to close
	gone       chan struct{}     // closed when the link is lost

	accepting sync.Mutex // one request at a time

	mutex   sync.Mutex
	open    int  // connections that were requested and have not ended
	closing bool // nothing but open connections keeps the link
}

// follow receives the reports of the background process.
func (s *listening) follow() {
	defer close(s.gone)
	for {
		var report listenReport
		if s.link.receive(&report) != nil {
			return
		}
		switch {
		case report.Number == 0:
			execution.Offer(s.closed, report)
			continue
		case report.Accepted != nil || report.Failed != nil:
			execution.Offer(s.accepted, report)
		}
		if report.Accepted == nil && s.count(-1) {
			s.link.session.Close() // never fails
		}
	}
}

// count adds to the open connections and reports whether the link is no longer needed.
func (s *listening) count(added int) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.open += added
	return s.open == 0 && s.closing
}

// Accept waits for a connection.
func (s *listening) Accept() (net.Conn, error) {
	s.accepting.Lock()
	defer s.accepting.Unlock()
	s.count(1)
	opened, err := s.link.open()
	if err == nil {
		err = s.link.send(listenRequest{Accept: true})
	}
	if err != nil {
		return nil, s.connection.lost(err)
	}
	select {
	case report := <-s.accepted:
		if report.Accepted == nil {
			_ = opened.Close() // the report is better
			return nil, report.Failed.unpack()
		}
		return &acceptedConn{stream: opened, source: s, number: report.Number, origin: report.Accepted.unpack()}, nil
	case <-s.gone:
		return nil, s.connection.lost(errLost)
	}
}

// Close closes the remote listener.
func (s *listening) Close() error {
	var err error
	if s.link.send(listenRequest{}) == nil {
		select {
		case report := <-s.closed:
			err = report.Failed.unpack()
		case <-s.gone: // and the listener with it
		}
	}
	s.mutex.Lock()
	s.closing = true
	isUnused := s.open == 0
	s.mutex.Unlock()
	if isUnused {
		s.link.close()
	}
	return err
}

// Addr is the address on the remote host.
func (s *listening) Addr() net.Addr { return s.address }

// acceptedConn is a connection that the background process accepted.
type acceptedConn struct {
	*stream
	source *listening
	number int
	origin net.Addr
	once   sync.Once
}

// LocalAddr is the remote port, RemoteAddr the address from which the remote process
// connected.
func (c *acceptedConn) LocalAddr() net.Addr  { return c.source.address }
func (c *acceptedConn) RemoteAddr() net.Addr { return c.origin }

// Read reads what the process sent.
func (c *acceptedConn) Read(buffer []byte) (int, error) {
	count, err := c.stream.Read(buffer)
	return count, c.explain(err)
}

// Write writes to the process.
func (c *acceptedConn) Write(data []byte) (int, error) {
	count, err := c.stream.Write(data)
	return count, c.explain(err)
}

// explain returns the error of a connection for one of a stream.
func (c *acceptedConn) explain(err error) error {
	switch {
	case errors.Is(err, yamux.ErrTimeout):
		return os.ErrDeadlineExceeded
	case errors.Is(err, errLost), errors.Is(err, yamux.ErrSessionShutdown):
		return c.source.connection.lost(err)
	}
	return err
}

// CloseWrite ends what this end writes.
func (c *acceptedConn) CloseWrite() error { return c.Stream.Close() }

// Close ends both directions after the pending output.
func (c *acceptedConn) Close() (err error) {
	c.once.Do(func() {
		_ = c.SetReadDeadline(past) // never fails
		err = c.Stream.Close()
		// A background process that is gone has dropped it.
		_ = c.source.link.send(listenRequest{Drop: c.number})
	})
	return err
}
