package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/internal/peer"
)

// serve serves an editor at the place in --dap.
func (e *Environment) serve(ctx context.Context, where string) error {
	if where == standardStreams {
		return e.ServeEditor(ctx, newStreams(e.Stdin, e.Stdout))
	}
	socket, isSocket := strings.CutPrefix(where, "unix:")
	if !isSocket || socket == "" {
		return usage("--dap=%s: enter --dap or --dap=unix:PATH", where)
	}
	return e.serveSocket(ctx, socket)
}

// streams are standard input and output as one stream.
type streams struct {
	*io.PipeReader // Close ends reads that wait
	io.Writer
}

// newStreams reads input in a goroutine, because a read of a pipe cannot be ended. It ends with the input, or the process.
func newStreams(input io.Reader, output io.Writer) streams {
	reader, writer := io.Pipe()
	go func() {
		_, err := io.Copy(writer, input)
		_ = writer.CloseWithError(err) // never fails
	}()
	return streams{reader, output}
}

// serveSocket serves the first editor that connects to a new socket.
func (e *Environment) serveSocket(ctx context.Context, path string) error {
	listener, err := listen(path)
	if err != nil {
		return fmt.Errorf("waiting for an editor: %w", err)
	}
	conn, err := accept(ctx, listener)
	_ = listener.Close() // and removes the socket; it may be closed already
	if err != nil {
		return fmt.Errorf("waiting for an editor: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return e.ServeEditor(ctx, conn)
}

// listen makes a socket that only this user can use.
func listen(path string) (net.Listener, error) {
	if err := files.RefuseForeignSocket(path); err != nil {
		return nil, err
	}
	if err := files.RemoveDeadSocket(path); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil { // the other end is checked when accepted
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// accept waits for a process of this user.
func accept(ctx context.Context, listener net.Listener) (net.Conn, error) {
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			if conn != nil {
				_ = conn.Close()
			}
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, err
		}
		if err := peer.Check(conn); err == nil {
			return conn, nil
		}
		_ = conn.Close() // another user
	}
}
