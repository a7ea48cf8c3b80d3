package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Window is how many bytes of a stream may be under way or wait for its
// reader. It bounds what a stream needs of memory.
const Window = 256 << 10

// ErrStreamClosed is what writing to a stream fails with that was closed.
var ErrStreamClosed = errors.New("the stream was closed")

// An Outlet sends a stream.
type Outlet struct {
	link   *Link
	number byte

	mutex   sync.Mutex
	changed sync.Cond
	room    int
	err     error // not nil once nothing more can be sent
	ended   bool  // the other end was told
}

// Outlet makes the sending end of a stream, by a number that both ends agree on.
func (l *Link) Outlet(number byte) *Outlet {
	o := &Outlet{link: l, number: number, room: Window}
	o.changed.L = &o.mutex
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.lost != nil {
		o.err = fmt.Errorf("%w: %w", ErrLost, l.lost)
	}
	l.outlets[number] = o
	return o
}

// Write sends data, as the reader at the other end takes it.
func (o *Outlet) Write(data []byte) (int, error) {
	written := 0
	for written < len(data) {
		count, err := o.reserve(len(data) - written)
		if err != nil {
			return written, err
		}
		if err := o.link.send(kindData, []byte{o.number}, data[written:written+count]); err != nil {
			return written, err
		}
		written += count
	}
	return written, nil
}

// reserve waits for room and takes some of it.
func (o *Outlet) reserve(wanted int) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for o.room == 0 && o.err == nil {
		o.changed.Wait()
	}
	if o.err != nil {
		return 0, o.err
	}
	count := min(wanted, o.room, MaxFrame-1)
	o.room -= count
	return count, nil
}

// Close tells the other end that all was sent. A Write under way fails.
func (o *Outlet) Close() error { return o.CloseWithError(nil) }

// CloseWithError makes the reader at the other end fail with that reason, once
// it has read what was sent before.
func (o *Outlet) CloseWithError(reason error) error {
	o.mutex.Lock()
	told := o.ended
	o.ended = true
	o.mutex.Unlock()
	o.Abandon()
	if told {
		return nil
	}
	var text []byte
	if reason != nil {
		text = bounded(reason.Error())
		if len(text) == 0 {
			text = []byte("unknown reason")
		}
	}
	return o.link.send(kindEnd, []byte{o.number}, text)
}

// Abandon makes writing fail without a word to the other end, which is known
// not to read on.
func (o *Outlet) Abandon() { o.fail(ErrStreamClosed) }

// fail makes writing fail.
func (o *Outlet) fail(err error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.err == nil {
		o.err = err
		o.changed.Broadcast()
	}
}

// taken makes room for what the reader took.
func (o *Outlet) taken(count uint32) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if int64(o.room)+int64(count) > Window {
		return fmt.Errorf("%w: more of a stream was taken than sent", ErrProtocol)
	}
	o.room += int(count)
	o.changed.Broadcast()
	return nil
}

// An Inlet receives a stream. What it receives has to be read: without that
// the other end waits once the window is full.
type Inlet struct {
	link   *Link
	number byte

	mutex   sync.Mutex
	changed sync.Cond
	buffer  bytes.Buffer
	untold  int   // bytes taken that the other end does not know of
	err     error // what comes after the buffer
}

// Inlet makes the receiving end of a stream. It has to be made before Listen,
// or before the other end can know of it.
func (l *Link) Inlet(number byte) *Inlet {
	i := &Inlet{link: l, number: number}
	i.changed.L = &i.mutex
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.lost != nil {
		i.err = fmt.Errorf("%w: %w", ErrLost, l.lost)
	}
	l.inlets[number] = i
	return i
}

// Read waits for data.
func (i *Inlet) Read(data []byte) (int, error) {
	i.mutex.Lock()
	for i.buffer.Len() == 0 && i.err == nil {
		i.changed.Wait()
	}
	if i.buffer.Len() == 0 {
		defer i.mutex.Unlock()
		return 0, i.err
	}
	count, _ := i.buffer.Read(data) // a buffer that holds something does not fail
	told := i.take(count)
	i.mutex.Unlock()
	i.tell(told)
	return count, nil
}

// take counts bytes as taken, and returns how many the other end is to be told
// of: a message for each small read would double the work.
func (i *Inlet) take(count int) int {
	i.untold += count
	if i.untold < Window/4 {
		return 0
	}
	told := i.untold
	i.untold = 0
	return told
}

// tell makes room at the other end. Should that be gone, there may still be
// something to receive from it, and then its end.
func (i *Inlet) tell(count int) {
	if count == 0 {
		return
	}
	var number [4]byte
	binary.BigEndian.PutUint32(number[:], uint32(count))
	_ = i.link.send(kindTaken, []byte{i.number}, number[:])
}

// receive takes what arrived.
func (i *Inlet) receive(data []byte) error {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.err != nil {
		return fmt.Errorf("%w: data after the end of a stream", ErrProtocol)
	}
	if i.buffer.Len()+i.untold+len(data) > Window {
		return fmt.Errorf("%w: more of a stream than its window holds", ErrProtocol)
	}
	i.buffer.Write(data)
	i.changed.Broadcast()
	return nil
}

// end sets what comes after all that was received, once.
func (i *Inlet) end(err error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.err == nil {
		i.err = err
		i.changed.Broadcast()
	}
}

// streamFrame handles a frame of a stream.
func (l *Link) streamFrame(kind Kind, payload []byte) error {
	if len(payload) == 0 {
		return fmt.Errorf("%w: a frame of no stream", ErrProtocol)
	}
	number, payload := payload[0], payload[1:]
	l.mutex.Lock()
	inlet, outlet := l.inlets[number], l.outlets[number]
	l.mutex.Unlock()
	switch {
	case kind == kindTaken && outlet != nil && len(payload) == 4:
		return outlet.taken(binary.BigEndian.Uint32(payload))
	case kind == kindData && inlet != nil:
		return inlet.receive(payload)
	case kind == kindEnd && inlet != nil && len(payload) > 0:
		inlet.end(fmt.Errorf("the other end could not read on: %s", bounded(string(payload))))
		return nil
	case kind == kindEnd && inlet != nil:
		inlet.end(io.EOF)
		return nil
	}
	return fmt.Errorf("%w: a frame of stream %d", ErrProtocol, number)
}
