package control

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/polls"
)

// Turns are repeated listings of everybody's jobs, the nodes and the queues. However many
// processes of this user list, each kind of listing runs once per interval of the definition,
// keeps the scheduler busy for at most a twentieth of the time, and is shared by all
// processes. The methods may be called concurrently.
type Turns struct {
	tracker *tracker
	viewer  *poller.Viewer
}

// Turns returns repeated listings. If keeps is set, it stores them even if no process is known
// to want them, for [Controller.LatestRows].
func (c *Controller) Turns(keeps bool) *Turns {
	return &Turns{tracker: c.tracker, viewer: c.poller.Viewer(keeps)}
}

// Rows is [Controller.Rows] for repeated listings. If it is too early for a new
// listing, it calls each with the rows that another process has listed since the last
// time, or waits for those. Listings of more than 64 MiB are not shared. They count
// among the queries that rmctl polls shows.
func (t *Turns) Rows(ctx context.Context, kind config.CommandElement, each func(command.Row) error) (polls.Listing, error) {
	c := t.tracker
	list, err := c.listingOf(kind)
	if err != nil {
		return polls.Listing{}, err
	}
	made, isReceived, err := t.viewer.List(ctx, c.sharedListing(list, each))
	if isReceived && err == nil && c.onListed != nil {
		c.onListed(kind, command.Listed{Rows: made.Rows, Again: made.Again, NotUnderstood: made.NotUnderstood})
	}
	return made, err
}

// Due returns when [Turns.Rows] has rows without waiting, unless another process lists
// then: a time in the past if it has some now.
func (t *Turns) Due(ctx context.Context, kind config.CommandElement) (time.Time, error) {
	list := t.tracker.definition.Command(kind)
	if list == nil {
		return time.Time{}, nil
	}
	return t.viewer.Due(ctx, t.tracker.sharedListing(list, nil))
}

// ErrNotListed reports that no process of this user shares such a listing.
var ErrNotListed = errors.New("no process has listed it for others")

// LatestRows calls each with the rows of the listing that a process of this user made
// last, as [Controller.Rows] does. It queries no scheduler. The error matches
// ErrNotListed if that listing failed or was not shared. A definition without such a
// listing gives an *UnsupportedError.
func (c *Controller) LatestRows(ctx context.Context, kind config.CommandElement, each func(command.Row) error) (polls.Listing, error) {
	list, err := c.listingOf(kind)
	if err != nil {
		return polls.Listing{}, err
	}
	made, isReceived, err := c.poller.Latest(ctx, c.sharedListing(list, each))
	if err == nil && !isReceived {
		err = ErrNotListed
	}
	return made, err
}

// sharedListing describes a listing that all processes of this user make in turn, with a
// receiver of its rows. Parsers may depend on values of the target: targets with other values
// share the turns, but not the rows.
func (c *tracker) sharedListing(list *config.Command, each func(command.Row) error) poller.Listing {
	values, _ := json.Marshal(c.resolver.Defaults) // of texts only
	return poller.Listing{
		Request: poller.Request{
			Key:    polls.PollKey{Kind: polls.PollKind(list.Element), Key: c.pollKey()},
			Target: c.target, Interval: c.intervalOf(list), Limit: limitOf(list), FailureOf: listingFailureOf,
		},
		Variant: string(values),
		List: func(ctx context.Context, share func(command.Row)) (command.Listed, error) {
			return c.Rows(ctx, list.Element, config.AllJobs, func(row command.Row) error {
				share(row)
				return each(row)
			})
		},
		Receive: each,
	}
}
