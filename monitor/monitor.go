package monitor

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// Options say what a monitor works with.
type Options struct {
	Model   *model.Model
	Manager string // id of the resource manager, which is in the model before Run is called
	Machine string // id of the nodes' machine; empty for that of the resource manager
	User    string // name of this user at the scheduler, to recognise own jobs on nodes; empty while unknown
	// Rows lists all elements of a kind, [model.Queue], [model.Node] or [model.Job], and
	// [model.Machine] and, as the only element, [model.ResourceManager] if these have an interval; the jobs of everybody where the scheduler shows them. It hands out each row
	// while the command still prints, and ends with the error that each returns. Facts
	// are used by another goroutine for some time after that, and must not change.
	// Of several rows with one id the last one that has a fact counts.
	// Without an error, the rows are all there are.
	Rows func(ctx context.Context, kind model.Kind, each func(id string, facts Facts) error) (Outcome, error)
	// JobChanges lists the jobs that have changed since jobs were listed last, and those with some
	// ids, as Rows does; [Outcome.Gone] has the ids of those that are gone. It reports false if
	// it cannot: then Rows lists all. Nil for a source that knows of no changes.
	JobChanges func(ctx context.Context, ids []string, each func(id string, facts Facts) error) (Outcome, bool, error)
	// Record returns the jobs that this user submitted to the resource manager and that
	// are to be shown, by tag, and their processes as far as these are known. Nil for none.
	Record func(ctx context.Context) (map[string]job.Job, map[string][]job.Process, error)
	// Submission returns the predefined attributes of jobs, such as execName, that say what was
	// submitted as a job on record. They may become known later, but do not change. Nil for none.
	Submission func(tag string) []model.Attribute
	// Describe returns the name and the description of an attribute that rows have beside the
	// facts that are known here. Nil where they have none.
	Describe func(id string) (name, description string)

	// Intervals are the shortest times from the beginning of one listing of a kind to that
	// of the next; 0 for 5 seconds. Machines and the resource manager are listed only if they have one.
	Intervals map[model.Kind]time.Duration
	Location  *time.Location // of the scheduler's times that have no zone; nil for the local one

	// Due returns when a kind of elements may be listed, where others share that right.
	// Nil for at once.
	Due func(ctx context.Context, kind model.Kind) (time.Time, error)
	// IsLost reports whether Run ends after an error of Rows, such as of a lost
	// connection; nil for never.
	IsLost func(error) bool
	Log    *slog.Logger                         // nil to log nothing
	Now    func() time.Time                     // nil for the clock
	After  func(time.Duration) <-chan time.Time // a timer; nil for real time
	Jitter func() float64                       // a random number from 0 to 1; nil for a random one
}

// A Listing is how the listings of one kind of elements went.
type Listing struct {
	Kind model.Kind
	At   time.Time     // when the last successful one began; zero before that
	Took time.Duration // the scheduler's command of that
	Rows int           // of that
	Err  error         // why the newest one failed; nil if it did not
	// ErrAt is when the newest one failed.
	ErrAt time.Time
	Seen  int       // rows of the newest one, also if it failed
	Next  time.Time // when the next one is due; zero if there will be none
	// Unsupported is set if the scheduler has no such listing.
	Unsupported bool
}

// How often a scheduler is queried.
const (
	defaultInterval = 5 * time.Second
	// The time between the beginnings of two rounds of listings is at least so many times
	// their duration: they keep the scheduler busy for no more than a twentieth of the time.
	quietFactor    = 20
	longestBackOff = 5 * time.Minute
	recordInterval = 2 * time.Second
)

// Nodes and queues change less often than jobs: they are listed once in so many shortest
// intervals, unless a user refreshes them.
const (
	nodesPace  = 2
	queuesPace = 4
)

// A Monitor keeps one resource manager in a model up to date while Run works.
// Refresh, Listings and Problems may be called by any goroutine.
type Monitor struct {
	options  Options
	seed     maphash.Seed
	queues   *queues
	itself   *itself
	machines *machines
	nodes    *nodes
	jobs     *jobs
	wake     chan struct{}
	further  map[string]bool // whether an attribute without a column is shown

	mu       sync.Mutex
	tasks    []*task
	problems map[problemKey]*model.Problem
}

