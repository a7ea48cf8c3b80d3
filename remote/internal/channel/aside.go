package channel

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// asides is what a shell is asked to do beside the command that it runs. Its
// answers come among the output of that command.
type asides struct {
	mutex   sync.Mutex
	count   int // of all that were asked
	waiting map[int]chan<- int

	// Of the mutex of the pool.
	users      int    // how many ask
	unanswered bool   // somebody has stopped to wait for an answer, which may come yet
	afterwards func() // what becomes of the session when nobody asks any more; nil while it is lent
}

// add returns the number of one more, and what gets its status.
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

// answered takes the record of an answer.
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

// errDeaf reports that a shell got nothing.
var errDeaf = errors.New("a shell takes nothing more")

// aside has shell code of ours run beside the command of a session that was
// borrowed for it.
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

// lend lets a shell take what is to be done beside the command that it runs, until
// it is released.
func (p *pool) lend(s *session) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	s.lent = s.pooled
	p.announce()
}

// borrow returns a shell that runs a command, the preferred one if it does. It has
// to be given back once it has answered; before that it gets no other command. Where
// there is none, it is worth another try, for an idle one too, when the channel is
// closed.
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

// giveBack lets go of a shell that was borrowed. The last one who does so releases it,
// should its command have ended meanwhile.
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
