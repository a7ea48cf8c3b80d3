// Package peer connects processes of one user over unix sockets, and refuses other users.
package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// dialPatience bounds the wait for a place in the queue of a server.
const dialPatience = time.Minute

// Dial connects to the unix socket of a process of this user.
func Dial(ctx context.Context, socket string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialPatience}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := Check(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Check refuses a process of another user at the other end of a unix socket.
func Check(conn net.Conn) error {
	socket, isUnix := conn.(*net.UnixConn)
	if !isUnix {
		return fmt.Errorf("%s is not a unix socket, so the user at its other end is unknown", conn.RemoteAddr().Network())
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return fmt.Errorf("looking up the user at the other end: %w", err)
	}
	var user int
	var lookedUp error
	if err := raw.Control(func(descriptor uintptr) { user, lookedUp = peerUser(int(descriptor)) }); err != nil || lookedUp != nil {
		return fmt.Errorf("looking up the user at the other end: %w", errors.Join(err, lookedUp))
	}
	return checkUser(user)
}

// checkUser refuses any other user, root included.
func checkUser(user int) error {
	if own := os.Geteuid(); user != own {
		return fmt.Errorf("the process at the other end runs as user %d, not as %d", user, own)
	}
	return nil
}