// A task is one of the things that a monitor does again and again.
type task struct {
	listing  Listing // of kind Universe for the record
	shortest time.Duration
	pace     int // how many shortest intervals there usually are
	begun    time.Time
	took     time.Duration // that the newest run kept the scheduler busy
	failures int           // in a row
}

// New returns a monitor.
func New(o Options) *Monitor {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	o.Machine = cmp.Or(o.Machine, o.Manager)
	m := &Monitor{options: o, seed: maphash.MakeSeed(), wake: make(chan struct{}, 1), problems: map[problemKey]*model.Problem{}, further: map[string]bool{}}
	m.itself = &itself{monitor: m}
	m.machines = &machines{monitor: m, listed: map[string]listedMachine{}}
	m.queues, m.nodes, m.jobs = newQueues(m), newNodes(m), newJobs(m)
	if o.Record != nil {
		m.tasks = append(m.tasks, &task{listing: Listing{Kind: model.Universe}, shortest: recordInterval, pace: 1})
	}
	for _, kind := range []model.Kind{model.ResourceManager, model.Machine} {
		if interval, isListed := o.Intervals[kind]; isListed {
			m.tasks = append(m.tasks, &task{listing: Listing{Kind: kind}, shortest: cmp.Or(interval, defaultInterval), pace: 1})
		}
	}
	for _, each := range []struct {
		kind model.Kind
		pace int
	}{{model.Queue, queuesPace}, {model.Node, nodesPace}, {model.Job, 1}} {
		m.tasks = append(m.tasks, &task{listing: Listing{Kind: each.kind}, shortest: cmp.Or(o.Intervals[each.kind], defaultInterval), pace: each.pace})
	}
	return m
}

// Run keeps the model up to date until the context ends, whose error it returns
// then, or a listing fails with an error for which Options.IsLost returns true. It must not
// be called twice. The resource manager must be in the model and not be STOPPED meanwhile.
func (m *Monitor) Run(ctx context.Context) error {
	if _, known := m.options.Model.Snapshot().Manager(m.options.Manager); !known {
		return fmt.Errorf("watching %s: there is no such resource manager in the model", quoted(m.options.Manager))
	}
	if err := define(m.options.Model); err != nil {
		return fmt.Errorf("watching %s: %w", quoted(m.options.Manager), err)
	}
	m.adopt()
	for {
		due, wait := m.next()
		if wait > 0 || due == nil {
			if err := m.await(ctx, wait); err != nil {
				return err
			}
			continue
		}
		err := m.do(ctx, due)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && m.options.IsLost != nil && m.options.IsLost(err):
			return err
		}
	}
}

// adopt takes over what the model has of the resource manager from before, and puts
// the machine.
func (m *Monitor) adopt() {
	m.update(func(u *model.Update) {
		u.Put(model.Row{Manager: m.options.Manager, Kind: model.Machine, ID: m.options.Machine})
	})
	if before, known := m.options.Model.Snapshot().Manager(m.options.Manager); known {
		m.queues.adopt(before)
		m.nodes.adopt(before)
		m.jobs.adopt(before)
	}
}

// next returns the task that has been due for the longest time and 0, or how long
// until one is due.
func (m *Monitor) next() (*task, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first *task
	for _, each := range m.tasks {
		if !each.listing.Unsupported && (first == nil || each.listing.Next.Before(first.listing.Next)) {
			first = each
		}
	}
	if first == nil {
		return nil, longestBackOff
	}
	return first, first.listing.Next.Sub(m.options.Now())
}

func (m *Monitor) await(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-m.wake:
	case <-m.options.After(wait):
	}
	return nil
}

// Refresh has everything listed as soon as the shortest intervals and the time that
// the listings take let it. It does not wait for that. After failures it does not wait for
// the end of the back-off.
func (m *Monitor) Refresh() {
	m.mu.Lock()
	for _, each := range m.tasks {
		soonest := each.begun
		if !each.begun.IsZero() && each.listing.Kind != model.Universe {
			soonest = soonest.Add(max(each.shortest, min(m.quiet(), longestBackOff)))
		}
		if soonest.Before(each.listing.Next) {
			each.listing.Next = soonest
		}
	}
	m.mu.Unlock()
	signal(m.wake)
}

