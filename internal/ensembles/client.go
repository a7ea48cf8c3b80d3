package ensembles

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"syscall"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/peer"
)

// controlFolder is the folder of the control socket, below the folder of an ensemble.
func controlFolder(folder string) string { return filepath.Join(folder, "control") }

// A client reaches an ensemble that another process runs. It is a [coalloc.Control].
type client struct{ folder string }

// isAbsent reports whether an error means that no process listens on the socket.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// ask sends a request and returns the answer. It calls observe with events that come before it.
func (c client) ask(ctx context.Context, asked request, observe func(coalloc.EnsembleEvent) error) (answer, error) {
	conn, err := peer.Dial(ctx, daemon.SocketPath(controlFolder(c.folder)))
	if err != nil {
		if isAbsent(err) {
			return answer{}, fmt.Errorf("%w: %w", coalloc.ErrNotRunning, err)
		}
		return answer{}, fmt.Errorf("connecting to the process that runs the ensemble: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	got, err := converse(conn, asked, observe)
	switch {
	case ctx.Err() != nil && err != nil:
		return got, ctx.Err()
	case isCut(err):
		return got, fmt.Errorf("%w: it ended meanwhile", coalloc.ErrNotRunning)
	}
	return got, err
}

func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func converse(conn net.Conn, asked request, observe func(coalloc.EnsembleEvent) error) (answer, error) {
	if err := writeLine(conn, asked); err != nil && !isCut(err) { // a process that is full refuses before it reads
		return answer{}, err
	}
	reader := bufio.NewReader(conn)
	for {
		var got answer
		if err := readLine(reader, longestAnswer, &got); err != nil {
			return got, err
		}
		if got.Event == nil {
			return got, got.Failed.unpack()
		}
		if observe == nil {
			return got, fmt.Errorf("%w: an event without a request for events", errProtocol)
		}
		if err := observe(*got.Event); err != nil {
			return got, err
		}
	}
}

// Status implements [coalloc.Control].
func (c client) Status(ctx context.Context) (coalloc.Status, error) {
	got, err := c.ask(ctx, request{Operation: operationStatus}, nil)
	switch {
	case err != nil:
		return coalloc.Status{}, err
	case got.Status == nil:
		return coalloc.Status{}, fmt.Errorf("%w: an answer without a status", errProtocol)
	}
	return *got.Status, nil
}

// Add implements [coalloc.Control].
func (c client) Add(ctx context.Context, parts ...coalloc.Part) error {
	return c.sendParts(ctx, request{Operation: operationAdd}, parts)
}

// Delete implements [coalloc.Control].
func (c client) Delete(ctx context.Context, labels ...string) error {
	_, err := c.ask(ctx, request{Operation: operationDelete, Labels: labels}, nil)
	return err
}

// Substitute implements [coalloc.Control].
func (c client) Substitute(ctx context.Context, label string, part coalloc.Part) error {
	return c.sendParts(ctx, request{Operation: operationSubstitute, Labels: []string{label}}, []coalloc.Part{part})
}

func (c client) sendParts(ctx context.Context, asked request, parts []coalloc.Part) (err error) {
	if asked.Parts, err = packParts(parts); err != nil {
		return err
	}
	_, err = c.ask(ctx, asked, nil)
	return err
}

// Commit implements [coalloc.Control].
func (c client) Commit(ctx context.Context, now bool) error {
	_, err := c.ask(ctx, request{Operation: operationCommit, Now: now}, nil)
	return err
}

// Cancel implements [coalloc.Control].
func (c client) Cancel(ctx context.Context) error {
	_, err := c.ask(ctx, request{Operation: operationCancel}, nil)
	return err
}

// Events implements [coalloc.Control].
func (c client) Events(ctx context.Context, after int, observe func(coalloc.EnsembleEvent) error) error {
	_, err := c.ask(ctx, request{Operation: operationEvents, After: after}, observe)
	return err
}
