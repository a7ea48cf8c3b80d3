package channel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// purpose is the use of a channel. Each has a share of the channels that the host opens,
// so that none starves the others.
type purpose int

const (
	forCommands purpose = iota // a shell that serves one command after the other
	forSignals                 // the same for what must not wait behind commands
	forOne                     // a command with input or a terminal, alone
	forFiles                   // the SFTP subsystem
)

const (
	usualChannels = 10          // MaxSessions of sshd, unless its administrator set another
	mostShells    = 4           // that serve commands without input: the pace of a polite user
	filesLimit    = 4           // with fewer channels, files do not keep one
	farewell      = time.Second // how long a released channel may take to end
)

// errNoRoom reports that the one channel that the host opens is in use.
var errNoRoom = errors.New("the host opens one channel at a time, which is in use")

// pool holds the channels of a connection.
type pool struct {
	dialer   Dialer
	settings Settings
	oneShot  bool // shells serve one command each

	mutex    sync.Mutex
	limit    int       // channels that the host opens at once, as far as is known
	live     int       // channels that are open; those that are being opened are not
	counted  int       // most that counted as open at once; the host may have closed some before the pool knew
	steady   int       // channels that do not end by themselves: shells and SFTP
	proven   int       // most that certainly were open at once
	refused  time.Time // since when the host has refused channels although more were open before
	open     [forFiles + 1]int
	idle     []*session
	sessions map[*session]purpose
	changed  chan struct{} // closed, and replaced, when something changed
	closed   bool
	crew     crew // every goroutine of the connection but those that read somebody's input
}

func newPool(dialer Dialer, settings Settings) *pool {
	return &pool{
		dialer: dialer, settings: settings, limit: settings.Channels,
		sessions: map[*session]purpose{}, changed: make(chan struct{}),
	}
}

// total is the number of channels that are open. The mutex is held.
func (p *pool) total() int {
	sum := 0
	for _, count := range p.open {
		sum += count
	}
	return sum
}

// hasRoom reports whether one more may be opened. Signals need a shell, which may be
// busy, or room for one, or what runs could not be ended. The mutex is held.
func (p *pool) hasRoom(purpose purpose) bool {
	if p.total() >= p.ceiling(purpose) {
		return false
	}
	switch purpose {
	case forCommands:
		return p.open[forCommands] < mostShells
	case forFiles:
		return p.limit >= filesLimit
	case forOne:
		return p.open[forOne] < max(1, p.limit-3)
	}
	return true
}

// ceiling is how many channels may be open, including a new one for the purpose. The
// mutex is held.
func (p *pool) ceiling(purpose purpose) int {
	if purpose == forFiles || purpose == forOne && p.limit > 1 && p.shells() == 0 {
		return p.limit - 1
	}
	return p.limit
}

// shells is the number of shells that take commands, or signals during one. The mutex is
// held.
func (p *pool) shells() int {
	count := 0
	for s := range p.sessions {
		if s.pooled && s.alive() {
			count++
		}
	}
	return count
}

// single reports whether the host is known to open one channel at a time.
func (p *pool) single() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.limit == 1
}

func (p *pool) announce() {
	close(p.changed)
	p.changed = make(chan struct{})
}

var errClosed = errors.New("the connection was closed")

