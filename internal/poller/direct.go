package poller

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/internal/polls"
)

const (
	// Queries for users who want an answer at once, and for waits for single jobs, use at most
	// half of the time.
	directFactor = 2
	// After a failure the shared query finds out whether the scheduler is back.
	directBackOff = 10 * time.Second
)

// Direct makes a query for single jobs. It reports false, and makes none, while another
// process makes one, or if the scheduler was busy with such queries for more than half of
// the time since the last.
func (p *Poller) Direct(ctx context.Context, r Request) (isMade bool, err error) {
	turn, err := p.poll(ctx, &r, directSchedule{})
	return turn != nil, err
}

// A directSchedule runs a query now or not at all.
type directSchedule struct{}

func (directSchedule) dueAt(last polls.Poll) time.Time {
	if last.Failures > 0 {
		return last.Begun.Add(directBackOff)
	}
	return last.Begun.Add(directFactor * last.Took)
}

func (directSchedule) standBy(context.Context, polls.Poll) (time.Duration, bool, error) {
	return 0, true, nil
}
