package ensembles

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/peer"
)

const (
	mostClients     = 128              // of one ensemble at a time
	requestPatience = 10 * time.Second // to send a request
	answerPatience  = 30 * time.Second // to take a line
	farewell        = 2 * time.Second  // for clients that still read when the ensemble has ended
)

// A server answers the clients of a control socket.
type server struct {
	control coalloc.Control
	log     *slog.Logger
}

// serve listens below the folder of an ensemble until the returned function is called, which waits until all
// clients have their answers.
func serve(ctx context.Context, folder string, control coalloc.Control, log *slog.Logger) (leave func() error, err error) {
	listener, held, err := daemon.Occupy(controlFolder(folder))
	if errors.Is(err, daemon.ErrRunning) {
		err = fmt.Errorf("%w: %w", coalloc.ErrRunning, err)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &server{control, log}
	var serving sync.WaitGroup
	serving.Go(func() { s.accept(ctx, listener) })
	return sync.OnceValue(func() error {
		err := listener.Close() // before a client is cut off: it may come again
		timer := time.AfterFunc(farewell, cancel)
		serving.Wait()
		timer.Stop()
		cancel()
		return errors.Join(err, held.Close())
	}), nil
}

// accept serves clients until the listener is closed, and waits for them.
func (s *server) accept(ctx context.Context, listener net.Listener) {
	var clients sync.WaitGroup
	defer clients.Wait()
	room := make(chan struct{}, mostClients)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		if err := peer.Check(conn); err != nil {
			s.log.Warn("refusing a client of an ensemble", "error", err)
			_ = conn.Close() // nothing was sent
			continue
		}
		select {
		case room <- struct{}{}:
		default:
			// The client reads this answer or finds the connection closed.
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_ = writeLine(conn, answer{Failed: pack(fmt.Errorf("%d commands already use the ensemble\nend some, such as rmctl coalloc events -f, and try again", mostClients))})
			_ = conn.Close()
			continue
		}
		clients.Go(func() {
			defer func() { <-room }()
			if err := s.answer(ctx, conn); err != nil {
				s.log.Debug("a client of an ensemble has left", "error", err)
			}
		})
	}
}

// answer reads the request of a client and answers it.
func (s *server) answer(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetReadDeadline(time.Now().Add(requestPatience)); err != nil {
		return err
	}
	reader := bufio.NewReader(conn)
	var asked request
	if err := readLine(reader, longestRequest, &asked); err != nil {
		if errors.Is(err, errProtocol) {
			return s.send(conn, answer{Failed: pack(err)})
		}
		return err
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	defer conn.Close()
	watching.Go(func() {
		// A client sends nothing more: this returns when it leaves.
		_, _ = reader.ReadByte()
		cancel()
	})
	status, err := s.perform(ctx, conn, asked)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.send(conn, answer{Status: status, Failed: pack(err)})
}

func (s *server) perform(ctx context.Context, conn net.Conn, asked request) (*coalloc.Status, error) {
	switch asked.Operation {
	case operationStatus:
		status, err := s.control.Status(ctx)
		return &status, err
	case operationAdd, operationSubstitute:
		return nil, s.addParts(ctx, asked)
	case operationDelete:
		return nil, s.control.Delete(ctx, asked.Labels...)
	case operationCommit:
		return nil, s.control.Commit(ctx, asked.Now)
	case operationCancel:
		return nil, s.control.Cancel(ctx)
	case operationEvents:
		return nil, s.control.Events(ctx, asked.After, func(event coalloc.EnsembleEvent) error {
			return s.send(conn, answer{Event: &event})
		})
	}
	return nil, fmt.Errorf("%w: unknown operation %.50q", errProtocol, asked.Operation)
}

func (s *server) addParts(ctx context.Context, asked request) error {
	parts, err := unpackParts(asked.Parts)
	switch {
	case err != nil:
		return err
	case asked.Operation == operationAdd:
		return s.control.Add(ctx, parts...)
	case len(asked.Labels) != 1 || len(parts) != 1:
		return fmt.Errorf("%w: %d parts instead of %d", errProtocol, len(parts), len(asked.Labels))
	}
	return s.control.Substitute(ctx, asked.Labels[0], parts[0])
}

// send sends a line to a client that takes it in time.
func (s *server) send(conn net.Conn, line answer) error {
	if err := conn.SetWriteDeadline(time.Now().Add(answerPatience)); err != nil {
		return err
	}
	return writeLine(conn, line)
}
