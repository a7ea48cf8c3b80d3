package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// conversation is the server's side of a conversation.
type conversation struct {
	*link
	process *process
	request request
}

// converse performs the operation of a client and sends the answer.
func (p *process) converse(running context.Context, l *link, operation string) {
	ctx, cancel := l.context(running)
	defer cancel()
	c := &conversation{link: l, process: p}
	// A process that ends is gone, and refuses nothing.
	if err := c.perform(ctx, operation); err != nil && ctx.Err() == nil {
		_ = l.fail(err) // a client that went away needs no answer
	}
}

func (c *conversation) perform(ctx context.Context, operation string) error {
	do := c.process.operation(operation)
	if do == nil {
		return fmt.Errorf("%w: unknown operation %.50q", errProtocol, operation)
	}
	if err := c.receive(&c.request); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	return do(ctx, c)
}

// operation returns the function of an operation, nil for an unknown name.
func (p *process) operation(name string) func(context.Context, *conversation) error {
	return map[string]func(context.Context, *conversation) error{
		operationConnections: p.listConnections,
		operationClose:       p.closeConnections,
		operationStop:        p.stop,
		operationSessions:    p.sessions.list,
		operationLaunch:      p.sessions.launch,
		operationAttach:      p.sessions.attach,
		operationSend:        p.sessions.send,
		operationEnd:         p.sessions.endOne,
		operationStart:       p.startProcess,
		operationConnect:     connected(hold),
		operationOpen:        connected(openFile),
		operationWrite:       connected(writeFile),
		operationListen:      connected(serveListener),
		operationStat: connected(func(ctx context.Context, c *conversation, place remote.Connection) error {
			info, err := place.Stat(ctx, string(c.request.Path))
			if err != nil {
				return err
			}
			return c.answer(packInfo(info))
		}),
		operationMkdir: connected(func(ctx context.Context, c *conversation, place remote.Connection) error {
			return c.done(place.MkdirAll(ctx, string(c.request.Path), c.request.Mode))
		}),
		operationChmod: connected(func(ctx context.Context, c *conversation, place remote.Connection) error {
			return c.done(place.Chmod(ctx, string(c.request.Path), c.request.Mode))
		}),
		operationRemove: connected(func(ctx context.Context, c *conversation, place remote.Connection) error {
			return c.done(place.Remove(ctx, string(c.request.Path)))
		}),
	}[name]
}

// connected returns an operation on the connection to the host of the request.
func connected(do func(context.Context, *conversation, remote.Connection) error) func(context.Context, *conversation) error {
	return func(ctx context.Context, c *conversation) error {
		return c.connected(ctx, func(ctx context.Context, k *kept) error { return do(ctx, c, k.connection) })
	}
}

// greeting describes this process. It retires for a client of another build, unless it
// hosts sessions that do not yield or has connections that must stay.
func (p *process) greeting(build string) Greeting {
	greeting := Greeting{
		Protocol: protocolVersion, Build: p.options.Build, Process: os.Getpid(), Since: p.began, Sessions: p.sessions.count(),
		Goroutines: runtime.NumGoroutine(),
	}
	greeting.Retires = build != "" && build != p.options.Build && !p.sessions.isKept() && !p.pool.isBusy()
	if greeting.Retires {
		p.options.Log.Info("stopping for another version", "build", build)
		p.retire()
		p.sessions.yield()
	}
	return greeting
}

func (p *process) listConnections(_ context.Context, c *conversation) error {
	return c.answer(p.pool.list())
}

func (p *process) closeConnections(_ context.Context, c *conversation) error {
	if len(c.request.Places) == 0 {
		return c.answer([]ConnectionInfo{})
	}
	var places []Place
	for _, place := range c.request.Places {
		places = append(places, place.unpack())
	}
	return c.answer(p.pool.closePlaces(places))
}

// stop closes all connections and ends the process.
func (p *process) stop(ctx context.Context, c *conversation) error {
	if living := p.sessions.count(); living > 0 {
		return fmt.Errorf("%w: %d of them", errSessionsLive, living)
	}
	closed := p.pool.closePlaces(nil)
	p.retire()
	err := c.answer(closed)
	execution.ClosesWithin(ctx.Done(), farewellPatience) // the client has read the answer when it closes its end
	p.end()
	return err
}

// connected calls do with the connection to the host of the request.
func (c *conversation) connected(ctx context.Context, do func(context.Context, *kept) error) error {
	k, err := c.process.pool.get(ctx, c.request.Place.unpack(), c.link)
	if err != nil {
		return err
	}
	defer c.process.pool.release(k)
	return c.process.pool.noteLoss(k, do(ctx, k))
}

// done sends the answer of an operation without results.
func (c *conversation) done(err error) error {
	if err != nil {
		return err
	}
	return c.answer()
}

