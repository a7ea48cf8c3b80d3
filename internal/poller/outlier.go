package poller

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/internal/polls"
)

// A query that took far longer than all other recent ones has usually waited for its
// scheduler to come back, which did nothing meanwhile: Slurm's commands wait for nine
// seconds. Twenty times as long would delay the next answer by minutes.
const (
	recent        = 10 * time.Minute
	outlierFactor = 10 // times as long as each other query
	outlierOthers = 3  // as many of these are needed
)

// An outlier is such a query.
type outlier struct {
	begun time.Time // identifies it; zero for none
	due   time.Time // when the next one may be made
}

// outlierOf returns the last query if it is an outlier. The next query may be made as soon
// as all recent ones together have kept the scheduler busy for at most a twentieth of the
// time.
func (p *Poller) outlierOf(ctx context.Context, last polls.Poll) (outlier, error) {
	if last.Failures > 0 || last.Took*quietFactor <= longestInterval {
		return outlier{}, nil
	}
	load, err := p.Store.Load(ctx, last.PollKey, last.Begun.Add(-recent))
	if err != nil || load.Count <= outlierOthers || load.Longest*outlierFactor > last.Took {
		return outlier{}, err
	}
	return outlier{last.Begun, load.First.Add(load.Spent * quietFactor)}, nil
}

// isLast reports whether the last query is this one.
func (o outlier) isLast(last polls.Poll) bool {
	return !o.begun.IsZero() && o.begun.Equal(last.Begun)
}
