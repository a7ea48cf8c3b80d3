package channel

import "sync"

// A crew is a group of goroutines that can be waited for. Unlike with a sync.WaitGroup,
// goroutines may be added while somebody waits.
type crew struct {
	mutex sync.Mutex
	count int
	idle  chan struct{} // closed when nobody is left; nil while nobody waits
}

// run runs work in a goroutine.
func (c *crew) run(work func()) {
	c.mutex.Lock()
	c.count++
	c.mutex.Unlock()
	go func() {
		defer c.leave()
		work()
	}()
}

func (c *crew) leave() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.count--
	if c.count == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// gone returns a channel that is closed as soon as all goroutines have ended.
func (c *crew) gone() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.count == 0 {
		nobody := make(chan struct{})
		close(nobody)
		return nobody
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	return c.idle
}
