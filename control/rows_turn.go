package control

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/jobstore"
)

// A MadeListing is how a listing went.
type MadeListing struct {
	command.Listed
	Begun time.Time     // of its command; zero where none ran
	Took  time.Duration // the command, without a wait for it
}

// Turns are the listings of one who lists again and again, of the jobs of everybody, the
// nodes and the queues. However many processes of this user do that, each kind of listing is made
// once per interval of the definition, and keeps the scheduler busy for no more than
// a twentieth of the time: who makes it shares it with the others. Its methods may be
// called concurrently.
type Turns struct {
	controller *Controller
	keeps      bool

	mu   sync.Mutex
	seen map[config.CommandElement]time.Time // when the listings began that were handed out last
	told error                               // what was wrong with sharing
	tidy sync.Once
}

// Turns returns the turns of one who lists again and again. Who keeps listings shares
// them also while nobody is known to want them, for [Controller.LatestRows].
func (c *Controller) Turns(keeps bool) *Turns {
	return &Turns{controller: c, keeps: keeps, seen: map[config.CommandElement]time.Time{}}
}

// Rows is [Controller.Rows] for who lists again and again. Who comes too early for a new
// listing gets what another process has listed since the last time, and waits where
// there is no such listing. A listing of more than 64 MiB is not shared: such ones
// are made in turn. What is listed shows among the queries that rmctl polls counts.
func (t *Turns) Rows(ctx context.Context, kind config.CommandElement, each func(command.Row) error) (made MadeListing, err error) {
	c := t.controller
	list := c.definition.Command(kind)
	if list == nil {
		made.Listed, err = c.Rows(ctx, kind, config.AllJobs, each)
		return made, err
	}
	claim := jobstore.Claim{PollKey: c.turnKey(list.Element), Target: c.target, Holder: c.holder, Lease: pollLease + limitOf(list), IsGone: isHolderGone}
	claim.Due = func(last jobstore.Poll) bool { return !c.now().Before(c.turnAt(list, last)) }
	for {
		claim.Now = c.now()
		last, granted, err := c.store.ClaimPoll(ctx, claim)
		if err != nil {
			return made, err
		}
		if granted {
			return t.list(ctx, claim, list, last, each)
		}
		if made, isRead, err := t.shared(list, last, each); isRead || err != nil {
			return made, err
		}
		wait := claimPause
		if last.Holder == "" {
			wait = max(wait, c.turnAt(list, last).Sub(c.now()))
		}
		if err := c.pause(ctx, wait); err != nil {
			return made, err
		}
	}
}

// list makes a listing, and shares it where that is wanted.
func (t *Turns) list(ctx context.Context, claim jobstore.Claim, list *config.Command, last jobstore.Poll, each func(command.Row) error) (made MadeListing, err error) {
	c := t.controller
	made.Begun = c.now()
	var share *sharedWriter
	file := c.sharedListing(list.Element)
	if t.keeps || file.isWanted(made.Begun, c.turnAt(list, last).Sub(last.Begun)) {
		t.tidy.Do(func() { t.note(file.tidy(made.Begun)) })
		share = file.create()
	}
	made.Listed, err = c.Rows(ctx, list.Element, config.AllJobs, func(row command.Row) error {
		if share != nil {
			share.add(row)
		}
		return each(row)
	})
	made.Took = c.now().Sub(made.Begun)
	poll := jobstore.Poll{Begun: made.Begun, Took: made.Took, Jobs: made.Rows, Changed: made.Begun}
	switch {
	case ctx.Err() != nil: // giving up tells nothing of the scheduler
		poll.Failures, poll.Error, poll.Failure = last.Failures, last.Error, last.Failure
	case err != nil:
		poll.Failures, poll.Error, poll.Failure = 1, wordsOf(err), failureOf(err)
		if IsUnreached(err) {
			poll.Took = 0
		}
	case last.Failures > 0:
		poll.Took = 0 // it may have waited for the end of the outage
	}
	if share != nil {
		t.note(share.finish(made, err != nil))
	}
	t.see(list.Element, made.Begun)
	if finishErr := c.store.FinishPoll(context.WithoutCancel(ctx), claim, poll, nil); err == nil {
		err = finishErr
	}
	return made, err
}

