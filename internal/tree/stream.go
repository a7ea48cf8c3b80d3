package tree

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// A stream is one end of a byte stream, in the process of rmctl or in the relay that a
// process has connected to. It implements [net.Conn].
type stream struct {
	carrier *carrier
	half    *half
	changed func(failed bool) // may be nil

	writing sync.Mutex // by one Write

	mutex    sync.Mutex
	cond     sync.Cond
	arrived  []byte
	unread   int // how many further bytes may arrive
	taken    int // bytes read that the other end does not know of
	credit   int // how many bytes may be written
	ended    bool
	departed bool // the other end does not read any more
	silent   bool // the end was sent
	closed   bool
	failed   error

	readLimit, writeLimit time.Time
	readAlarm, writeAlarm *time.Timer
}

func newStream(c *carrier, h *half, changed func(bool)) *stream {
	s := &stream{carrier: c, half: h, changed: changed, unread: streamWindow, credit: streamWindow}
	s.cond.L = &s.mutex
	return s
}

// apply applies a frame that has arrived, and reports whether the stream is over.
func (s *stream) apply(f frame) (over bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch f.kind {
	case frameData:
		if s.ended || len(f.data) > s.unread {
			s.failed = errors.New("the other end sent too much")
			s.carrier.reset(s.half, s.failed)
			break
		}
		s.unread -= len(f.data)
		s.arrived = append(s.arrived, f.data...)
	case frameWindow:
		s.credit = min(s.credit+int(f.number), streamWindow)
	case frameEnd:
		s.ended = true
	case frameClose:
		s.ended, s.departed = true, true
	case frameReset:
		s.failed = errors.New("stream lost: " + OneLine(string(f.data)))
	}
	s.notify()
	return s.failed != nil || s.departed || s.ended && s.silent
}

// notify wakes those who wait for a change.
func (s *stream) notify() {
	s.cond.Broadcast()
	if s.changed != nil {
		s.changed(s.failed != nil)
	}
}

// fail ends a stream whose link has ended.
func (s *stream) fail(reason error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.failed == nil {
		s.failed = reason
	}
	s.notify()
}

// Read implements [io.Reader]. What has arrived before a failure comes first.
func (s *stream) Read(buffer []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for {
		switch {
		case s.closed:
			return 0, net.ErrClosed
		case isPast(s.readLimit):
			return 0, os.ErrDeadlineExceeded
		case len(s.arrived) > 0 || len(buffer) == 0:
			n := copy(buffer, s.arrived)
			s.arrived = s.arrived[n:]
			if len(s.arrived) == 0 {
				s.arrived = nil // idle streams hold no memory
			}
			s.grant(n)
			return n, nil
		case s.failed != nil:
			return 0, s.failed
		case s.ended:
			return 0, io.EOF
		}
		s.cond.Wait()
	}
}

// grant lets the other end send as much as was read, in large steps.
func (s *stream) grant(read int) {
	s.taken += read
	if s.taken < streamWindow/2 || s.ended || s.failed != nil {
		return
	}
	s.unread += s.taken
	s.sendNow(frame{kind: frameWindow, number: uint32(s.taken)})
	s.taken = 0
}

// sendNow queues a frame of this stream. A full outbox belongs to a link that ends.
func (s *stream) sendNow(f frame) bool {
	f.stream = s.half.id
	return s.half.link.outbox.add(f)
}

// takeArrived returns what has arrived, whether the other end writes no more, and whether nothing
// of the stream is left.
func (s *stream) takeArrived() (data []byte, ended, over bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	data, s.arrived = s.arrived, nil
	return data, s.ended, s.departed || s.failed != nil
}

// written lets the other end send as much as was passed on.
func (s *stream) written(count int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.grant(count)
}

