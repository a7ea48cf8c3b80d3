package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/rmctl/rmctl/remote/wire"
)

// Start starts a session.
func (c *Client) Start(ctx context.Context, launch Launch, attachment *Attachment) (Attached, error) {
	packed := &packedLaunch{Request: launch.Request}
	if launch.Terminal != nil {
		packed.Terminal, packed.TerminalType, packed.Size = true, launch.Terminal.Type, launch.Terminal.Size
	}
	asked := request{Protocol: Protocol, Operation: operationLaunch, Name: launch.Name, Launch: packed}
	if attachment != nil {
		return c.attach(ctx, asked, *attachment)
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	return nil, c.converse(ctx, conn, asked, nil, nil)
}

// Attach attaches to a living session.
func (c *Client) Attach(ctx context.Context, name string, attachment Attachment) (Attached, error) {
	return c.attach(ctx, request{Protocol: Protocol, Operation: operationAttach, Name: name}, attachment)
}

// Send puts input into a session.
func (c *Client) Send(ctx context.Context, name string, input []byte) error {
	if len(input) > LongestInput {
		return fmt.Errorf("the input for session %q is longer than %d bytes", name, LongestInput)
	}
	conn, err := wire.Dial(ctx, c.socket)
	if err != nil {
		return noSession(name, err)
	}
	link := wire.NewLink(conn, errorsByName())
	outlet := link.Outlet(streamInput)
	if err := link.SendHeader(request{Protocol: Protocol, Operation: operationSend, Name: name}); err != nil {
		return errors.Join(unsent(err), conn.Close())
	}
	answered := make(chan []byte, 1)
	listening, stop := link.Listen(ctx, nil, func(kind wire.Kind, payload []byte) error {
		if kind != frameDone {
			return wire.RefuseFrame(kind, payload)
		}
		offer(answered, payload)
		return nil
	})
	defer stop()
	unwatch := context.AfterFunc(ctx, func() { link.Close() })
	defer unwatch()
	if _, err := outlet.Write(input); err == nil {
		_ = outlet.Close() // should this fail, there is no answer
	}
	_, err = await(ctx, listening, answered)
	return err
}

// End ends the process of a session.
func (c *Client) End(ctx context.Context, name string) error {
	conn, err := wire.Dial(ctx, c.socket)
	if err != nil {
		return noSession(name, err)
	}
	return c.converse(ctx, conn, request{Protocol: Protocol, Operation: operationEnd, Name: name}, nil, nil)
}

// noSession tells that without a process there is no session.
func noSession(name string, err error) error {
	if isAbsent(err) {
		return fmt.Errorf("%q: %w", name, ErrNoSession)
	}
	return notRunning(err)
}

// attached is a client's hold on a session.
type attached struct {
	link      *wire.Link
	listening context.Context
	stop      func()
	exited    chan exit
	outputs   []*wire.OutputCopy
	input     *wire.InputCopy // nil without
	given     Attachment

	detach     chan struct{}
	detachOnce sync.Once

	done chan struct{} // closed when code and err are final
	code int
	err  error
}

// attach has the conversation that attaches. A process is started only for a
// new session: an absent one has none.
func (c *Client) attach(ctx context.Context, asked request, given Attachment) (Attached, error) {
	dial := c.dial
	if asked.Operation == operationAttach {
		dial = c.dialLiving(asked.Name)
	}
	conn, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	asked.Attach = &packedAttach{Input: given.Stdin != nil, Size: given.Size, Prompt: given.Prompter != nil}
	link := wire.NewLink(conn, errorsByName())
	a := &attached{link: link, exited: make(chan exit, 1), given: given, detach: make(chan struct{}), done: make(chan struct{})}
	if given.Stdin != nil {
		a.input = wire.NewInputCopy(given.Stdin, link.Outlet(streamInput))
		a.input.KeepOpen = !given.EndInput
	}
	for number, sink := range map[byte]io.Writer{streamOutput: given.Stdout, streamErrors: given.Stderr} {
		a.outputs = append(a.outputs, wire.NewOutputCopy(link.Inlet(number), sink))
	}
	if err := link.SendHeader(asked); err != nil {
		return nil, errors.Join(unsent(err), conn.Close())
	}
	begun := make(chan struct{}, 1)
	a.listening, a.stop = link.Listen(context.WithoutCancel(ctx), given.Prompter, func(kind wire.Kind, payload []byte) error {
		switch kind {
		case frameDone:
			offer(begun, struct{}{})
			return nil
		case frameExit:
			var how exit
			err := wire.Decode(payload, &how)
			offer(a.exited, how)
			return err
		}
		return wire.RefuseFrame(kind, payload)
	})
	unwatch := context.AfterFunc(ctx, func() { link.Close() })
	_, err = await(ctx, a.listening, begun)
	if !unwatch() || err != nil {
		a.stop()
		return nil, errors.Join(err, ctx.Err())
	}
	a.begin(ctx)
	return a, nil
}

func (c *Client) dialLiving(name string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := wire.Dial(ctx, c.socket)
		if err != nil {
			return nil, noSession(name, err)
		}
		return conn, nil
	}
}

// begin serves the streams in goroutines of which Wait waits for all but a read
// of the input.
func (a *attached) begin(ctx context.Context) {
	if a.input != nil {
		go a.input.Run()
	}
	for _, output := range a.outputs {
		go output.Run()
	}
	go a.supervise(ctx)
}

// supervise follows the session until it ends or the client leaves.
func (a *attached) supervise(ctx context.Context) {
	defer close(a.done)
	resized, signals := a.given.Resized, a.given.Signals
	for {
		select {
		case how := <-a.exited:
			a.finish(how)
			return
		case <-a.listening.Done():
			select {
			case how := <-a.exited: // the process says so, and then closes the link
				a.finish(how)
			default:
				a.leave(whyLost(context.Cause(a.listening)))
			}
			return
		case <-ctx.Done():
			a.leave(ErrDetached)
			return
		case <-a.detach:
			a.leave(ErrDetached)
			return
		case size, open := <-resized:
			if !open {
				resized = nil
				continue
			}
			a.send(frameResize, size)
		case number, open := <-signals:
			if !open {
				signals = nil
				continue
			}
			a.send(frameSignal, int(number))
		}
	}
}

// send tells the process something. That it is gone shows at once, elsewhere.
func (a *attached) send(kind wire.Kind, value any) {
	_ = a.link.SendValue(kind, value)
}

// finish takes how the session ended, once all its output was written.
func (a *attached) finish(how exit) {
	a.code = how.Code
	if how.Failed != nil {
		a.err = a.link.Unpack(how.Failed)
	}
	a.err = errors.Join(a.err, a.endStreams())
	a.stop()
}

// leave lets go of the session.
func (a *attached) leave(reason error) {
	a.stop()
	a.code, a.err = -1, errors.Join(reason, a.endStreams())
}

func (a *attached) endStreams() error {
	var failures []error
	for _, output := range a.outputs {
		failures = append(failures, output.Wait())
	}
	if a.input != nil {
		failures = append(failures, a.input.End())
	}
	return errors.Join(failures...)
}

// Wait waits until the session has ended or the client left.
func (a *attached) Wait() (int, error) {
	<-a.done
	return a.code, a.err
}

// Detach lets go of the session.
func (a *attached) Detach() {
	a.detachOnce.Do(func() { close(a.detach) })
}
