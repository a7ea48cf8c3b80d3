package sdm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/tree"
)

// secretSuffix follows the name of the file of addresses in the name of that with the secret.
const secretSuffix = ".secret"

// shareSecret returns the secret that the master and the servers share. Whoever comes first makes it.
func shareSecret(routes string) ([]byte, error) {
	path := routes + secretSuffix
	secret, err := tree.ReadSecretFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := makeSecret(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making the secret of the debugger: %w", err)
	}
	return tree.ReadSecretFile(path)
}

// makeSecret makes a file that others see only once it is complete, unless there is one.
func makeSecret(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".sdm-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	_, err = file.WriteString(hex.EncodeToString(secret) + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Link(file.Name(), path) // fails if there is one
}

// roleOf is the role of the master in the handshake with the server of a rank.
func roleOf(rank int) string { return "sdm " + strconv.Itoa(rank) }

const (
	// dialLimit bounds one attempt to reach a port.
	dialLimit = 5 * time.Second
	// mostRefused is how many ports without a listener a round tries: ports that were in use when the server
	// started may be free now.
	mostRefused = 16
)

// dialServer connects to the server of a rank. It tries the ports from that of its route on, again and again.
func dialServer(ctx context.Context, at route, rank int, secret []byte) (net.Conn, error) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		conn, err := tryPorts(ctx, at, rank, secret)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connecting to the server of rank %d on %s: %w", rank, at.host, err)
		case <-ticker.C:
		}
	}
}

// tryPorts tries the ports of a server once each.
func tryPorts(ctx context.Context, at route, rank int, secret []byte) (net.Conn, error) {
	var last error
	refused := 0
	dialer := net.Dialer{Timeout: dialLimit}
	for port := at.port; port < at.port+portTries && port <= 65535 && refused < mostRefused && ctx.Err() == nil; port++ {
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(at.host, strconv.Itoa(port)))
		if err != nil {
			refused++
			last = err
			continue
		}
		if conn, err = tree.Prove(ctx, conn, secret, roleOf(rank)); err == nil {
			return conn, nil
		}
		last = fmt.Errorf("port %d: %w", port, err)
	}
	if last == nil {
		last = context.Cause(ctx)
	}
	return nil, last
}

// listenForMaster listens at the first port of a route that is free.
func listenForMaster(ctx context.Context, at route) (net.Listener, error) {
	var last error
	for port := at.port; port < at.port+portTries && port <= 65535; port++ {
		var config net.ListenConfig
		listener, err := config.Listen(ctx, "tcp", ":"+strconv.Itoa(port))
		if err == nil {
			return listener, nil
		}
		last = err
	}
	return nil, fmt.Errorf("listening for the master of the debugger: %w", last)
}

// acceptMaster returns the connection of the master. Others are refused, each by itself, so that none keeps the master waiting.
func acceptMaster(ctx context.Context, listener net.Listener, rank int, secret []byte) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	var checks sync.WaitGroup
	defer checks.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })() // it has nothing to write
	masters := make(chan net.Conn, 1)
	turns := make(chan struct{}, mostDials)
	for {
		conn, err := listener.Accept()
		select {
		case master := <-masters:
			if err == nil {
				_ = conn.Close() // nothing was said
			}
			return master, nil
		default:
		}
		if err != nil {
			return nil, fmt.Errorf("waiting for the master of the debugger: %w", cmp.Or(context.Cause(ctx), err))
		}
		turns <- struct{}{}
		checks.Go(func() {
			defer func() { <-turns }()
			proven, err := tree.Check(ctx, conn, secret, roleOf(rank))
			if err != nil {
				return
			}
			select {
			case masters <- proven:
				_ = listener.Close() // it has nothing to write
			default:
				_ = proven.Close() // another one was first
			}
		})
	}
}
