package daemon

import (
	"context"
	"errors"
	"io"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// attach attaches a client to the session that find returns, until the session
// ends or the client leaves. What the session asks at once is for this client,
// too: find's second result, begin, is called when the client is attached.
func (c *conversation) attach(ctx context.Context, find func() (*session, func(), error)) error {
	accepted, err := c.acceptStreams(ctx)
	if err != nil {
		return err
	}
	one, begin, err := find()
	if err != nil {
		return err
	}
	reader := one.ring.read()
	defer reader.stop()
	one.count(1)
	defer one.count(-1)
	if c.asked.Prompt {
		defer one.clients.add(ctx, c.link)()
	}
	if c.asked.Size != (remote.Size{}) {
		replace(one.given.resized, c.asked.Size)
	}
	c.receiveInstructions(one.given, func() {})
	begin()
	if err := c.answer(); err != nil {
		return err
	}

	if accepted.input != nil {
		// It ends with the link or the session.
		one.of.hosted.Go(func() { one.takeInput(accepted.input) })
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
		reader.taken(len(data))
	}
}

// takeInput puts a client's input into the session. Its end is the end of the
// session's input; a client that leaves the input open does not end the stream.
func (o *session) takeInput(input io.Reader) {
	if refused, err := execution.CopyInput(o.inputWriter, input, false); !refused && err == nil {
		o.inputWriter.Close() // never fails
	}
}

// replace puts a value into a channel that holds one, of which only the last
// counts.
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
