package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/rmctl/rmctl/internal/execution"
)

// Start starts a session and attaches to it from its first byte on. With
// a nil attachment it returns as soon as the session exists, and nil. A
// name that is taken gives ErrSessionExists.
func (c *Client) Start(ctx context.Context, launch Launch, attachment *Attachment) (*Attached, error) {
	message := request{Name: launch.Name, Launch: launch.Request, Terminal: packTerminal(launch.Terminal), Yields: launch.Yields}
	if attachment != nil {
		return attach(ctx, c.dial, operationLaunch, message, *attachment)
	}
	return nil, ask(ctx, c.dial, operationLaunch, message)
}

// Attach attaches to a living session: first what the ring has, then what
// follows, with nothing lost or doubled in between. Attach, Send and End return
// ErrNoSession where there is no living session of that name.
func (c *Client) Attach(ctx context.Context, name string, attachment Attachment) (*Attached, error) {
	attached, err := attach(ctx, c.dialLiving, operationAttach, request{Name: name}, attachment)
	return attached, noSession(name, err)
}

// Send sends all of the input to a session, or returns an error.
func (c *Client) Send(ctx context.Context, name string, input []byte) error {
	if len(input) > longestInput {
		return fmt.Errorf("the input for session %q is longer than %d bytes", name, longestInput)
	}
	return noSession(name, ask(ctx, c.dialLiving, operationSend, request{Name: name, Content: input}))
}

// End ends the process of a session and waits until it has ended.
func (c *Client) End(ctx context.Context, name string) error {
	return noSession(name, ask(ctx, c.dialLiving, operationEnd, request{Name: name}))
}

// noSession returns ErrNoSession if there is no process, and so no session.
func noSession(name string, err error) error {
	if isUnconnected(err) {
		return fmt.Errorf("%q: %w", name, ErrNoSession)
	}
	return err
}

// Attached is a client's hold on a session.
type Attached struct{ running *running }

// Wait waits until the session has ended and all its output was written,
// and returns its exit code. After Detach, or when the context of Start or
// Attach was canceled, the error is ErrDetached; the session continues. When
// the background process is gone it is a *GoneError: nobody knows how the
// session ended. Errors of writing Stdout and Stderr, or reading Stdin,
// come with the code. It may be called more than once.
func (a *Attached) Wait() (code int, err error) { return a.running.Wait() }

// Detach leaves the session, which continues. It returns at once.
func (a *Attached) Detach() { a.running.Terminate() }

// attach has the conversation that attaches.
func attach(ctx context.Context, dial dialer, operation string, message request, attachment Attachment) (*Attached, error) {
	message.Attach, message.Size, message.Prompt = true, attachment.Size, attachment.Prompter != nil
	message.Input, message.Output, message.Errors = attachment.Stdin != nil, attachment.Stdout != nil, attachment.Stderr != nil
	l, err := openConversation(ctx, dial, operation, message, attachment.Prompter)
	if err != nil {
		return nil, whyLost(ctx, err)
	}
	attached, run := execution.NewRun(ctx)
	r := &running{
		Run: run, link: l, resized: attachment.Resized, signals: attachment.Signals, staysOpen: !attachment.EndInput,
		lost: func(err error) error { return whyLost(ctx, err) }, givenUp: ErrDetached,
	}
	if err = r.openStreams(attachment.Stdin, attachment.Stdout, attachment.Stderr); err == nil {
		err = l.await(ctx)
	}
	if err != nil || ctx.Err() != nil {
		l.close()
		run.Terminate()
		return nil, errors.Join(whyLost(ctx, err), ctx.Err())
	}
	exited := make(chan ending, 1)
	r.exited = exited
	l.work.Go(func() { exited <- r.awaitExit() })
	r.serve(attached)
	return &Attached{r}, nil
}
