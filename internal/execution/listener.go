package execution

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// A Listener accepts connections until it is closed, its context is done, or what carries
// its connections ends.
type Listener struct {
	source  net.Listener
	address net.Addr
	cancel  func() error
	unwatch func() bool

	once  sync.Once
	ended chan struct{} // closed when why is final
	why   error
	err   error // of ending
}

// NewListener returns a listener for the connections that source accepts, with the address
// that processes connect to. Cancel, called once, keeps further connections from arriving.
func NewListener(ctx context.Context, source net.Listener, address net.Addr, cancel func() error) *Listener {
	l := &Listener{source: source, address: address, cancel: cancel, ended: make(chan struct{})}
	l.unwatch = context.AfterFunc(ctx, func() {
		_ = l.End(context.Cause(ctx)) // Close returns the error
	})
	return l
}

// Accept waits for a connection. After the end of the listener it returns the reason.
func (l *Listener) Accept() (net.Conn, error) {
	conn, err := l.source.Accept()
	if err == nil {
		return conn, nil
	}
	if IsClosed(l.ended) {
		err = l.why
	}
	return nil, fmt.Errorf("accepting a connection: %w", err)
}

// End ends the listener. Accept then returns why. The first reason counts.
func (l *Listener) End(why error) error {
	l.once.Do(func() {
		l.why = why
		close(l.ended)
		l.err = l.source.Close()
		l.err = errors.Join(l.err, l.cancel())
	})
	return l.err
}

// Ended returns a channel that is closed once the listener ends.
func (l *Listener) Ended() <-chan struct{} { return l.ended }

// Close ends the listener. Connections that it accepted stay open.
func (l *Listener) Close() error {
	l.unwatch()
	return l.End(net.ErrClosed)
}

// Addr is the address that processes connect to.
func (l *Listener) Addr() net.Addr { return l.address }
