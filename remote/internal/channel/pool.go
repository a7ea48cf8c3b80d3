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

// purpose is what a channel is wanted for. Each has its share of those that the
// place opens, so that none starves the others.
type purpose int

const (
	forCommands purpose = iota // a shell that serves one command after the other
	forSignals                 // the same for what must not wait behind commands
	forOne                     // a command with input or a terminal, alone
	forFiles                   // the SFTP subsystem
)

const (
	usualChannels = 10                    // MaxSessions of sshd, unless its administrator set another
	mostShells    = 4                     // that serve commands without input: the pace of a polite user
	filesLimit    = 4                     // with fewer channels, files do not keep one
	farewell      = time.Second           // how long a channel that is given back may take to end
	retries       = 10                    // how often a refusal is taken for the delay of the last channel's end
	retryPause    = 20 * time.Millisecond // between those
)

// errNoRoom reports that the one channel that the place opens is in use.
var errNoRoom = errors.New("the place opens one channel at a time, which is in use")

// pool holds the channels of a connection.
type pool struct {
	dialer   Dialer
	settings Settings
	oneShot  bool // shells serve one command each

	mutex    sync.Mutex
	limit    int // channels that the place opens at once, as far as is known
	live     int // channels that are open; those that are being opened are not
	proven   int // most that were open at once
	open     [forFiles + 1]int
	idle     []*session
	sessions map[*session]purpose
	changed  chan struct{} // closed when it is worth looking again
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
func (p *pool) hasRoom(wanted purpose) bool {
	if p.total() >= p.ceiling(wanted) {
		return false
	}
	switch wanted {
	case forCommands:
		return p.open[forCommands] < mostShells
	case forFiles:
		return p.limit >= filesLimit
	case forOne:
		return p.open[forOne] < max(1, p.limit-3)
	}
	return true
}

// ceiling is how many channels may be open after one for that purpose was opened. The
// mutex is held.
func (p *pool) ceiling(wanted purpose) int {
	if wanted == forFiles || wanted == forOne && p.limit > 1 && p.shells() == 0 {
		return p.limit - 1
	}
	return p.limit
}

// shells is the number of those that take commands, or signals beside one. The mutex
// is held.
func (p *pool) shells() int {
	count := 0
	for s := range p.sessions {
		if s.pooled && s.alive() {
			count++
		}
	}
	return count
}

// single reports whether the place is known to open one channel at a time.
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

// acquire waits for an idle shell, if one will do, or for room for one more
// channel, in which case it returns nil. Signals do not wait for what runs: errNoRoom
// says that they have to be sent through a shell that is busy.
func (p *pool) acquire(ctx context.Context, wanted purpose) (*session, error) {
	for {
		idle, surplus, changed, err := p.tryAcquire(wanted)
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

// tryAcquire is acquire without waiting. It returns an idle shell that has to be
// dismissed before there is room, or a channel to wait for if there is no room.
func (p *pool) tryAcquire(wanted purpose) (idle, surplus *session, changed <-chan struct{}, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		return nil, nil, nil, &remote.ConnectError{Host: p.settings.Host, Reason: remote.Disconnected, Err: errClosed}
	}
	if idle := p.takeIdle(); idle != nil {
		if wanted == forCommands || wanted == forSignals {
			return idle, nil, nil, nil
		}
		if !p.hasRoom(wanted) && p.total() >= p.ceiling(wanted) && (p.limit == 1 || p.shells() > 1) {
			idle.pooled = false
			return nil, idle, nil, nil
		}
		p.idle = append(p.idle, idle)
	}
	if p.hasRoom(wanted) {
		p.open[wanted]++
		return nil, nil, nil, nil
	}
	if wanted == forSignals && (p.limit == 1 || !p.oneShot) || wanted == forFiles && p.limit < filesLimit {
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
	if wanted, known := p.sessions[s]; known {
		delete(p.sessions, s)
		p.subtract(wanted, 1)
	}
	s.close()
}

// vacate gives the room of a channel back that was no session: live is 1 if it was
// opened, 0 if not.
func (p *pool) vacate(wanted purpose, live int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.subtract(wanted, live)
}

// subtract is vacate while the mutex is held.
func (p *pool) subtract(wanted purpose, live int) {
	p.open[wanted]--
	p.live -= live
	p.announce()
}

// connect opens a channel in room that was acquired, and gives the room back
// when it fails. errNoRoom means to acquire again. A place may count a channel that
// was closed until what ran behind it has ended, so a refusal shows its limit only
// where never more were open.
func (p *pool) connect(ctx context.Context, wanted purpose, dial func() (Channel, error)) (Channel, error) {
	impatient := time.Now().Add(p.settings.Patience)
	for attempt := 1; ; attempt++ {
		opened, err := dial()
		if err == nil {
			p.mutex.Lock()
			p.live++
			p.proven = max(p.proven, p.live)
			p.mutex.Unlock()
			return opened, nil
		}
		if !errors.Is(err, ErrTooManyChannels) {
			p.vacate(wanted, 0)
			return nil, err
		}
		if attempt < retries || p.awaitsRoom() && time.Now().Before(impatient) {
			select {
			case <-time.After(retryPause):
				continue
			case <-ctx.Done():
				p.vacate(wanted, 0)
				return nil, ctx.Err()
			}
		}
		p.mutex.Lock()
		live := p.live
		if live > 0 && live == p.proven {
			p.limit = min(p.limit, p.proven)
		}
		p.subtract(wanted, 0)
		p.mutex.Unlock()
		if live == 0 {
			return nil, fmt.Errorf("opening a channel while none is open: %w", err)
		}
		return nil, errNoRoom
	}
}

// awaitsRoom reports whether all channels were closed, and the place may still
// count some.
func (p *pool) awaitsRoom() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.live == 0 && p.proven > 0 && !p.closed
}

// voiceless reports whether one more channel for a command of its own might be the
// last that the place opens, without a shell to send signals through.
func (p *pool) voiceless() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return !p.oneShot && p.limit > 1 && p.total()+1 >= p.proven && p.shells() == 0
}

// release takes a session back, to be used again or to be closed, once those who have
// something done beside its command have their answers.
func (p *pool) release(s *session, reusable bool) {
	p.mutex.Lock()
	s.lent = false
	if s.asides.users > 0 {
		s.asides.afterwards = func() { p.release(s, reusable) }
		p.mutex.Unlock()
		return
	}
	s.asides.afterwards = nil
	// An answer that nobody waited for would come in the output of the next command.
	keep := reusable && !s.asides.unanswered && !p.closed && !p.oneShot && s.alive() && p.total() <= p.limit
	if wanted := p.sessions[s]; wanted == forOne {
		keep = false
	} else if keep && wanted == forSignals {
		p.open[forSignals]--
		p.open[forCommands]++
		p.sessions[s] = forCommands
	}
	if keep {
		p.idle = append(p.idle, s)
		p.announce()
	} else {
		s.pooled = false
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

// dismiss lets a shell end by itself, so that the place has room again when its
// channel is counted as closed.
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

// ending returns how a channel ended. One that was given up may never end: its place is
// not waited for. One whose output has ended by itself ends soon, though a busy machine
// may take its time.
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

// silence is why nothing is known of what was asked for.
func (p *pool) silence() error {
	return &remote.ConnectError{Host: p.settings.Host, Reason: remote.NoAnswer, Err: errors.New("nothing comes back any more")}
}
