package daemon

import (
	"context"
	"io"
	"sort"
	"sync"
	"time"
)

// slowPatience is how long the output of a session waits for a client that
// takes none of it, before it goes on without that client.
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
	begin   int64 // position of the first piece
	end     int64 // position after the last
	readers map[*ringReader]bool
	ended   bool // nothing follows
}

type piece struct {
	stream byte
	begin  int64 // position
	data   []byte
}

func newRing(patience time.Duration) *ring {
	return &ring{patience: patience, changed: make(chan struct{}), readers: map[*ringReader]bool{}}
}

// change wakes all who wait. The mutex is held.
func (r *ring) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// write adds output, as soon as every reader has taken so much that it loses
// nothing. A reader that takes nothing for the time of patience is let go of.
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
	for r.end-r.begin > ringBytes {
		surplus := r.end - r.begin - ringBytes
		first := &r.pieces[0]
		if int64(len(first.data)) > surplus {
			first.data = first.data[surplus:]
			first.begin += surplus
			r.begin = first.begin
		} else {
			r.begin += int64(len(first.data))
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
	reader := &ringReader{ring: r, position: r.begin}
	r.readers[reader] = true
	return reader
}

// ringReader is one who reads a ring.
type ringReader struct {
	ring *ring
	// Of the ring's mutex.
	position int64
	tooSlow  bool
}

// next waits for the next piece of output. It returns io.EOF after the last,
// and ErrTooSlow when others did not wait for it any longer. Taken has to be
// called once the piece was passed on.
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
	after := sort.Search(len(r.ring.pieces), func(i int) bool { return r.ring.pieces[i].begin > r.position })
	if r.position < r.ring.end {
		here := r.ring.pieces[after-1]
		return here.stream, append([]byte(nil), here.data[r.position-here.begin:]...), nil
	}
	if r.ring.ended {
		return 0, nil, io.EOF
	}
	return 0, nil, nil
}

// taken moves the reader on.
func (r *ringReader) taken(count int) {
	r.ring.mutex.Lock()
	defer r.ring.mutex.Unlock()
	r.position += int64(count)
	r.ring.change()
}

// stop lets go of the ring.
func (r *ringReader) stop() {
	r.ring.mutex.Lock()
	defer r.ring.mutex.Unlock()
	delete(r.ring.readers, r)
	r.ring.change()
}

// ringWriter is one stream into a ring.
type ringWriter struct {
	ring   *ring
	stream byte
}

func (w ringWriter) Write(data []byte) (int, error) {
	w.ring.write(w.stream, data)
	return len(data), nil
}
