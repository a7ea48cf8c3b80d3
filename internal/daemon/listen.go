package daemon

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// A client that listens opens a stream for each connection that it waits for, and sends a
// listenRequest. The server numbers the connections in the order of these.

// listenRequest is a message of a client that listens. Without a connection to accept or to
// drop it closes the listener.
type listenRequest struct {
	Accept bool `json:",omitempty"` // the next stream is for a connection
	Drop   int  `json:",omitempty"` // the number of an abandoned connection
}

// listenReport is a message of the server.
type listenReport struct {
	Number   int           // of the connection; 0 to close the listener
	Accepted *packedOrigin `json:",omitempty"` // if nil, the connection has ended, or could not be accepted
	Failed   *failure      `json:",omitempty"`
}

// packedOrigin is where a process has connected from.
type packedOrigin struct{ Network, Address string }

func (o packedOrigin) unpack() net.Addr {
	if o.Network == "tcp" {
		if address, err := net.ResolveTCPAddr("tcp", o.Address); err == nil { // it is numeric
			return address
		}
	}
	return &net.UnixAddr{Name: o.Address, Net: o.Network}
}

// listenServer serves the listener of a client.
type listenServer struct {
	*conversation
	ctx      context.Context
	listener net.Listener
	accepts  int                   // that the client has requested
	dropped  map[int]chan struct{} // by number, until it is closed
	joining  sync.WaitGroup
}

// serveListener listens until the client goes away.
func serveListener(ctx context.Context, c *conversation, place remote.Connection) error {
	listener, err := place.Listen(ctx)
	if err != nil {
		return err
	}
	s := &listenServer{conversation: c, ctx: ctx, listener: listener, dropped: map[int]chan struct{}{}}
	defer s.joining.Wait()
	defer listener.Close() // Accept ends, and the client is gone
	if err := c.answer(listener.Addr().String()); err != nil {
		return err
	}
	for {
		var request listenRequest
		if c.receive(&request) != nil {
			return nil // the client is gone
		}
		if err := s.perform(request); err != nil {
			return err
		}
	}
}

func (s *listenServer) perform(request listenRequest) error {
	switch {
	case request.Accept:
		opened, err := s.accept(s.ctx)
		if err != nil {
			return err
		}
		s.accepts++
		number, dropped := s.accepts, make(chan struct{})
		s.dropped[number] = dropped
		s.joining.Go(func() { s.acceptOne(number, opened, dropped) })
	case request.Drop != 0:
		if dropped := s.dropped[request.Drop]; dropped != nil {
			close(dropped)
			delete(s.dropped, request.Drop)
		}
	default:
		return s.send(listenReport{Failed: pack(s.listener.Close())})
	}
	return nil
}

// acceptOne accepts a connection and joins it with a stream.
func (s *listenServer) acceptOne(number int, opened *stream, dropped <-chan struct{}) {
	defer opened.Close()
	conn, err := s.listener.Accept()
	far, isDuplex := conn.(execution.Duplex)
	if err == nil && !isDuplex {
		err = fmt.Errorf("%T has no CloseWrite", conn)
		_ = conn.Close() // err is better
	}
	// A client that is gone needs no report.
	if err != nil {
		_ = s.send(listenReport{Number: number, Failed: pack(err)})
		return
	}
	origin := conn.RemoteAddr()
	_ = s.send(listenReport{Number: number, Accepted: &packedOrigin{origin.Network(), origin.String()}})
	execution.Join(halfClosed{opened}, far, dropped, s.ctx.Done())
	_ = s.send(listenReport{Number: number})
}

// halfClosed is a stream as an execution.Duplex.
type halfClosed struct{ *stream }

// CloseWrite ends one direction.
func (h halfClosed) CloseWrite() error { return h.Stream.Close() }

// Close ends both: nothing is read any more.
func (h halfClosed) Close() error {
	_ = h.SetReadDeadline(past) // never fails
	return h.Stream.Close()
}
