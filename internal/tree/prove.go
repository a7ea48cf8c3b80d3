package tree

import (
	"bytes"
	"context"
	"net"
)

// Prove proves a secret to the process at the other end of a connection, which calls [Check] with the same role, and
// checks that it has the secret, too. It returns the connection behind that, and closes it after an error. Nothing is encrypted.
func Prove(ctx context.Context, conn net.Conn, secret []byte, role string) (net.Conn, error) {
	return shake(ctx, conn, func(ctx context.Context, l *link) error {
		return l.dial(ctx, secret, message{Role: role}, false)
	})
}

// Check is the other end of [Prove].
func Check(ctx context.Context, conn net.Conn, secret []byte, role string) (net.Conn, error) {
	return shake(ctx, conn, func(ctx context.Context, l *link) error {
		_, err := l.accept(ctx, secret, role)
		return err
	})
}

func shake(ctx context.Context, conn net.Conn, handshake func(context.Context, *link) error) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	l := newLink(conn)
	if err := handshake(ctx, l); err != nil {
		l.end(err)
		return nil, err
	}
	rest, _ := l.reader.Peek(l.reader.Buffered()) // never fails
	return &dialed{Conn: conn, rest: bytes.Clone(rest)}, nil
}
