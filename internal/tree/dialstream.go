package tree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"path/filepath"
)

// DialStream opens a byte stream from a process on a node to rmctl, through a relay that serves a
// directory: the one on this host, otherwise the one at the address in the directory. It tries each
// once. The relays do not encrypt what passes.
func DialStream(ctx context.Context, directory string) (net.Conn, error) {
	private, err := PrivateDirectory()
	if err != nil {
		return nil, err
	}
	return dialStream(ctx, private, directory)
}

func dialStream(ctx context.Context, private, directory string) (net.Conn, error) {
	secret, err := ReadSecret(directory)
	if err != nil {
		return nil, err
	}
	socket, _ := streamFiles(private, directory)
	conn, here := dialHost(ctx, socket)
	if here == nil {
		if conn, here = enter(ctx, conn, secret); here == nil {
			return conn, nil
		}
	}
	address := readAddress(directory)
	if address == "" {
		return nil, fmt.Errorf("connecting to rmctl: relay on this host: %w; no address of another one in %s", here, directory)
	}
	dialer := &net.Dialer{Timeout: handshakeLimit, KeepAliveConfig: keepAlive}
	conn, err = dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		conn, err = enter(ctx, conn, secret)
	}
	if err != nil {
		return nil, fmt.Errorf("connecting to rmctl: relay on this host: %w; relay at %s: %w", here, address, err)
	}
	return conn, nil
}

// keepAlive ends connections to hosts that are gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 3 * pingInterval, Interval: pingInterval, Count: 3}

// enter proves the secret to a relay, which then connects this process to rmctl.
func enter(ctx context.Context, conn net.Conn, secret []byte) (net.Conn, error) {
	return shake(ctx, conn, func(ctx context.Context, l *link) error {
		if err := l.dial(ctx, secret, message{Role: roleStream}, false); err != nil {
			return err
		}
		return l.awaitOpened(ctx)
	})
}

// awaitOpened waits until the relay has opened the stream.
func (l *link) awaitOpened(ctx context.Context) error {
	defer l.closeAtEnd(ctx)()
	line, err := l.readLine(mostHandshakeBytes)
	if err != nil {
		return handshakeError(ctx, err)
	}
	answer, err := decode(line)
	if err == nil && answer.Kind != kindOpened {
		err = errors.New(cmp.Or(answer.Problem, "no stream"))
	}
	return err
}

// A dialed is a connection to a relay behind the handshake.
type dialed struct {
	net.Conn
	rest []byte // that arrived with the handshake
}

// Read implements [io.Reader].
func (d *dialed) Read(buffer []byte) (int, error) {
	if len(d.rest) == 0 {
		return d.Conn.Read(buffer)
	}
	n := copy(buffer, d.rest)
	if d.rest = d.rest[n:]; len(d.rest) == 0 {
		d.rest = nil
	}
	return n, nil
}

// CloseWrite sends the end of what this end writes.
func (d *dialed) CloseWrite() error {
	if conn, canHalf := d.Conn.(interface{ CloseWrite() error }); canHalf {
		return conn.CloseWrite()
	}
	return errors.ErrUnsupported
}

// hashName returns a name for files of a directory on this host.
func hashName(directory string) string {
	sum := sha256.Sum256([]byte(filepath.Clean(directory)))
	return hex.EncodeToString(sum[:16])
}
