package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/remote"
)

// waiters are clients that wait for the same thing, in order of arrival. As a prompter it
// asks the first client; if that one leaves or has nobody to ask, the next.
type waiters struct {
	mutex sync.Mutex
	list  []*waiter
}

type waiter struct {
	ctx      context.Context // done when it leaves
	prompter remote.Prompter
}

// add adds a client until leave is called or ctx is done.
func (w *waiters) add(ctx context.Context, prompter remote.Prompter) (leave func()) {
	ctx, cancel := context.WithCancel(ctx)
	added := &waiter{ctx, prompter}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.list = append(w.list, added)
	return func() {
		cancel()
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.list = slices.DeleteFunc(w.list, func(one *waiter) bool { return one == added })
	}
}

func (w *waiters) count() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.list)
}

// first returns the first client that was not asked in vain.
func (w *waiters) first(inVain map[*waiter]bool) *waiter {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, one := range w.list {
		if !inVain[one] && one.prompter != nil && one.ctx.Err() == nil {
			return one
		}
	}
	return nil
}

// Ask asks one client after the other until one answers.
func (w *waiters) Ask(ctx context.Context, question remote.Question) (string, error) {
	inVain := map[*waiter]bool{}
	for {
		next := w.first(inVain)
		if next == nil {
			return "", remote.ErrNobodyToAsk
		}
		inVain[next] = true
		asking, cancel := context.WithCancel(ctx)
		unwatch := context.AfterFunc(next.ctx, cancel)
		answer, err := next.prompter.Ask(asking, question)
		unwatch()
		cancel()
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case next.ctx.Err() == nil && !errors.Is(err, remote.ErrNobodyToAsk):
			return "", err // the user does not want to answer
		}
	}
}
