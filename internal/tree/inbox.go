package tree

import (
	"context"
	"net"
	"sync"
)

// An inbox is the streams that nobody has accepted.
type inbox struct {
	mutex   sync.Mutex
	streams []*stream
	waiting chan struct{} // holds an element while there are streams
}

// add takes a stream. Carriers bound how many there are.
func (b *inbox) add(s *stream) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.streams = append(b.streams, s)
	b.signal()
}

func (b *inbox) signal() {
	select {
	case b.waiting <- struct{}{}:
	default:
	}
}

// next returns the oldest stream, or nil.
func (b *inbox) next() *stream {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.streams) == 0 {
		b.streams = nil
		return nil
	}
	s := b.streams[0]
	b.streams[0] = nil
	if b.streams = b.streams[1:]; len(b.streams) > 0 {
		b.signal()
	}
	return s
}

// AcceptStream returns the next stream that a process has opened with [DialStream]. The caller
// closes it.
func (c *Client) AcceptStream(ctx context.Context) (net.Conn, error) {
	for {
		if s := c.streams.next(); s != nil {
			return s, nil
		}
		select {
		case <-c.streams.waiting:
		case <-c.top.ended:
			return nil, c.top.reason
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
