package daemon

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/wire"
)

// attach attaches a client to the session that find returns, until the session
// ends or the client leaves. What the session asks at once is for this client,
// too: find's second result, begin, is called when the client is attached.
func (c *conversation) attach(ctx context.Context, a packedAttach, find func() (*session, func(), error)) error {
	running := ctx // until the background process ends
	input := c.link.Inlet(streamInput)
	outlets := map[byte]*wire.Outlet{streamOutput: c.link.Outlet(streamOutput), streamErrors: c.link.Outlet(streamErrors)}

	// What the client says before the session is found waits.
	signals, resized := make(chan syscall.Signal, 16), make(chan remote.Size, 1)
	ctx = c.listen(ctx, func(kind wire.Kind, payload []byte) error {
		switch kind {
		case frameSignal:
			var number int
			err := wire.Decode(payload, &number)
			offer(signals, syscall.Signal(number))
			return err
		case frameResize:
			var size remote.Size
			err := wire.Decode(payload, &size)
			replace(resized, size)
			return err
		}
		return wire.RefuseFrame(kind, payload)
	})
	one, begin, err := find()
	if err != nil {
		return err
	}
	reader := one.ring.read()
	defer reader.stop()
	one.of.mutex.Lock()
	one.attached++
	one.of.mutex.Unlock()
	defer func() {
		one.of.mutex.Lock()
		one.attached--
		one.of.mutex.Unlock()
	}()
	if a.Prompt {
		defer one.clients.add(ctx, c.link)()
	}
	if a.Size != (remote.Size{}) {
		replace(one.resized, a.Size)
	}
	begin()
	if err := c.link.SendValue(frameDone, struct{}{}); err != nil {
		return err
	}

	leaving, leave := context.WithCancel(ctx)
	var serving sync.WaitGroup
	defer serving.Wait()
	defer leave()
	serving.Go(func() { one.passOn(leaving, signals, resized) })
	if a.Input {
		// It ends with the link or the session.
		one.of.hosted.Go(func() { one.takeInput(input) })
	}
	if err := sendOutput(ctx, reader, outlets); err != nil {
		return err
	}
	<-one.done
	if err := running.Err(); err != nil {
		return err // it was ended with the process, and might have ended otherwise
	}
	how := exit{Code: one.code}
	if one.err != nil {
		how.Failed = c.link.Pack(one.err)
	}
	return errors.Join(outlets[streamOutput].Close(), outlets[streamErrors].Close(), c.link.SendValue(frameExit, how))
}

// sendOutput sends the output of a session to a client, up to its end.
func sendOutput(ctx context.Context, reader *ringReader, outlets map[byte]*wire.Outlet) error {
	for {
		stream, data, err := reader.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := outlets[stream].Write(data); err != nil {
			return err
		}
		reader.taken(len(data))
	}
}

// passOn passes signals and sizes of one client on to the session.
func (o *session) passOn(ctx context.Context, signals <-chan syscall.Signal, resized <-chan remote.Size) {
	for {
		select {
		case number := <-signals:
			offer(o.signals, number)
		case size := <-resized:
			replace(o.resized, size)
		case <-o.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// takeInput puts a client's input into the session. Its end is the end of the
// session's input; a client that leaves the input open does not end the stream.
func (o *session) takeInput(input *wire.Inlet) {
	buffer := make([]byte, longestPiece)
	for {
		count, err := input.Read(buffer)
		if count > 0 {
			if _, writeErr := o.inputWriter.Write(buffer[:count]); writeErr != nil {
				return // the session takes no more
			}
		}
		if errors.Is(err, io.EOF) && !errors.Is(err, wire.ErrLost) {
			o.inputWriter.Close() // never fails
		}
		if err != nil {
			return
		}
	}
}

// offer puts a value into a channel that has room.
func offer[V any](channel chan V, value V) {
	select {
	case channel <- value:
	default:
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