// shared hands out what another process has listed, if that is newer than what was
// handed out before, and tells the others that it is wanted.
func (t *Turns) shared(list *config.Command, last jobstore.Poll, each func(command.Row) error) (made MadeListing, isRead bool, err error) {
	c, kind := t.controller, list.Element
	made, file := t.newer(list, last)
	if made.Begun.IsZero() {
		return made, false, nil
	}
	made, isRead, err = file.read(made.Begun, each)
	if !isRead || err != nil {
		return made, isRead, err
	}
	t.see(kind, made.Begun)
	if c.onListed != nil {
		c.onListed(kind, made.Listed)
	}
	return made, true, nil
}

// newer returns how the listing went that another process shares, a zero one if that is
// not newer than what was handed out before. If others list at all they are told
// that it is wanted.
func (t *Turns) newer(list *config.Command, last jobstore.Poll) (MadeListing, sharedListing) {
	c := t.controller
	file := c.sharedListing(list.Element)
	t.mu.Lock()
	seen := t.seen[list.Element]
	t.mu.Unlock()
	if last.Begun.After(seen) {
		t.note(file.want(c.now()))
	}
	made := file.newest(last.Begun)
	if !made.Begun.After(seen) || made.Begun.After(c.now()) {
		return MadeListing{}, file
	}
	return made, file
}

// see notes which listing was handed out last.
func (t *Turns) see(kind config.CommandElement, begun time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen[kind] = begun
}

// note tells once what is wrong with sharing listings, without which these go on.
func (t *Turns) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil || errors.Is(err, errTooLarge) || t.told != nil {
		return
	}
	t.told = err
	t.controller.log.Warn("what one process lists cannot be shared with the others of this user: they list in turn", "error", err)
}

// Due returns when [Turns.Rows] hands out something without waiting, unless another
// process lists then: a time that has passed where it may at once.
func (t *Turns) Due(ctx context.Context, kind config.CommandElement) (time.Time, error) {
	c := t.controller
	list := c.definition.Command(kind)
	if list == nil {
		return time.Time{}, nil
	}
	last, err := c.store.Poll(ctx, c.turnKey(list.Element))
	if err != nil || last.Begun.IsZero() {
		return time.Time{}, err
	}
	if made, _ := t.newer(list, last); !made.Begun.IsZero() {
		return time.Time{}, nil
	}
	return c.turnAt(list, last), nil
}

// ErrNotListed tells that no process of this user has listed something and shares it.
var ErrNotListed = errors.New("no process has listed it for others")

// LatestRows hands out the rows of the listing that a process of this user made last, in
// its turn, as [Controller.Rows] hands them out. It asks no scheduler. The error matches
// ErrNotListed where that listing failed or was not shared. A definition that has no such
// listing gives an *UnsupportedError.
func (c *Controller) LatestRows(ctx context.Context, kind config.CommandElement, each func(command.Row) error) (MadeListing, error) {
	list := c.definition.Command(kind)
	if list == nil {
		return MadeListing{}, &UnsupportedError{Definition: c.definition.Name, Lacks: "x:" + string(kind)}
	}
	last, err := c.store.Poll(ctx, c.turnKey(list.Element))
	if err != nil {
		return MadeListing{}, err
	}
	made, isRead, err := c.sharedListing(list.Element).read(last.Begun, each)
	if err == nil && !isRead {
		err = ErrNotListed
	}
	return made, err
}

// turnKey names a listing that all processes of this user make in turn.
func (c *Controller) turnKey(kind config.CommandElement) jobstore.PollKey {
	return jobstore.PollKey{Kind: jobstore.PollKind(kind), Key: c.pollKey()}
}

// turnAt returns when a listing may be made again after the last time.
func (c *Controller) turnAt(list *config.Command, last jobstore.Poll) time.Time {
	if last.Begun.After(c.now()) { // a clock was set back
		return time.Time{}
	}
	interval := list.Interval
	if interval <= 0 {
		interval = defaultInterval
	}
	return last.Begun.Add(max(interval, min(last.Took*quietFactor, longestBackOff)))
}
