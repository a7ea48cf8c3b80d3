package tree

import (
	"errors"
	"slices"
	"sync"
)

// Bounds of streams.
const (
	mostStreams = 20000 // of a relay, or of a client
	// streamWindow bounds the unread bytes of a stream at each end.
	streamWindow = 256 << 10
)

// Reasons of streams that end.
var (
	errNoClient    = errors.New("the relay has no connection to rmctl")
	errManyStreams = errors.New("the relay has too many streams")
	errNotReading  = errors.New("the other end reads too slowly")
	errNoStreams   = errors.New("the other end takes no streams")
)

// A carrier passes the streams of a relay from link to link, or ends them at a client. Its
// functions do not wait.
type carrier struct {
	mutex  sync.Mutex
	count  int
	uppers []*link // the newest last
	broken []*link // to end once the mutex is free
	isOpen bool    // to streams of others
	// arrived takes streams that end here; nil in relays.
	arrived func(*stream)
}

// A half is one end of a stream on a link. Bytes that arrive there leave at the other half, or end in this
// process.
type half struct {
	link  *link
	id    uint32
	other *half
	end   *stream // if there is no other half
	ended bool    // its link has sent the end
}

// unlock frees the mutex, and ends links that do not read.
func (c *carrier) unlock() {
	broken := c.broken
	c.broken = nil
	c.mutex.Unlock()
	for _, l := range broken {
		l.end(errNotReading)
	}
}

// send queues a frame at a half. A link with too much to read ends.
func (c *carrier) send(h *half, f frame) {
	f.stream = h.id
	if !h.link.outbox.add(f) {
		c.broken = append(c.broken, h.link)
	}
}

// addUpper has streams leave by a link.
func (c *carrier) addUpper(l *link) {
	c.mutex.Lock()
	defer c.unlock()
	if l.isOpen() {
		c.uppers = append(c.uppers, l)
	}
}

// handle applies a frame that has arrived on a link. An error is a violation of the protocol.
func (c *carrier) handle(l *link, f frame) error {
	c.mutex.Lock()
	defer c.unlock()
	if !l.isOpen() { // drop has run, or will run
		return errGone
	}
	if f.kind == frameOpen {
		return c.accept(l, f.stream)
	}
	h := l.halves[f.stream]
	switch {
	case h == nil: // it has ended, which the sender did not know
		return nil
	case h.end != nil:
		if over := h.end.apply(f); over {
			c.remove(h)
		}
		return nil
	}
	c.forward(h, f)
	return nil
}

// forward passes a frame on. The reset of a stream always has room, or its link ends.
func (c *carrier) forward(h *half, f frame) {
	f.stream = h.other.id
	if f.kind == frameData && !h.other.link.outbox.add(f) {
		c.reset(h, errNotReading)
		c.reset(h.other, errNotReading)
		c.remove(h)
		return
	}
	if f.kind != frameData {
		c.send(h.other, f)
	}
	h.ended = h.ended || f.kind == frameEnd
	if f.kind == frameClose || f.kind == frameReset || h.ended && h.other.ended {
		c.remove(h)
	}
}

// reset sends the failure of a stream.
func (c *carrier) reset(h *half, reason error) {
	c.send(h, resetFrame(reason))
}

func resetFrame(reason error) frame {
	text := OneLine(reason.Error())
	text = text[:min(len(text), mostReasonBytes)]
	return frame{kind: frameReset, number: uint32(len(text)), data: []byte(text)}
}

// remove forgets a stream.
func (c *carrier) remove(h *half) {
	if h.link.halves[h.id] != h {
		return
	}
	c.count--
	delete(h.link.halves, h.id)
	if h.other != nil {
		delete(h.other.link.halves, h.other.id)
	}
}

// accept takes a stream that a link below opens.
func (c *carrier) accept(l *link, id uint32) error {
	if !l.isBelow || id <= l.lastStream {
		return errors.New("unexpected stream")
	}
	l.lastStream = id
	from := &half{link: l, id: id}
	if !c.isOpen {
		c.reset(from, errNoStreams)
		return nil
	}
	if c.arrived != nil {
		if c.count >= mostStreams {
			c.reset(from, errManyStreams)
			return nil
		}
		from.end = newStream(c, from, nil)
		c.add(from)
		c.arrived(from.end)
		return nil
	}
	to, err := c.ascend()
	if err != nil {
		c.reset(from, err)
		return nil
	}
	from.other, to.other = to, from
	c.add(from)
	return nil
}

// add enters a stream, and the half by which it leaves.
func (c *carrier) add(h *half) {
	c.count++
	for _, each := range []*half{h, h.other} {
		if each == nil {
			continue
		}
		if each.link.halves == nil {
			each.link.halves = map[uint32]*half{}
		}
		each.link.halves[each.id] = each
	}
}

// ascend opens a stream on the newest link that leads up.
func (c *carrier) ascend() (*half, error) {
	switch {
	case len(c.uppers) == 0:
		return nil, errNoClient
	case c.count >= mostStreams:
		return nil, errManyStreams
	}
	l := c.uppers[len(c.uppers)-1]
	l.lastStream++
	h := &half{link: l, id: l.lastStream}
	c.send(h, frame{kind: frameOpen})
	return h, nil
}

// open opens a stream from here upwards. Changed is called, without waiting, when something arrives.
func (c *carrier) open(changed func(failed bool)) (*stream, error) {
	c.mutex.Lock()
	defer c.unlock()
	h, err := c.ascend()
	if err != nil {
		return nil, err
	}
	h.end = newStream(c, h, changed)
	c.add(h)
	return h.end, nil
}

// leave ends a stream from this end, and sends why.
func (c *carrier) leave(h *half, f frame) {
	c.mutex.Lock()
	defer c.unlock()
	if h.link.halves[h.id] == h {
		c.send(h, f)
		c.remove(h)
	}
}

// forget removes a stream whose ends have both ended.
func (c *carrier) forget(h *half) {
	c.mutex.Lock()
	defer c.unlock()
	c.remove(h)
}

// drop ends the streams of a link that has ended.
func (c *carrier) drop(l *link) {
	c.mutex.Lock()
	defer c.unlock()
	c.uppers = slices.DeleteFunc(c.uppers, func(each *link) bool { return each == l })
	for _, h := range l.halves {
		if h.end != nil {
			h.end.fail(l.reason)
		} else {
			c.reset(h.other, l.reason)
		}
		c.remove(h)
	}
}
