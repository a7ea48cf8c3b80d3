package terminal

import (
	"sync"

	"golang.org/x/sync/errgroup"
)

// A Cancellation ends a session, once, while the session is shown.
type Cancellation struct {
	once   sync.Once
	ending errgroup.Group
}

// Start ends the session unless it was ended before.
func (c *Cancellation) Start(end func() error) {
	c.once.Do(func() { c.ending.Go(end) })
}

// Wait waits for the end if it was started, and prevents a later start: what is typed when
// the session is no longer shown cancels nothing.
func (c *Cancellation) Wait() error {
	c.once.Do(func() {})
	return c.ending.Wait()
}