// hold describes the host, and keeps the connection for the client.
func hold(ctx context.Context, c *conversation, place remote.Connection) error {
	if err := c.answer(place.Info()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func writeFile(ctx context.Context, c *conversation, place remote.Connection) error {
	content, err := c.accept(ctx)
	if err != nil {
		return err
	}
	return c.done(place.WriteFile(ctx, string(c.request.Path), &contentReader{stream: content, link: c.link}, c.request.Mode))
}

// openFile serves an open file until the client goes away.
func openFile(ctx context.Context, c *conversation, place remote.Connection) error {
	content, err := c.accept(ctx)
	if err != nil {
		return err
	}
	file, err := place.Open(ctx, string(c.request.Path))
	if err != nil {
		return err
	}
	// A read that hangs ends with the client.
	closeFile := sync.OnceFunc(func() {
		_ = file.Close() // no client is left to receive an error
	})
	defer context.AfterFunc(ctx, closeFile)()
	defer closeFile()
	if err := c.answer(); err != nil {
		return err
	}
	for {
		var request fileRequest
		if c.receive(&request) != nil {
			return nil // the client has closed the file
		}
		if err := c.send(answerAbout(file, request, content)); err != nil {
			return err
		}
	}
}

// answerAbout reads, seeks in or describes an open file.
func answerAbout(file remote.File, request fileRequest, content io.Writer) fileAnswer {
	var answer fileAnswer
	var err error
	switch {
	case request.Seek:
		answer.Position, err = file.Seek(request.Offset, request.Whence)
	case request.Read > 0:
		buffer := make([]byte, min(request.Read, longestRead))
		answer.Count, err = file.Read(buffer)
		if answer.Count > 0 {
			_, err = content.Write(buffer[:answer.Count]) // the next read returns the error again
		}
		if answer.End = errors.Is(err, io.EOF); answer.End {
			err = nil
		}
	default:
		info, statErr := file.Stat()
		if err = statErr; err == nil {
			answer.Info = packInfo(info)
		}
	}
	answer.Failed = pack(err)
	return answer
}

// queuedSignals is how many signals of a client may wait while one is sent.
const queuedSignals = 64

// instructions are the signals and sizes that clients send while a process or session runs.
type instructions struct {
	signals chan syscall.Signal
	resized chan remote.Size
}

func newInstructions() instructions {
	return instructions{signals: make(chan syscall.Signal, queuedSignals), resized: make(chan remote.Size, 1)}
}

// receiveInstructions queues instructions until the link is closed. It never waits for the
// place, which may need long to send a signal.
func (c *conversation) receiveInstructions(queues instructions, terminate func()) {
	c.work.Go(func() {
		for {
			var one instruction
			if c.receive(&one) != nil {
				return
			}
			if one.Terminate {
				terminate()
			}
			if one.Signal != 0 {
				execution.Offer(queues.signals, one.Signal) // further signals at the same moment add nothing
			}
			if one.Resize != nil {
				replace(queues.resized, *one.Resize)
			}
		}
	})
}

// streams are the streams of a client, nil if it has not opened them.
type streams struct {
	input          io.Reader
	output, errors io.WriteCloser
}

// acceptStreams accepts the streams that the request names.
func (c *conversation) acceptStreams(ctx context.Context) (accepted streams, err error) {
	if c.request.Input {
		if accepted.input, err = c.accept(ctx); err != nil {
			return accepted, err
		}
	}
	if c.request.Output {
		if accepted.output, err = c.accept(ctx); err != nil {
			return accepted, err
		}
	}
	if c.request.Errors {
		accepted.errors, err = c.accept(ctx)
	}
	return accepted, err
}

// startProcess runs a process.
func (p *process) startProcess(ctx context.Context, c *conversation) error {
	running, terminate := context.WithCancel(ctx)
	defer terminate()
	accepted, err := c.acceptStreams(ctx)
	if err != nil {
		return err
	}
	queues := newInstructions()
	c.receiveInstructions(queues, terminate)
	command := c.request.command(queues.resized)
	command.Stdin, command.Stdout, command.Stderr = accepted.input, accepted.output, accepted.errors
	if c.request.Merged {
		command.Stderr = command.Stdout
	}
	return c.connected(running, func(running context.Context, k *kept) error {
		p.pool.countCommand(k)
		process, err := k.connection.Start(running, command)
		if err != nil {
			return err
		}
		if c.answer() != nil {
			process.Terminate() // the client is gone
		}
		ended := make(chan struct{})
		var code int
		go func() {
			defer close(ended)
			code, err = process.Wait()
		}()
		for {
			select {
			case number := <-queues.signals:
				// A signal has no answer: Wait reports how the process fares.
				_ = process.Signal(number)
			case <-ended:
				return c.exited(ctx, accepted, code, p.pool.noteLoss(k, err))
			}
		}
	})
}

// exited sends how a process or session ended, after all its output.
func (c *conversation) exited(ctx context.Context, outputs streams, code int, err error) error {
	for _, output := range []io.Closer{outputs.output, outputs.errors} {
		if output != nil {
			_ = output.Close() // send reports a client that is gone
		}
	}
	if ctx.Err() != nil {
		return ctx.Err() // the client or this process may have ended it
	}
	return c.send(exit{code, pack(err)})
}