// listSoon has a kind listed next, unless its listings fail.
func (m *Monitor) listSoon(kind model.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, each := range m.tasks {
		if now := m.options.Now(); each.listing.Kind == kind && each.failures == 0 && each.listing.Next.After(now) {
			each.listing.Next = now
		}
	}
}

// quiet returns how long the scheduler is left alone after the beginning of a
// round; the lock is held. A listing that failed may have hung, and says nothing about
// how long a good one takes.
func (m *Monitor) quiet() time.Duration {
	var took time.Duration
	for _, each := range m.tasks {
		if each.listing.Kind != model.Universe && each.failures == 0 {
			took += each.took
		}
	}
	return took * quietFactor
}

// do runs a task and returns when it is due again.
func (m *Monitor) do(ctx context.Context, t *task) error {
	if m.putOff(ctx, t) {
		return nil
	}
	begun := m.options.Now()
	var outcome Outcome
	var rows int
	var err error
	if t.listing.Kind == model.Universe {
		if err = m.jobs.readRecord(ctx); m.wantsRows() {
			defer m.listSoon(model.Job)
		}
	} else {
		outcome, rows, err = m.list(ctx, t.listing.Kind)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	took := cmp.Or(outcome.Took, m.options.Now().Sub(begun))
	if err == nil && !outcome.Begun.IsZero() && outcome.Begun.Before(begun) {
		begun = outcome.Begun // the next listing is due when the process that made this one may list
	}
	m.mu.Lock()
	t.begun, t.took, t.listing.Seen = begun, took, rows
	if outcome.Unreached || err == nil && t.failures > 0 { // the first answer may have waited for the end of the outage
		t.took = 0
	}
	switch {
	case outcome.Unsupported:
		t.listing.Unsupported, t.listing.Err, t.listing.Next = true, nil, time.Time{}
	case err != nil:
		t.failures++
		t.listing.Err, t.listing.ErrAt = err, m.options.Now()
		t.listing.Next = begun.Add(m.afterFailure(t))
	default:
		t.failures = 0
		t.listing.At, t.listing.Took, t.listing.Rows, t.listing.Err = begun, took, rows, nil
		t.listing.Next = begun.Add(m.afterSuccess(t))
	}
	first := t.failures == 1
	m.mu.Unlock()
	if first {
		m.options.Log.Warn("watching a scheduler", "manager", m.options.Manager, "error", err)
	}
	m.showListings()
	return err
}

// wantsRows reports whether rows of jobs that have not changed have to be compared with the record. A
// source that knows of changes would not list them.
func (m *Monitor) wantsRows() bool { return m.options.JobChanges != nil && len(m.jobs.unmatched()) > 0 }

// putOff reports whether a listing is to wait for its turn, and then says when it is
// due. Where that is unknown the listing is tried: it fails if there is a reason.
func (m *Monitor) putOff(ctx context.Context, t *task) bool {
	if t.listing.Kind == model.Universe || m.options.Due == nil || t.listing.Kind == model.Job && m.wantsRows() {
		return false
	}
	due, err := m.options.Due(ctx, t.listing.Kind)
	if err != nil || !due.After(m.options.Now()) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t.listing.Next = due
	return true
}

// afterSuccess and afterFailure return how long from the beginning of a task to that
// of the next one; the lock is held.
func (m *Monitor) afterSuccess(t *task) time.Duration {
	usual := t.shortest * time.Duration(t.pace)
	if t.listing.Kind == model.Universe {
		return max(usual, t.took*quietFactor)
	}
	return max(usual, m.quiet())
}

// afterFailure doubles the time with each failure, and not exactly, so that many
// users do not come back at one moment.
func (m *Monitor) afterFailure(t *task) time.Duration {
	wait := t.shortest << min(t.failures-1, 20)
	if wait <= 0 || wait > longestBackOff {
		wait = longestBackOff
	}
	// A query that timed out says nothing about the duration of a successful one.
	wait = max(wait, min(t.took*quietFactor, longestBackOff))
	return wait + time.Duration(m.options.Jitter()*float64(wait)/4)
}

// update changes the model and counts refused changes.
func (m *Monitor) update(change func(*model.Update)) {
	m.refused(m.options.Model.Update(change))
}
