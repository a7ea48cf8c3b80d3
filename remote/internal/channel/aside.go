package channel

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// asides are calls that a shell runs during its command. The answers come in the output
// of that command.
type asides struct {
	mutex   sync.Mutex
	count   int // of all calls so far
	waiting map[int]chan<- int

	// Of the mutex of the pool.
	users      int    // callers that borrow the shell
	unanswered bool   // a caller gave up, and its answer may still come
	afterwards func() // releases the session after the last caller; nil while it is lent
}

// add returns the number of a new call and the channel for its status.
func (a *asides) add() (number int, status <-chan int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.count++
	if a.waiting == nil {
		a.waiting = map[int]chan<- int{}
	}
	answer := make(chan int, 1)
	a.waiting[a.count] = answer
	return a.count, answer
}

func (a *asides) remove(number int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	delete(a.waiting, number)
}

// answered passes on the record of an answer.
func (a *asides) answered(detail string) {
	first, second, _ := strings.Cut(detail, " ")
	number, numberErr := strconv.Atoi(first)
	status, statusErr := strconv.Atoi(second)
	if numberErr != nil || statusErr != nil {
		return
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if answer := a.waiting[number]; answer != nil {
		delete(a.waiting, number)
		answer <- status
	}
}

// errDeaf reports that a shell did not get a line.
var errDeaf = errors.New("a shell takes nothing more")

// aside runs shell code of ours during the command of a borrowed session.
func (s *session) aside(ctx context.Context, code string) (status int, err error) {
	if err := ctx.Err(); err != nil {
		return -1, err
	}
	number, answer := s.asides.add()
	defer s.asides.remove(number)
	if whole, err := s.send(ctx, asideLine(s.stdout.marker(), number, code)); !whole {
		return -1, fmt.Errorf("%w: %w", errDeaf, err)
	}
	select {
	case status = <-answer:
		return status, nil
	case <-s.over:
		select {
		case status = <-answer: // it ended after it had answered
			return status, nil
		default:
			return -1, s.lost()
		}
	case <-ctx.Done():
		return -1, ctx.Err()
	}
}

// lend lets others run calls during the command of a session until it is released.
func (p *pool) lend(s *session) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	s.lent = s.pooled
	p.announce()
}

// borrow returns a shell that runs a command, the preferred one if it can. The caller
// gives it back after the answer; until then it gets no other command. Without
// such a shell, the caller tries again when the channel is closed, also for an idle shell.
func (p *pool) borrow(preferred *session) (*session, <-chan struct{}) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var found *session
	for s := range p.sessions {
		if s.lent && s.alive() && (found == nil || s == preferred) {
			found = s
		}
	}
	if found != nil {
		found.asides.users++
	} else if len(p.idle) > 0 || p.hasRoom(forSignals) || p.closed {
		now := make(chan struct{})
		close(now)
		return nil, now
	}
	return found, p.changed
}

// giveBack returns a borrowed shell. The last caller releases it if its command has
// ended meanwhile.
func (p *pool) giveBack(s *session, err error) {
	p.mutex.Lock()
	s.asides.users--
	switch {
	case errors.Is(err, errDeaf):
		s.lent = false
	case err != nil:
		s.asides.unanswered = true
	}
	afterwards := s.asides.afterwards
	if s.asides.users > 0 {
		afterwards = nil
	}
	p.mutex.Unlock()
	if afterwards != nil {
		afterwards()
	}
}
