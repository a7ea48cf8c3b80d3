package web

import (
	"context"
	"sync"
	"time"
)

// changes counts the requests under way that may change something. Cutting one off could
// leave a job whose id nobody has.
type changes struct {
	mutex sync.Mutex
	count int
	done  chan struct{} // closed when none is left; nil while nobody waits
}

// begin counts a request until the returned function is called.
func (c *changes) begin() (end func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.count++
	return func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.count--
		if c.count == 0 && c.done != nil {
			close(c.done)
			c.done = nil
		}
	}
}

// left returns how many requests are under way, and a channel that is closed when none is.
func (c *changes) left() (int, <-chan struct{}) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.count == 0 {
		done := make(chan struct{})
		close(done)
		return 0, done
	}
	if c.done == nil {
		c.done = make(chan struct{})
	}
	return c.count, c.done
}

// allowToFinish calls stop once the requests under way had their time. Those that change
// something end by themselves, at the latest when the timeout of their command has passed.
func (s *Server) allowToFinish(finish context.Context, stop context.CancelFunc) {
	defer stop()
	count, done := s.changes.left()
	if count > 0 && s.options.Waiting != nil {
		s.options.Waiting(count)
	}
	select {
	case <-done:
	case <-finish.Done():
		return
	}
	select {
	case <-time.After(s.limits.end):
	case <-finish.Done():
	}
}
