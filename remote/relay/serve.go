package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/wire"
)

// MostClients is how many conversations Serve takes part in at once.
const MostClients = 1024

// Serve serves the connections of a provider to clients of this user until ctx
// is cancelled or the listener closed, which is no error; what clients have
// under way ends with it.
func Serve(ctx context.Context, listener net.Listener, provider Provider) error {
	server := wire.Server{
		Clients: MostClients,
		Own:     ownErrors(),
		Handle:  func(ctx context.Context, link *wire.Link, header []byte) { Handle(ctx, link, header, provider) },
	}
	return server.Serve(ctx, listener)
}

// Handle takes part in one conversation that a client of this package has
// begun with that header. It is for servers that do more than relay, whose
// links have to know the errors of this package: see Errors.
func Handle(ctx context.Context, link *wire.Link, header []byte, provider Provider) {
	var asked request
	err := wire.Decode(header, &asked)
	if err == nil && asked.Protocol != Protocol {
		err = fmt.Errorf("%w: it speaks version %d, not %d", ErrOtherProtocol, Protocol, asked.Protocol)
	}
	s := &conversation{link: link, asked: asked, provider: provider}
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil && ctx.Err() == nil {
		// A client that went away needs no answer, and a server that ends is
		// gone: its clients are to see that, not a cancellation of theirs.
		_ = link.Fail(err)
	}
	if s.stop != nil {
		s.stop()
	}
}

// Errors are those that links of this package's conversations pass on by name.
func Errors() map[string]error { return ownErrors() }

// conversation is the server's side of one.
type conversation struct {
	link     *wire.Link
	asked    request
	provider Provider
	stop     func()
}

// run does what was asked for. An error is what the client is told.
func (s *conversation) run(ctx context.Context) error {
	switch s.asked.Operation {
	case operationConnect:
		return s.with(ctx, wire.RefuseFrame, s.hold)
	case operationStart:
		return s.start(ctx)
	case operationOpen:
		return s.open(ctx)
	case operationWrite:
		content := s.link.Inlet(streamInput)
		return s.with(ctx, wire.RefuseFrame, func(ctx context.Context, connection remote.Connection) error {
			return s.done(struct{}{}, connection.WriteFile(ctx, string(s.asked.Path), content, fs.FileMode(s.asked.Mode)))
		})
	case operationStat, operationMkdir, operationChmod, operationRemove:
		return s.with(ctx, wire.RefuseFrame, s.file)
	}
	return fmt.Errorf("%w: there is no operation %.50q", wire.ErrProtocol, s.asked.Operation)
}

// with listens, and does something with the connection that was asked for.
func (s *conversation) with(ctx context.Context, handle func(wire.Kind, []byte) error, do func(context.Context, remote.Connection) error) error {
	ctx, s.stop = s.link.Listen(ctx, nil, handle)
	return s.connected(ctx, do)
}

// connected does something with the connection that was asked for.
func (s *conversation) connected(ctx context.Context, do func(context.Context, remote.Connection) error) error {
	connection, release, err := s.provider.Connection(ctx, s.asked.place(), s.link)
	if err != nil {
		return err
	}
	defer release()
	return do(ctx, connection)
}

// done tells the client what came of it.
func (s *conversation) done(result any, err error) error {
	if err != nil {
		return err
	}
	return s.link.SendValue(frameDone, result)
}

