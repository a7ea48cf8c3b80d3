package daemon

import (
	"context"
	"errors"
	"io"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// attach attaches a client to the session that find returns, until the session
// ends or the client leaves. It calls host once the client is attached, so that this
// client gets the first questions of a new session.
func (c *conversation) attach(ctx context.Context, find func() (one *session, host func(), err error)) error {
	accepted, err := c.acceptStreams(ctx)
	if err != nil {
		return err
	}
	one, host, err := find()
	if err != nil {
		return err
	}
	reader := one.ring.read()
	defer reader.stop()
	one.count(1)
	defer one.count(-1)
	if c.request.Prompt {
		defer one.clients.add(ctx, c.link)()
	}
	if c.request.Size != (remote.Size{}) {
		replace(one.instructions.resized, c.request.Size)
	}
	c.receiveInstructions(one.instructions, func() {})
	host()
	if err := c.answer(); err != nil {
		return err
	}

	if accepted.input != nil {
		// It ends with the link or the session.
		one.sessions.hosted.Go(func() { one.takeInput(accepted.input) })
	}
	code := -1
	if err = accepted.sendOutput(ctx, reader); err == nil {
		code, err = one.Wait()
	}
	return c.exited(ctx, accepted, code, err)
}

// sendOutput sends the output of a session to a client, up to its end.
func (s streams) sendOutput(ctx context.Context, reader *ringReader) error {
	outputs := map[byte]io.Writer{streamOutput: s.output, streamErrors: s.errors}
	for {
		number, data, err := reader.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if output := outputs[number]; output != nil {
			if _, err := output.Write(data); err != nil {
				return err
			}
		}
		reader.advance(len(data))
	}
}

// takeInput copies a client's input to the session. The end of the stream ends the
// session's input; a client that leaves without ending it does not.
func (o *session) takeInput(input io.Reader) {
	if refused, err := execution.CopyInput(o.inputWriter, input, false); !refused && err == nil {
		o.inputWriter.Close() // never fails
	}
}

// replace sends a value to a channel with room for one, in place of an older value.
func replace[V any](channel chan V, value V) {
	for {
		select {
		case channel <- value:
			return
		default:
		}
		select {
		case <-channel:
		default:
		}
	}
}
