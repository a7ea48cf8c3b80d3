package poller

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/internal/polls"
)

// A Turn is the right of this process to make a query, with its result. The functions of a
// request set its exported fields.
type Turn struct {
	Targets  []string  // that share the query; only read
	Begun    time.Time // when the query began; only read
	Jobs     int       // that it queries or lists
	Moved    bool      // whether any job is in another state, or was found
	Answered bool      // whether the scheduler answered: later failures concern single jobs

	poller *Poller
	share  float64 // of the time, that the queries may keep the scheduler busy
	claim  polls.Claim
	last   polls.Poll     // the previous state
	busy   time.Duration  // that the scheduler was kept busy
	listed *polls.Listing // to share; nil if nothing was shared, or not all of it
}

// Renew extends the turn. It reports false if another process has taken over because this
// one was too slow.
func (t *Turn) Renew(ctx context.Context) (bool, error) {
	t.claim.Now = t.poller.Now()
	return t.poller.Store.Renew(ctx, t.claim)
}

// IsUsedUp reports whether the scheduler was busy for so long that the next query may have to
// wait for more than a minute.
func (t *Turn) IsUsedUp() bool { return t.busy > time.Duration(t.share*float64(longestInterval)) }

// AddBusy adds the time of concurrent commands since a moment.
func (t *Turn) AddBusy(atOnce int, since time.Time) {
	t.busy += time.Duration(atOnce) * t.poller.Now().Sub(since)
}