// acquire waits for an idle shell, if the purpose allows one, or for room for a new
// channel, for which it returns nil. Signals do not wait for commands: errNoRoom means
// that a busy shell has to send them.
func (p *pool) acquire(ctx context.Context, purpose purpose) (*session, error) {
	for {
		idle, surplus, changed, err := p.tryAcquire(purpose)
		switch {
		case surplus != nil:
			p.dismiss(surplus)
			continue
		case changed == nil:
			return idle, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryAcquire is acquire without waiting. It returns a surplus idle shell that has to be
// dismissed to make room, or a channel to wait for.
func (p *pool) tryAcquire(purpose purpose) (idle, surplus *session, changed <-chan struct{}, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		return nil, nil, nil, &remote.ConnectError{Host: p.settings.Host, Reason: remote.Disconnected, Err: errClosed}
	}
	if idle := p.takeIdle(); idle != nil {
		if purpose == forCommands || purpose == forSignals {
			return idle, nil, nil, nil
		}
		if !p.hasRoom(purpose) && p.total() >= p.ceiling(purpose) && (p.limit == 1 || p.shells() > 1) {
			idle.pooled = false
			p.unsettle(idle)
			return nil, idle, nil, nil
		}
		p.idle = append(p.idle, idle)
	}
	if p.hasRoom(purpose) {
		p.open[purpose]++
		return nil, nil, nil, nil
	}
	if purpose == forSignals && (p.limit == 1 || !p.oneShot) || purpose == forFiles && p.limit < filesLimit {
		return nil, nil, nil, errNoRoom
	}
	return nil, nil, p.changed, nil
}

// takeIdle returns an idle shell that lives. The mutex is held.
func (p *pool) takeIdle() *session {
	for len(p.idle) > 0 {
		last := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if last.alive() {
			return last
		}
		p.forget(last)
	}
	return nil
}

// forget frees the room of a session. The mutex is held.
func (p *pool) forget(s *session) {
	p.unsettle(s)
	if purpose, known := p.sessions[s]; known {
		delete(p.sessions, s)
		p.subtract(purpose, 1)
	}
	s.close()
}

// vacate frees the room of a channel that is no session: live is 1 if it was opened, 0 if
// not.
func (p *pool) vacate(purpose purpose, live int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.subtract(purpose, live)
}

// subtract is vacate while the mutex is held.
func (p *pool) subtract(purpose purpose, live int) {
	p.open[purpose]--
	p.live -= live
	if purpose == forFiles {
		p.steady -= live
	}
	if live > 0 {
		p.refused = time.Time{}
	}
	p.announce()
}

// voiceless reports whether a new channel for one command may be the last that the host
// opens, with no shell left to send signals.
func (p *pool) voiceless() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return !p.oneShot && p.limit > 1 && p.total()+1 >= p.proven && p.shells() == 0
}

// release returns a session to the pool or closes it, once all calls during its command
// have their answers.
func (p *pool) release(s *session, reusable bool) {
	p.mutex.Lock()
	s.lent = false
	if s.asides.users > 0 {
		s.asides.afterwards = func() { p.release(s, reusable) }
		p.mutex.Unlock()
		return
	}
	s.asides.afterwards = nil
	// A late answer would come in the output of the next command.
	keep := reusable && !s.asides.unanswered && !p.closed && !p.oneShot && s.alive() && p.total() <= p.limit
	if purpose := p.sessions[s]; purpose == forOne {
		keep = false
	} else if keep && purpose == forSignals {
		p.open[forSignals]--
		p.open[forCommands]++
		p.sessions[s] = forCommands
	}
	if keep {
		p.idle = append(p.idle, s)
		p.announce()
	} else {
		s.pooled = false
		p.unsettle(s)
	}
	p.mutex.Unlock()
	switch {
	case keep:
	case reusable && !s.terminal:
		p.crew.run(func() { p.dismiss(s) })
	default:
		p.drop(s)
	}
}

// dismiss lets a shell end by itself, so that the server has room again when its channel
// is closed.
func (p *pool) dismiss(s *session) {
	stop := time.AfterFunc(farewell, s.close)
	// A shell that has gone already does not mind.
	_ = s.channel.Stdin().Close()
	<-s.over
	stop.Stop()
	p.drop(s)
}

func (p *pool) drop(s *session) {
	p.mutex.Lock()
	p.forget(s)
	p.mutex.Unlock()
}

// close ends all sessions and the connection.
func (p *pool) close() error {
	p.mutex.Lock()
	p.closed = true
	p.announce()
	open := slices.Collect(maps.Keys(p.sessions))
	p.idle = nil
	p.mutex.Unlock()
	for _, s := range open {
		s.close()
	}
	if err := p.dialer.Close(); err != nil {
		return fmt.Errorf("closing the connection to %s: %w", p.settings.Host, err)
	}
	return nil
}

// ending returns how a channel ended. It waits longer for a channel whose output has ended
// by itself than for one that was given up, which may never end.
func (p *pool) ending(c Channel, givenUp bool) (int, error) {
	ended := make(chan struct{})
	var code int
	var err error
	p.crew.run(func() {
		defer close(ended)
		code, err = c.Wait()
	})
	limit := p.settings.Patience
	if givenUp {
		limit = p.settings.Linger
	}
	if !execution.ClosesWithin(ended, limit) {
		return -1, p.silence()
	}
	return code, err
}

// silence is the error for a host that does not answer.
func (p *pool) silence() error {
	return &remote.ConnectError{Host: p.settings.Host, Reason: remote.NoAnswer, Err: errors.New("the host no longer answers")}
}
