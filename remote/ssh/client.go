package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// dialer opens channels over one SSH connection.
type dialer struct {
	settings settings
	wire     *wire
	through  *dialer // the jump host; nil for none
	client   *ssh.Client
	log      *slog.Logger
	x11      forwarding
	forwards forwards

	forwardsAgent bool
	work          sync.WaitGroup // what runs until the connection has ended
	ended         chan struct{}  // closed then

	mu     sync.Mutex
	reason error // why it ended; nil as long as it has not
	closed bool
}

// errClosed is the reason of a connection that this side has closed.
var errClosed = errors.New("it was closed")

func newDialer(options Options, s settings, wire *wire, through *dialer, connected *ssh.Client) *dialer {
	c := &dialer{settings: s, wire: wire, through: through, client: connected, log: options.Log, ended: make(chan struct{})}
	// x/crypto forgets its channels at the end. One that is opened later would wait for
	// ever for an answer, unless a failed write has shown that the connection is gone.
	wire.beforeEnd(func() { _, _, _ = connected.SendRequest("keepalive@openssh.com", false, nil) })
	c.work.Go(c.watch)
	c.work.Go(c.keepAlive)
	if s.forwardAgent != "" {
		if err := agent.ForwardToRemote(connected, s.forwardAgent); err != nil {
			c.log.Warn("the agent is not forwarded", "host", s.alias, "error", err)
		} else {
			c.forwardsAgent = true
		}
	}
	return c
}

// watch waits for the end of the connection.
func (c *dialer) watch() {
	err := c.client.Wait()
	if failure := c.wire.failure(); failure != nil && saidAtTheEnd(err) == "" {
		err = failure
	} else if said := saidAtTheEnd(err); said != "" {
		err = fmt.Errorf("the server ended it: %s", said)
	}
	c.end(err)
	close(c.ended)
}

// end sets the reason why the connection ends. The first one counts.
func (c *dialer) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == nil {
		c.reason = err
	}
}

// keepAlive sends a request to the server whenever it was quiet for the interval, and
// closes the connection after as many silent intervals as ssh_config says.
func (c *dialer) keepAlive() {
	var asking sync.WaitGroup
	defer asking.Wait()
	ticker := time.NewTicker(c.settings.aliveInterval)
	defer ticker.Stop()
	missed, waiting := 0, false
	answered := make(chan struct{}, 1)
	received := c.wire.received.Load()
	for {
		select {
		case <-c.ended:
			return
		case <-answered:
			waiting = false
			continue
		case <-ticker.C:
		}
		if now := c.wire.received.Load(); now != received {
			received, missed = now, 0
			continue
		}
		if missed++; missed > c.settings.aliveCount {
			c.end(fmt.Errorf("the server has not answered for %s", c.settings.aliveInterval*time.Duration(missed)))
			c.wire.Close()
			return
		}
		if waiting {
			continue
		}
		waiting = true
		asking.Go(func() {
			// Any answer counts. Others notice the end of the connection.
			_, _, _ = c.client.SendRequest("keepalive@openssh.com", true, nil)
			answered <- struct{}{}
		})
	}
}

// spawn runs do, which must end with the connection, in a goroutine. It reports false if
// the connection was closed already.
func (c *dialer) spawn(do func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.work.Go(do)
	return true
}

// lost returns why the connection has ended, as a *remote.ConnectError.
func (c *dialer) lost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	reason := c.reason
	var number syscall.Errno
	switch {
	case errors.As(reason, &number):
		reason = number // without the addresses
	case reason == nil:
		reason = errors.New("it ended without a reason")
	case errors.Is(reason, io.EOF):
		reason = errors.New("the other side closed it")
	}
	return c.settings.failure(remote.Disconnected, reason, "")
}

// alive tests the connection with a request to the server.
func (c *dialer) alive() bool {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := await(ctx, c, func() (bool, error) {
		granted, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
		return granted, err
	}, func(bool) {})
	return err == nil || ctx.Err() != nil
}

// Ended returns a channel that is closed once the connection has ended.
func (c *dialer) Ended() <-chan struct{} { return c.ended }

// Close ends the connection with all its channels, and those to its jump hosts.
func (c *dialer) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if !first {
		<-c.ended
		return nil
	}
	c.end(errClosed)
	// Errors do not matter any more.
	_ = c.client.Close()
	_ = c.wire.Close()
	c.work.Wait()
	if c.through != nil {
		return c.through.Close()
	}
	return nil
}

// await runs do, which cannot be canceled, and returns when do or the context is done. A
// late result goes to leftover.
func await[T any](ctx context.Context, c *dialer, do func() (T, error), leftover func(T)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if execution.IsClosed(c.ended) {
		return none, c.lost()
	}
	done := make(chan outcome)
	if !c.spawn(func() {
		value, err := do()
		select {
		case done <- outcome{value, err}:
		case <-ctx.Done():
			if err == nil {
				leftover(value)
			}
		}
	}) {
		return none, c.lost()
	}
	select {
	case result := <-done:
		return result.value, result.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
