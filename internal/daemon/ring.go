package daemon

import (
	"context"
	"io"
	"sort"
	"sync"
	"time"
)

// slowPatience is how long the output of a session waits for a client that reads none
// of it. Then the client is detached.
const slowPatience = time.Minute

// longestPiece bounds a piece of output.
const longestPiece = 32 << 10

// The streams of a session.
const (
	streamOutput = 1
	streamErrors = 2
)

// ring keeps the last output of a session, both streams in the order in which
// they were written, for readers that are at different positions in it.
type ring struct {
	patience time.Duration

	mutex   sync.Mutex
	changed chan struct{} // closed, and replaced, when something changed
	pieces  []piece
	start   int64 // position of the first piece
	end     int64 // position after the last
	readers map[*ringReader]bool
	ended   bool // nothing follows
}

type piece struct {
	stream byte
	start  int64 // position
	data   []byte
}

func newRing(patience time.Duration) *ring {
	return &ring{patience: patience, changed: make(chan struct{}), readers: map[*ringReader]bool{}}
}

// change wakes all waiting goroutines. The caller holds the mutex.
func (r *ring) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// write adds output as soon as no reader would lose any. A reader that reads nothing for
// the time of patience is dropped.
func (r *ring) write(stream byte, data []byte) {
	for len(data) > 0 {
		count := min(len(data), longestPiece)
		r.waitForReaders(count)
		r.add(stream, data[:count])
		data = data[count:]
	}
}

func (r *ring) waitForReaders(count int) {
	var patience *time.Timer
	for {
		r.mutex.Lock()
		changed, slowest := r.changed, r.slowest(count)
		r.mutex.Unlock()
		if slowest == nil {
			return
		}
		if patience == nil {
			patience = time.NewTimer(r.patience)
			defer patience.Stop()
		}
		select {
		case <-changed:
		case <-patience.C:
			r.mutex.Lock()
			if slowest = r.slowest(count); slowest != nil {
				slowest.tooSlow = true
				delete(r.readers, slowest)
				r.change()
			}
			r.mutex.Unlock()
			patience.Reset(r.patience)
		}
	}
}

// slowest returns the reader that would lose something if so much were added.
// The mutex is held.
func (r *ring) slowest(count int) *ringReader {
	for reader := range r.readers {
		if r.end+int64(count)-reader.position > ringBytes {
			return reader
		}
	}
	return nil
}

func (r *ring) add(stream byte, data []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last := len(r.pieces) - 1
	if last >= 0 && r.pieces[last].stream == stream && len(r.pieces[last].data)+len(data) <= longestPiece {
		r.pieces[last].data = append(r.pieces[last].data, data...)
	} else {
		r.pieces = append(r.pieces, piece{stream, r.end, append([]byte(nil), data...)})
	}
	r.end += int64(len(data))
	for r.end-r.start > ringBytes {
		surplus := r.end - r.start - ringBytes
		first := &r.pieces[0]
		if int64(len(first.data)) > surplus {
			first.data = first.data[surplus:]
			first.start += surplus
			r.start = first.start
		} else {
			r.start += int64(len(first.data))
			r.pieces = r.pieces[1:]
		}
	}
	r.change()
}

// finish notes that nothing follows.
func (r *ring) finish() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.ended = true
	r.change()
}

// read adds a reader, which begins with the oldest output that is kept.
func (r *ring) read() *ringReader {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	reader := &ringReader{ring: r, position: r.start}
	r.readers[reader] = true
	return reader
}

// ringReader is a position in a ring.
type ringReader struct {
	ring *ring
	// Of the ring's mutex.
	position int64
	tooSlow  bool
}

// next waits for the next piece of output. It returns io.EOF after the last, and
// ErrTooSlow if the reader was dropped. The caller advances the reader once it has passed
// the piece on.
func (r *ringReader) next(ctx context.Context) (stream byte, data []byte, err error) {
	for {
		r.ring.mutex.Lock()
		changed := r.ring.changed
		stream, data, err = r.peek()
		r.ring.mutex.Unlock()
		if err != nil || data != nil {
			return stream, data, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// peek returns what is at the reader's position, nothing if it has to wait.
// The mutex is held.
func (r *ringReader) peek() (byte, []byte, error) {
	if r.tooSlow {
		return 0, nil, ErrTooSlow
	}
	after := sort.Search(len(r.ring.pieces), func(i int) bool { return r.ring.pieces[i].start > r.position })
	if r.position < r.ring.end {
		here := r.ring.pieces[after-1]
		return here.stream, append([]byte(nil), here.data[r.position-here.start:]...), nil
	}
	if r.ring.ended {
		return 0, nil, io.EOF
	}
	return 0, nil, nil
}

// advance moves the reader on.
func (r *ringReader) advance(count int) {
	r.ring.mutex.Lock()
	defer r.ring.mutex.Unlock()
	r.position += int64(count)
	r.ring.change()
}

// stop removes the reader.
func (r *ringReader) stop() {
	r.ring.mutex.Lock()
	defer r.ring.mutex.Unlock()
	delete(r.ring.readers, r)
	r.ring.change()
}

// ringWriter writes one stream into a ring.
type ringWriter struct {
	ring   *ring
	stream byte
}

func (w ringWriter) Write(data []byte) (int, error) {
	w.ring.write(w.stream, data)
	return len(data), nil
}
