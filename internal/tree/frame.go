package tree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Kinds of frames. Lines begin with a brace, so the first byte distinguishes frames from lines.
const (
	frameOpen   byte = iota + 1 // up: a new stream
	frameData                   // at most mostFrameBytes, within the window of the receiver
	frameWindow                 // the number is how many further bytes the sender takes
	frameEnd                    // the sender writes no more
	frameClose                  // the sender neither writes nor reads any more
	frameReset                  // the stream has failed; the data is the reason
)

const (
	frameHeader     = 9 // kind, stream, and a number: a count of bytes
	mostFrameBytes  = 16 << 10
	mostReasonBytes = 256
	frameChunk      = 64 << 10 // that one write takes
	// usualPending is how many bytes wait for a peer before those who write to streams wait, too.
	usualPending = 4 << 20
	// mostPending bounds the data that waits for a peer that reads more slowly than others send
	// to it. Other frames have as much room again.
	mostPending = 64 << 20
)

// A frame is a piece of a stream on a link. Its data is valid until the next frame is read.
type frame struct {
	kind   byte
	stream uint32
	number uint32
	data   []byte
}

// parseHeader reads the header of a frame, and checks what other parts rely on.
func parseHeader(header []byte) (frame, error) {
	f := frame{kind: header[0], stream: binary.BigEndian.Uint32(header[1:]), number: binary.BigEndian.Uint32(header[5:])}
	most := uint32(0)
	switch f.kind {
	case frameData:
		most = mostFrameBytes
	case frameReset:
		most = mostReasonBytes
	case frameWindow:
		most = streamWindow
	}
	if f.kind < frameOpen || f.kind > frameReset || f.number > most || f.stream == 0 {
		return frame{}, errors.New("invalid frame")
	}
	return f, nil
}

// hasData reports whether the number is the length of data that follows.
func (f frame) hasData() bool { return f.kind == frameData || f.kind == frameReset }

// isFrame reports whether a byte begins a frame.
func isFrame(first byte) bool { return first >= frameOpen && first <= frameReset }

// readFrame reads a frame; its first byte was peeked.
func (l *link) readFrame() (frame, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(l.reader, header[:]); err != nil {
		return frame{}, fmt.Errorf("connection lost within a frame: %w", err)
	}
	f, err := parseHeader(header[:])
	if err != nil || !f.hasData() {
		return f, err
	}
	if l.scratch == nil {
		l.scratch = make([]byte, mostFrameBytes)
	}
	f.data = l.scratch[:f.number]
	if _, err := io.ReadFull(l.reader, f.data); err != nil {
		return frame{}, fmt.Errorf("connection lost within a frame: %w", err)
	}
	return f, nil
}

// An outbox is the frames that wait for a peer, in chunks for one write each.
type outbox struct {
	mutex   sync.Mutex
	chunks  [][]byte
	bytes   int
	waiting chan struct{} // holds an element while there are chunks
	room    chan struct{} // closed once less than usualPending waits; nil if nobody waits
}

// chunkPool holds chunks that were written.
var chunkPool = sync.Pool{New: func() any {
	chunk := make([]byte, 0, frameChunk)
	return &chunk
}}

// add appends a frame. It reports false if too much waits already.
func (o *outbox) add(f frame) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	size := frameHeader + len(f.data)
	if most := mostPending; o.bytes+size > most && (f.kind == frameData || o.bytes+size > 2*most) {
		return false
	}
	last := len(o.chunks) - 1
	if last < 0 || len(o.chunks[last])+size > frameChunk {
		o.chunks = append(o.chunks, *chunkPool.Get().(*[]byte))
		last++
	}
	chunk := append(o.chunks[last], f.kind)
	chunk = binary.BigEndian.AppendUint32(chunk, f.stream)
	chunk = binary.BigEndian.AppendUint32(chunk, f.number)
	o.chunks[last] = append(chunk, f.data...)
	o.bytes += size
	select {
	case o.waiting <- struct{}{}:
	default:
	}
	return true
}

// take returns the next chunk, or nil.
func (o *outbox) take() []byte {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.chunks) == 0 {
		o.chunks = nil
		return nil
	}
	chunk := o.chunks[0]
	o.chunks[0] = nil
	o.chunks = o.chunks[1:]
	o.bytes -= len(chunk)
	if o.room != nil && o.bytes < usualPending {
		close(o.room)
		o.room = nil
	}
	if len(o.chunks) > 0 {
		select {
		case o.waiting <- struct{}{}:
		default:
		}
	}
	return chunk
}

// isWaiting reports whether there are chunks.
func (o *outbox) isWaiting() bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return len(o.chunks) > 0
}

// full returns a channel that is closed once there is room; nil if there is room now.
func (o *outbox) full() <-chan struct{} {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.bytes < usualPending {
		return nil
	}
	if o.room == nil {
		o.room = make(chan struct{})
	}
	return o.room
}

// writeChunk writes the next chunk of frames.
func (l *link) writeChunk() error {
	chunk := l.outbox.take()
	if chunk == nil {
		return nil
	}
	_, err := l.stream.Write(chunk)
	chunk = chunk[:0]
	chunkPool.Put(&chunk)
	return err
}