// hold describes the place, and keeps the connection for the client.
func (s *conversation) hold(ctx context.Context, connection remote.Connection) error {
	if err := s.done(connection.Info(), nil); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (s *conversation) file(ctx context.Context, connection remote.Connection) error {
	path, mode := string(s.asked.Path), fs.FileMode(s.asked.Mode)
	switch s.asked.Operation {
	case operationMkdir:
		return s.done(struct{}{}, connection.MkdirAll(ctx, path, mode))
	case operationChmod:
		return s.done(struct{}{}, connection.Chmod(ctx, path, mode))
	case operationRemove:
		return s.done(struct{}{}, connection.Remove(ctx, path))
	}
	info, err := connection.Stat(ctx, path)
	if err != nil {
		return err
	}
	return s.done(packInfo(info), nil)
}

// queuedRequests is how many requests of a client may wait while one is served.
const queuedRequests = 64

// start runs a process.
func (s *conversation) start(ctx context.Context) error {
	if s.asked.Command == nil {
		return fmt.Errorf("%w: no command", wire.ErrProtocol)
	}
	wanted, terminate := context.WithCancel(ctx)
	defer terminate()
	requests := processRequests{signals: make(chan syscall.Signal, queuedRequests), resized: make(chan remote.Size, 1), terminate: terminate}

	started := s.asked.Command.unpack(requests.resized)
	if s.asked.Command.Input {
		started.Stdin = s.link.Inlet(streamInput)
	}
	output, complaints := s.link.Outlet(streamOutput), s.link.Outlet(streamErrors)
	if s.asked.Command.Output || s.asked.Command.Merged {
		started.Stdout = output
	}
	if s.asked.Command.Errors {
		started.Stderr = complaints
	}
	if s.asked.Command.Merged {
		started.Stderr = output
	}
	listening, stop := s.link.Listen(ctx, nil, requests.handle)
	s.stop = stop
	defer context.AfterFunc(listening, terminate)()
	return s.connected(wanted, func(ctx context.Context, connection remote.Connection) error {
		process, err := connection.Start(ctx, started)
		if err != nil {
			return err
		}
		if err := s.done(struct{}{}, nil); err != nil {
			process.Terminate() // the client is gone
		}
		ended := make(chan exit, 1)
		go func() { ended <- s.waitFor(process) }()
		for {
			select {
			case number := <-requests.signals:
				// A signal has no answer: Wait tells how the process fares.
				_ = process.Signal(number)
			case how := <-ended:
				if listening.Err() != nil {
					return listening.Err() // which is what ended the process
				}
				return s.exited(how, output, complaints)
			}
		}
	})
}

// processRequests are what a client requests while its process runs. The goroutine
// that reads must not wait, as the place may take its time to send a signal.
type processRequests struct {
	signals   chan syscall.Signal
	resized   chan remote.Size
	terminate context.CancelFunc
}

func (r processRequests) handle(kind wire.Kind, payload []byte) error {
	switch kind {
	case frameTerminate:
		r.terminate()
		return nil
	case frameResize:
		var size remote.Size
		err := wire.Decode(payload, &size)
		replace(r.resized, size)
		return err
	case frameSignal:
		var number int
		err := wire.Decode(payload, &number)
		offer(r.signals, syscall.Signal(number)) // more than that in one moment say nothing new
		return err
	}
	return wire.RefuseFrame(kind, payload)
}

func (s *conversation) waitFor(process remote.Handle) exit {
	code, err := process.Wait()
	how := exit{Code: code}
	// That output could not be sent is the client's doing: it is gone.
	if err != nil && !errors.Is(err, wire.ErrLost) && !errors.Is(err, wire.ErrStreamClosed) {
		how.Failed = s.link.Pack(err)
	}
	return how
}

// exited tells the client that all output was sent, and how the process ended.
func (s *conversation) exited(how exit, outputs ...*wire.Outlet) error {
	for _, output := range outputs {
		if err := output.Close(); err != nil {
			return err
		}
	}
	return s.link.SendValue(frameExit, how)
}

// offer puts a value into a channel that has room.
func offer[V any](channel chan V, value V) {
	select {
	case channel <- value:
	default:
	}
}

// replace puts a value into a channel that holds one, of which only the last counts.
// Only one goroutine may call it.
func replace[V any](channel chan V, value V) {
	select {
	case <-channel:
	default:
	}
	offer(channel, value)
}
