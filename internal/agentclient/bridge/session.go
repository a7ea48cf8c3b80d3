package bridge

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/execution"
)

// rmctl retries an agent that could not be started after firstPause, then with growing pauses.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// An attempt is a session that is starting, running or over.
type attempt struct {
	made    chan struct{} // closed when session and err are final
	session *agentclient.Session
	err     error
	failed  time.Time
	begun   time.Time
	before  error         // why the previous session ended; nil without one
	done    chan struct{} // closed when all its work has ended
	keep    sync.Once
	written written
}

// current returns the running session, if any.
func (a *attempt) current() *agentclient.Session {
	if !execution.IsClosed(a.made) || a.session == nil || execution.IsClosed(a.session.Done()) {
		return nil
	}
	return a.session
}

// ended returns why the session ended or did not begin.
func (a *attempt) ended() error {
	if a.err != nil {
		return a.err
	}
	return a.session.Err()
}

// finish stores the state of the session for the next one.
func (a *attempt) finish(memory *Memory, key string) {
	a.keep.Do(func() {
		if a.session != nil {
			memory.keep(key, a.session.State())
		}
	})
}

var errClosed = errors.New("the connection is closed")

// session returns the session with the agent and starts one if needed. Errors are *LostError or that of
// ctx.
func (c *Connection) session(ctx context.Context) (*attempt, *agentclient.Session, error) {
	attempt, err := c.join()
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-attempt.made:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if attempt.err != nil {
		return nil, nil, &LostError{attempt.err}
	}
	return attempt, attempt.session, nil
}

// join returns the current attempt, or a new one if the session has ended.
func (c *Connection) join() (*attempt, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return nil, &LostError{errClosed}
	}
	a := c.attempt
	if a != nil && execution.IsClosed(a.made) {
		switch {
		case a.err != nil && time.Since(a.failed) < pauseAfter(c.failures):
		case a.err != nil || execution.IsClosed(a.session.Done()):
			a = nil
		}
	}
	if a == nil {
		a = c.begin(c.attempt)
		c.attempt = a
	}
	return a, nil
}

func pauseAfter(failures int) time.Duration {
	pause := firstPause
	for range min(failures, 10) - 1 {
		pause *= 2
	}
	return min(pause, longestPause)
}

// begin starts a session after another one, which may be nil.
func (c *Connection) begin(before *attempt) *attempt {
	a := &attempt{made: make(chan struct{}), done: make(chan struct{}), begun: time.Now()}
	go func() {
		defer close(a.done)
		if before != nil {
			<-before.done
			before.finish(c.options.Memory, c.key())
			a.before = before.ended()
		}
		options := c.sessionOptions()
		if a.session, a.err = agentclient.Start(c.life, options); a.err != nil {
			c.options.Memory.keep(c.key(), options.Resume)
		}
		c.mutex.Lock()
		if a.failed = time.Now(); a.err == nil {
			c.failures = 0
		} else {
			c.failures++
		}
		c.mutex.Unlock()
		close(a.made)
		if a.err != nil {
			c.options.Log.Info("no session with the agent", "error", errors.Unwrap(a.err))
			return
		}
		<-a.session.Done()
		if err := a.session.Err(); err != nil {
			c.options.Log.Warn("the session with the agent ended", "error", errors.Unwrap(err)) // the text of err quotes the agent
		}
	}()
	return a
}

// A Memory passes state from sessions to later ones, even over other connections. The zero value is
// empty.
type Memory struct {
	mutex  sync.Mutex
	places map[string]*left
}

// left is the stored state for an agent.
type left struct {
	id    string // of this client, the same in all sessions
	state *agentclient.State
}

// recall returns the id of this client and removes and returns the state of the last session.
func (m *Memory) recall(key string) (id string, state *agentclient.State) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.places == nil {
		m.places = map[string]*left{}
	}
	place := m.places[key]
	if place == nil {
		place = &left{id: uuid.NewString()}
		m.places[key] = place
	}
	state, place.state = place.state, nil
	return place.id, state
}

func (m *Memory) keep(key string, state *agentclient.State) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.places[key].state = state
}
