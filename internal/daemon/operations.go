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

// conversation is the process's side of one.
type conversation struct {
	*link
	process *process
	asked   request
}

// converse does what a client wants, and sends the answer.
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
		return fmt.Errorf("%w: there is no operation %.50q", errProtocol, operation)
	}
	if err := c.receive(&c.asked); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	return do(ctx, c)
}

// operation returns what an operation does, nil if there is none of that name.
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
		operationStat: connected(func(ctx context.Context, c *conversation, place remote.Connection) error {
			info, err := place.Stat(ctx, string(c.asked.Path))
			if err != nil {
				return err
			}
			return c.answer(packInfo(info))
		}),
		operationMkdir: connected(func(ctx context.Context, c *conversation, place remote.Connection) error {
			return c.done(place.MkdirAll(ctx, string(c.asked.Path), c.asked.Mode))
		}),
		operationChmod: connected(func(ctx context.Context, c *conversation, place remote.Connection) error {
			return c.done(place.Chmod(ctx, string(c.asked.Path), c.asked.Mode))
		}),
		operationRemove: connected(func(ctx context.Context, c *conversation, place remote.Connection) error {
			return c.done(place.Remove(ctx, string(c.asked.Path)))
		}),
	}[name]
}

// connected returns an operation on the connection that the client names.
func connected(do func(context.Context, *conversation, remote.Connection) error) func(context.Context, *conversation) error {
	return func(ctx context.Context, c *conversation) error {
		return c.connected(ctx, func(ctx context.Context, k *kept) error { return do(ctx, c, k.connection) })
	}
}

// greeting describes this process. To a client of another build it makes room,
// unless it hosts sessions; one that names no build takes any.
func (p *process) greeting(build string) Greeting {
	greeting := Greeting{
		Protocol: protocolVersion, Build: p.options.Build, Process: os.Getpid(), Since: p.began, Sessions: p.sessions.count(),
		Goroutines: runtime.NumGoroutine(),
	}
	greeting.Retires = build != "" && build != p.options.Build && greeting.Sessions == 0
	if greeting.Retires {
		p.options.Log.Info("making room for another build", "build", build)
		p.retire()
	}
	return greeting
}

func (p *process) listConnections(_ context.Context, c *conversation) error {
	return c.answer(p.pool.list())
}

func (p *process) closeConnections(_ context.Context, c *conversation) error {
	if len(c.asked.Places) == 0 {
		return c.answer([]ConnectionInfo{})
	}
	var places []Place
	for _, place := range c.asked.Places {
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

// connected does something with the connection that the client names.
func (c *conversation) connected(ctx context.Context, do func(context.Context, *kept) error) error {
	k, err := c.process.pool.get(ctx, c.asked.Place.unpack(), c.link)
	if err != nil {
		return err
	}
	defer c.process.pool.release(k)
	return c.process.pool.noticed(k, do(ctx, k))
}

// done answers that something was done.
func (c *conversation) done(err error) error {
	if err != nil {
		return err
	}
	return c.answer()
}

// hold describes the place, and keeps the connection for the client.
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
	return c.done(place.WriteFile(ctx, string(c.asked.Path), &contentReader{stream: content, link: c.link}, c.asked.Mode))
}

// openFile serves an open file until the client goes away.
func openFile(ctx context.Context, c *conversation, place remote.Connection) error {
	content, err := c.accept(ctx)
	if err != nil {
		return err
	}
	file, err := place.Open(ctx, string(c.asked.Path))
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
		var wanted fileRequest
		if c.receive(&wanted) != nil {
			return nil // the client has closed the file
		}
		if err := c.send(answerAbout(file, wanted, content)); err != nil {
			return err
		}
	}
}

// answerAbout does what a client wants of an open file.
func answerAbout(file remote.File, wanted fileRequest, content io.Writer) fileAnswer {
	var given fileAnswer
	var err error
	switch {
	case wanted.Seek:
		given.Position, err = file.Seek(wanted.Offset, wanted.Whence)
	case wanted.Read > 0:
		buffer := make([]byte, min(wanted.Read, longestRead))
		given.Count, err = file.Read(buffer)
		if given.Count > 0 {
			_, err = content.Write(buffer[:given.Count]) // an error of reading comes again with the next read
		}
		if given.End = errors.Is(err, io.EOF); given.End {
			err = nil
		}
	default:
		info, statErr := file.Stat()
		if err = statErr; err == nil {
			given.Info = packInfo(info)
		}
	}
	given.Failed = pack(err)
	return given
}

// queuedSignals is how many signals of a client may wait while one is sent.
const queuedSignals = 64

// instructions are what clients say while a process or session runs.
type instructions struct {
	signals chan syscall.Signal
	resized chan remote.Size
}

func newInstructions() instructions {
	return instructions{signals: make(chan syscall.Signal, queuedSignals), resized: make(chan remote.Size, 1)}
}

// receiveInstructions receives them until the link is closed. What receives must not wait, as
// the place may take its time to send a signal.
func (c *conversation) receiveInstructions(given instructions, terminate func()) {
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
				execution.Offer(given.signals, one.Signal) // more than that in one moment say nothing new
			}
			if one.Resize != nil {
				replace(given.resized, *one.Resize)
			}
		}
	})
}

// streams are those that the client has opened, nil if it has not.
type streams struct {
	input          io.Reader
	output, errors io.WriteCloser
}

// acceptStreams accepts the streams that the request names.
func (c *conversation) acceptStreams(ctx context.Context) (accepted streams, err error) {
	if c.asked.Input {
		if accepted.input, err = c.accept(ctx); err != nil {
			return accepted, err
		}
	}
	if c.asked.Output {
		if accepted.output, err = c.accept(ctx); err != nil {
			return accepted, err
		}
	}
	if c.asked.Errors {
		accepted.errors, err = c.accept(ctx)
	}
	return accepted, err
}

// startProcess runs a process.
func (p *process) startProcess(ctx context.Context, c *conversation) error {
	wanted, terminate := context.WithCancel(ctx)
	defer terminate()
	accepted, err := c.acceptStreams(ctx)
	if err != nil {
		return err
	}
	given := newInstructions()
	c.receiveInstructions(given, terminate)
	command := c.asked.command(given.resized)
	command.Stdin, command.Stdout, command.Stderr = accepted.input, accepted.output, accepted.errors
	if c.asked.Merged {
		command.Stderr = command.Stdout
	}
	return c.connected(wanted, func(wanted context.Context, k *kept) error {
		p.pool.countCommand(k)
		process, err := k.connection.Start(wanted, command)
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
			case number := <-given.signals:
				// A signal has no answer: Wait reports how the process fares.
				_ = process.Signal(number)
			case <-ended:
				return c.exited(ctx, accepted, code, p.pool.noticed(k, err))
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
		return ctx.Err() // the end of the client or of this process may be what ended it
	}
	return c.send(exit{code, pack(err)})
}
