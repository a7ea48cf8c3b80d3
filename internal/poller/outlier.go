package poller

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/internal/polls"
)

// A query that took far longer than all others of late is as a rule one that waited
// until its scheduler was back, which did nothing meanwhile: Slurm's commands wait for
// nine seconds. Twenty times as long would delay the next answer by minutes.
const (
	lately        = 10 * time.Minute
	outlierFactor = 10 // times as long as each other query
	outlierOthers = 3  // as many of these are needed
)

// An outlier is such a query.
type outlier struct {
	begun time.Time // identifies it; zero for none
	due   time.Time // when the next one may be made
}

// outlierOf returns the last query if it is an outlier. The next one may be made as
// soon as all of late have kept the scheduler busy for no more than a twentieth of
// the time: what the quick ones left of it counts for the slow one.
func (p *Poller) outlierOf(ctx context.Context, last polls.Poll) (outlier, error) {
	if last.Failures > 0 || last.Took*quietFactor <= longestInterval {
		return outlier{}, nil
	}
	load, err := p.Store.Load(ctx, last.PollKey, last.Begun.Add(-lately))
	if err != nil || load.Count <= outlierOthers || load.Longest*outlierFactor > last.Took {
		return outlier{}, err
	}
	return outlier{last.Begun, load.First.Add(load.Spent * quietFactor)}, nil
}

// isLast reports whether the last query is this one.
func (o outlier) isLast(last polls.Poll) bool {
	return !o.begun.IsZero() && o.begun.Equal(last.Begun)
}
