package poller

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/polls"
)

// shownFor is how long after the last wish for a listing it is kept for others.
const shownFor = 15 * time.Minute

// A Listing is a query that all processes of a user make in turn, with its rows.
type Listing struct {
	Request
	Variant string // distinguishes targets that share the query and read its rows in other ways
	// List runs the command and also passes each of its rows to share.
	List func(ctx context.Context, share func(command.Row)) (command.Listed, error)
	// Receive gets the rows that another process listed.
	Receive func(command.Row) error
}

func (l *Listing) key() polls.ListingKey {
	return polls.ListingKey{PollKey: l.Key, Variant: l.Variant}
}

// A Viewer lists again and again. However many there are, in whichever processes of
// this user, each query is made once per interval, and keeps the scheduler busy for
// no more than a twentieth of the time. Its methods may be called concurrently.
type Viewer struct {
	poller *Poller
	keeps  bool

	mu       sync.Mutex
	seen     map[polls.PollKey]time.Time // when the listings began that were received last
	isWarned bool
}

// Viewer returns a viewer. Listings of one that keeps them are kept for
// [Poller.Latest] also without a wish.
func (p *Poller) Viewer(keeps bool) *Viewer {
	return &Viewer{poller: p, keeps: keeps, seen: map[polls.PollKey]time.Time{}}
}

// List lists, or receives what another process has listed since the last time,
// whichever comes first. It reports whether it received.
func (v *Viewer) List(ctx context.Context, l Listing) (made polls.Listing, isReceived bool, err error) {
	s := &listingSchedule{viewer: v, listing: &l}
	l.Query = s.query
	turn, err := v.poller.poll(ctx, &l.Request, s)
	if turn != nil {
		v.see(l.Key, turn.Begun)
	}
	return s.made, s.isReceived, err
}

// Due returns when List gives something without waiting, unless another process lists
// then: a time in the past if it does now.
func (v *Viewer) Due(ctx context.Context, l Listing) (time.Time, error) {
	last, err := v.poller.Store.Poll(ctx, l.Key)
	if err != nil || last.Begun.IsZero() {
		return time.Time{}, err
	}
	made, err := v.newer(ctx, l.key(), last)
	if err != nil || !made.Begun.IsZero() {
		return time.Time{}, err
	}
	return v.poller.listingDue(l.Interval, last), nil
}

// Latest receives the listing that a process of this user made last, and queries nothing.
// It reports false if that listing failed or is not shared.
func (p *Poller) Latest(ctx context.Context, l Listing) (made polls.Listing, isReceived bool, err error) {
	last, err := p.Store.Poll(ctx, l.Key)
	if err == nil {
		made, err = p.Store.Listing(ctx, l.key())
	}
	if err != nil || made.Begun.IsZero() || made.Begun.Before(last.Begun) {
		return polls.Listing{}, false, err
	}
	isReceived, err = p.receive(ctx, made, l.Receive)
	return made, isReceived, err
}

// receive passes the rows of a listing to each. It reports false, and passes none, if newer
// listings have replaced it.
func (p *Poller) receive(ctx context.Context, made polls.Listing, each func(command.Row) error) (bool, error) {
	for place := range made.Chunks {
		rows, err := p.Store.Chunk(ctx, made, place)
		switch isGone := errors.Is(err, polls.ErrGone); {
		case isGone && place == 0:
			return false, nil
		case isGone:
			return true, errReplaced
		case err != nil:
			return true, err
		}
		if err := eachRow(rows, each); err != nil {
			return true, err
		}
	}
	return true, nil
}

// errReplaced reports that two newer listings were made during the reading of one.
var errReplaced = errors.New("reading what another process listed: newer listings replaced it")

