package channel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	retries    = 10                    // how often a refusal is taken for the delay of the last channel's end
	retryPause = 20 * time.Millisecond // between those
)

// connect opens a channel in acquired room, and frees the room if that fails. errNoRoom
// means to acquire again.
func (p *pool) connect(ctx context.Context, purpose purpose, dial func() (Channel, error)) (Channel, error) {
	impatient := time.Now().Add(p.settings.Patience)
	for attempt := 1; ; attempt++ {
		opened, err := dial()
		if err == nil {
			p.mutex.Lock()
			p.live++
			p.counted = max(p.counted, p.live)
			p.refused = time.Time{}
			p.mutex.Unlock()
			return opened, nil
		}
		if !errors.Is(err, ErrTooManyChannels) {
			p.vacate(purpose, 0)
			return nil, err
		}
		if attempt < retries || p.awaitsRoom() && time.Now().Before(impatient) {
			select {
			case <-time.After(retryPause):
				continue
			case <-ctx.Done():
				p.vacate(purpose, 0)
				return nil, ctx.Err()
			}
		}
		p.mutex.Lock()
		live := p.live
		p.learnLimit()
		p.subtract(purpose, 0)
		p.mutex.Unlock()
		if live == 0 {
			return nil, fmt.Errorf("opening a channel while none is open: %w", err)
		}
		return nil, errNoRoom
	}
}

// learnLimit learns from a refusal. A server may count a closed channel until its processes have ended, so a refusal shows the
// limit at once only if never more channels were open. But the pool may have counted one that the server had freed, so
// in the end the refusals count. The mutex is held.
func (p *pool) learnLimit() {
	if p.live == 0 {
		return
	}
	if p.live < p.counted {
		if p.refused.IsZero() {
			p.refused = time.Now()
		}
		if time.Since(p.refused) < p.settings.Patience {
			return
		}
	}
	p.counted, p.refused = p.live, time.Time{}
	p.limit = min(p.limit, p.live)
}

// awaitsRoom reports whether the host may still count channels although all were closed.
func (p *pool) awaitsRoom() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.live == 0 && p.counted > 0 && !p.closed
}

// settle notes that a channel was opened, besides all that do not end by themselves. The mutex is held.
func (p *pool) settle(isSteady bool) {
	p.proven = max(p.proven, p.steady+1)
	if isSteady {
		p.steady++
	}
}

// unsettle notes that a shell is about to end. The mutex is held.
func (p *pool) unsettle(s *session) {
	if s.steady {
		s.steady = false
		p.steady--
	}
}
