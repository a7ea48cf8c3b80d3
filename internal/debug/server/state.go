package server

import (
	"context"
	"sync"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// A state is the server's view of its process.
type state struct {
	mutex       sync.Mutex
	shown       debug.State // what the client knows: Ready, Running, Stopped, Released or Exited
	isStarting  bool
	isServing   bool // a request of the client
	isUrgent    bool // another request, which is urgent
	received    int  // requests, without urgent ones
	served      int
	runs        bool // what the debugger said last: the process runs
	isReleasing bool
	isClosed    bool // the debugger was ended
	isWanted    bool // the client waits for a stop that it requested
	isStep      bool // the process runs because of a step
	awaitsMain  bool
	changed     chan struct{} // closed with the next change

	pid    int
	before guard.Status // of the process, before the debugger
	child  *child       // nil for a process that this one did not start
	broken []breakRule  // the client's breakpoints
}

func newState() state { return state{shown: debug.Ready, changed: make(chan struct{})} }

// change changes the state, and wakes who waits for that.
func (s *server) change(change func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// awaits waits until something holds of the state, and reports false if the context ends before.
func (s *server) awaits(ctx context.Context, holds func() bool) bool {
	for {
		s.mutex.Lock()
		isTrue, changed := holds(), s.changed
		s.mutex.Unlock()
		if isTrue {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// isAttached reports whether there is a process under the debugger. The caller holds the mutex.
func (s *server) isAttached() bool { return s.shown == debug.Running || s.shown == debug.Stopped }

// attached returns the engine, or why there is no process that it could say something about.
func (s *server) attached() (Engine, debug.Answer) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case s.isAttached() && !s.isReleasing:
		return s.engine, debug.Answer{}
	case s.shown == debug.Exited:
		return nil, debug.Answer{Problem: debug.NotRunning, Text: "the program has ended"}
	case s.shown == debug.Ready:
		return nil, debug.Answer{Problem: debug.NotRunning, Text: "the program was not started yet"}
	}
	return nil, debug.Answer{Problem: debug.NotRunning, Text: "the process runs without a debugger"}
}

// lock waits until the engine does no ordinary request. The caller unlocks it.
func (s *server) lock(ctx context.Context) bool {
	select {
	case s.doing <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *server) unlock() { <-s.doing }

// watchDebugger notices that the debugger has ended by itself: the process must run on then.
func (s *server) watchDebugger() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for s.engine != nil {
		select {
		case <-ticker.C:
		case <-s.finished:
			return
		}
		status, exists := guard.ReadStatus(s.engine.PID())
		if exists && !status.HasEnded() && status.Start == s.debugger {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), s.Linger)
		s.release(ctx, "the debugger ended unexpectedly")
		cancel()
		return
	}
}

// watchEvery is how long a process may stay as its debugger left it.
const watchEvery = time.Second