// Write implements [io.Writer]. It waits while the other end does not read.
func (s *stream) Write(data []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	written := 0
	for written < len(data) {
		if err := s.awaitRoom(); err != nil {
			return written, err
		}
		n, err := s.writeSome(data[written:])
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// awaitRoom waits until the link has sent enough of what waits for its peer.
func (s *stream) awaitRoom() error {
	room := s.half.link.outbox.full()
	if room == nil {
		return nil
	}
	s.mutex.Lock()
	limit := s.writeLimit
	s.mutex.Unlock()
	var alarm <-chan time.Time
	if !limit.IsZero() {
		timer := time.NewTimer(time.Until(limit))
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case <-room:
	case <-s.half.link.ended: // writeSome knows why
	case <-alarm:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// writeSome writes what the window of the other end allows, once that is not empty.
func (s *stream) writeSome(data []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for {
		switch {
		case s.closed || s.silent:
			return 0, net.ErrClosed
		case s.failed != nil:
			return 0, s.failed
		case s.departed:
			return 0, errDeparted
		case isPast(s.writeLimit):
			return 0, os.ErrDeadlineExceeded
		case s.credit > 0:
			n := min(len(data), s.credit, mostFrameBytes)
			if !s.sendNow(frame{kind: frameData, number: uint32(n), data: data[:n]}) {
				return 0, nil // no room any more
			}
			s.credit -= n
			return n, nil
		}
		s.cond.Wait()
	}
}

var errDeparted = errors.New("the other end has closed the stream")

// CloseWrite sends the end of what this end writes.
func (s *stream) CloseWrite() error {
	s.mutex.Lock()
	if s.silent || s.closed {
		s.mutex.Unlock()
		return net.ErrClosed
	}
	s.silent = true
	s.sendNow(frame{kind: frameEnd})
	over := s.ended
	s.cond.Broadcast()
	s.mutex.Unlock()
	if over {
		s.carrier.forget(s.half)
	}
	return nil
}

// Close implements [io.Closer]. What was written before still arrives.
func (s *stream) Close() error { return s.close(frame{kind: frameClose}) }

// reset ends the stream as a failure at both ends.
func (s *stream) reset(reason error) {
	_ = s.close(resetFrame(reason)) // it may be closed
}

func (s *stream) close(f frame) error {
	s.mutex.Lock()
	wasClosed := s.closed
	s.closed, s.arrived = true, nil
	for _, alarm := range []*time.Timer{s.readAlarm, s.writeAlarm} {
		if alarm != nil {
			alarm.Stop()
		}
	}
	s.cond.Broadcast()
	s.mutex.Unlock()
	if wasClosed {
		return net.ErrClosed
	}
	s.carrier.leave(s.half, f)
	return nil
}

// awaitOver waits until nothing can be read or written any more.
func (s *stream) awaitOver() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for !s.closed && s.failed == nil && !s.departed && !(s.ended && s.silent) {
		s.cond.Wait()
	}
}

// SetDeadline implements [net.Conn].
func (s *stream) SetDeadline(limit time.Time) error {
	return errors.Join(s.SetReadDeadline(limit), s.SetWriteDeadline(limit))
}

// SetReadDeadline implements [net.Conn].
func (s *stream) SetReadDeadline(limit time.Time) error {
	return s.setLimit(&s.readLimit, &s.readAlarm, limit)
}

// SetWriteDeadline implements [net.Conn].
func (s *stream) SetWriteDeadline(limit time.Time) error {
	return s.setLimit(&s.writeLimit, &s.writeAlarm, limit)
}

func (s *stream) setLimit(kept *time.Time, alarm **time.Timer, limit time.Time) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	*kept = limit
	if *alarm != nil {
		(*alarm).Stop()
		*alarm = nil
	}
	if !limit.IsZero() {
		*alarm = time.AfterFunc(time.Until(limit), func() {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			s.cond.Broadcast()
		})
	}
	s.cond.Broadcast()
	return nil
}

func isPast(limit time.Time) bool { return !limit.IsZero() && !time.Now().Before(limit) }

// LocalAddr implements [net.Conn].
func (s *stream) LocalAddr() net.Addr { return streamAddress{} }

// RemoteAddr implements [net.Conn].
func (s *stream) RemoteAddr() net.Addr { return streamAddress{} }

// A streamAddress is the address of streams, which have none.
type streamAddress struct{}

// Network implements [net.Addr].
func (streamAddress) Network() string { return "tree" }

// String implements [net.Addr].
func (streamAddress) String() string { return "stream" }