// newer returns the last listing of another process, or the zero value unless it is
// newer than what was received before. It marks the listing as wanted if others list.
func (v *Viewer) newer(ctx context.Context, key polls.ListingKey, last polls.Poll) (polls.Listing, error) {
	made, err := v.poller.Store.Listing(ctx, key)
	if err != nil {
		return polls.Listing{}, err
	}
	now, seen := v.poller.Now(), v.lastSeen(key.PollKey)
	if last.Begun.After(seen) && now.Sub(made.Wanted).Abs() >= shownFor/4 {
		v.warn(v.poller.Store.Want(ctx, key, now))
	}
	if made.Begun.Before(last.Begun) || !made.Begun.After(seen) || made.Begun.After(now) {
		return polls.Listing{}, nil
	}
	return made, nil
}

func (v *Viewer) lastSeen(key polls.PollKey) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen[key]
}

func (v *Viewer) see(key polls.PollKey, begun time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen[key] = begun
}

// warn reports once why listings cannot be shared.
func (v *Viewer) warn(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil || errors.Is(err, errTooLarge) || v.isWarned {
		return
	}
	v.isWarned = true
	v.poller.Warn(err)
}

// listingDue returns when a listing may be made again after the last one.
func (p *Poller) listingDue(interval time.Duration, last polls.Poll) time.Time {
	if last.Begun.After(p.Now()) { // a clock was set back
		return time.Time{}
	}
	return last.Begun.Add(max(interval, min(time.Duration(float64(last.Took)/usualShare), longestBackOff)))
}

// A listingSchedule lists once per interval, or receives the listing of another process.
type listingSchedule struct {
	viewer     *Viewer
	listing    *Listing
	made       polls.Listing
	isReceived bool
}

func (s *listingSchedule) dueAt(last polls.Poll) time.Time {
	return s.viewer.poller.listingDue(s.listing.Interval, last)
}

// standBy receives what another process listed, or waits for the next turn.
func (s *listingSchedule) standBy(ctx context.Context, last polls.Poll) (wait time.Duration, isOver bool, err error) {
	p := s.viewer.poller
	made, err := s.viewer.newer(ctx, s.listing.key(), last)
	if err == nil && !made.Begun.IsZero() {
		s.isReceived, err = p.receive(ctx, made, s.listing.Receive)
	}
	if err != nil {
		return 0, false, err
	}
	if s.isReceived {
		s.made = made
		s.viewer.see(s.listing.Key, made.Begun)
		return 0, true, nil
	}
	if last.Holder != "" {
		return claimPause, false, nil
	}
	return max(claimPause, s.dueAt(last).Sub(p.Now())), false, nil
}

// query lists, and writes the rows for others where that is wanted.
func (s *listingSchedule) query(ctx context.Context, turn *Turn) error {
	isWanted, err := s.isWanted(ctx, turn)
	if err != nil {
		return err
	}
	var shared *draft
	if isWanted {
		shared = &draft{store: turn.poller.Store, key: s.listing.key(), begun: turn.Begun}
	}
	listed, err := s.listing.List(ctx, func(row command.Row) { shared.add(ctx, row) })
	turn.AddBusy(1, turn.Begun)
	turn.Jobs = listed.Rows
	s.made = polls.Listing{ListingKey: s.listing.key(), Begun: turn.Begun, Took: turn.busy, Rows: listed.Rows, Again: listed.Again, NotUnderstood: listed.NotUnderstood}
	if err != nil || shared == nil {
		return err
	}
	chunks, failure := shared.finish(ctx)
	s.viewer.warn(failure)
	if failure == nil {
		whole := s.made
		whole.Chunks = chunks
		turn.listed = &whole
	}
	return nil
}

// isWanted reports whether other processes want the listing. They may record that as rarely
// as once an interval.
func (s *listingSchedule) isWanted(ctx context.Context, turn *Turn) (bool, error) {
	if s.viewer.keeps {
		return true, nil
	}
	made, err := turn.poller.Store.Listing(ctx, s.listing.key())
	interval := s.dueAt(turn.last).Sub(turn.last.Begun)
	return turn.Begun.Sub(made.Wanted).Abs() < max(shownFor, 3*interval), err
}
