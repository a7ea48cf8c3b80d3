package monitor

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/model"
)

// The first rows are shown soon, the later ones in updates that grow: each update
// costs something for all elements, and a large one holds up all others.
const (
	firstBatch   = 64
	batchGrowth  = 4
	largestBatch = 16 << 10
	// So long rows wait for more when they come slowly.
	patience = 200 * time.Millisecond
)

const (
	maxID   = 1024    // bytes of an element's id in the model
	maxText = 4 << 10 // bytes of one fact of a row
)

// A merger takes the rows of listings of one kind of elements into the model. It is
// used by one goroutine.
type merger interface {
	facts() []string // names of the facts of a row
	startListing()
	// merge applies a row with the fingerprint of its facts. Both are valid only during the
	// call.
	merge(u *model.Update, id string, facts Facts, print uint64)
	// end is called after the last row. If whole is set, the listing is complete: what it
	// lacks is gone.
	end(whole bool)
}

func (m *Monitor) merger(kind model.Kind) merger {
	switch kind {
	case model.Queue:
		return m.queues
	case model.Machine:
		return m.machines
	case model.ResourceManager:
		return m.itself
	case model.Node:
		return m.nodes
	default:
		return m.jobs
	}
}

// list runs a listing and takes its rows into the model while they come. It returns
// how many there were.
func (m *Monitor) list(ctx context.Context, kind model.Kind) (Outcome, int, error) {
	into := m.merger(kind)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	feed := newFeed()
	var facts boundedFacts
	var outcome Outcome
	var failure error
	areChanges, add := kind == model.Job && m.options.JobChanges != nil, func(id string, facts Facts) error { return feed.add(ctx, id, facts) }
	unmatched := m.jobs.unmatched()
	go func() {
		defer feed.close()
		if areChanges {
			outcome, areChanges, failure = m.options.JobChanges(ctx, unmatched, add)
		}
		if !areChanges {
			outcome, failure = m.options.Rows(ctx, kind, add)
		}
	}()
	into.startListing()
	rows := 0
	for size := firstBatch; ; size = min(size*batchGrowth, largestBatch) {
		batch, more := feed.next(size, m.options.After)
		if batch.rows() > 0 {
			m.update(func(u *model.Update) {
				for i, id := range batch.ids {
					facts = boundedFacts{Facts: batch.facts[i]}
					print := m.fingerprint(into.facts(), &facts)
					m.wrong(whatLong, kind, id, cut(facts.long, quotedBytes), facts.cuts)
					into.merge(u, id, &facts, print)
				}
			})
		}
		rows += batch.rows()
		m.wrong(whatID, kind, "", batch.badID, batch.badIDs)
		if !more {
			break
		}
	}
	m.nodes.unlisted = m.nodes.unlisted || outcome.Unsupported && kind == model.Node
	isComplete := failure == nil && ctx.Err() == nil
	if areChanges && isComplete {
		rows = m.jobs.endChanges(outcome.Gone)
	} else {
		into.end(isComplete)
	}
	m.wrong(whatNotUnderstood, kind, "", "", outcome.NotUnderstood)
	return outcome, rows, failure
}

// boundedFacts are facts whose long texts are cut.
type boundedFacts struct {
	Facts
	cuts int    // how many were cut
	long string // the last of these
}

// Fact implements [Facts].
func (b *boundedFacts) Fact(name string) string {
	text := b.Facts.Fact(name)
	if len(text) <= maxText {
		return text
	}
	b.cuts++
	b.long = text
	return cut(text, maxText)
}

// keptFacts are facts that are kept, with their own memory.
type keptFacts map[string]string

// Fact implements [Facts].
func (k keptFacts) Fact(name string) string { return k[name] }

// add stores the non-empty facts and replaces earlier ones.
func (k keptFacts) add(names []string, facts Facts) {
	for _, name := range names {
		if text := facts.Fact(name); text != "" {
			k[name] = strings.Clone(text)
		}
	}
}

// A feed passes rows from the reading goroutine to the merging one.
type feed struct {
	ready chan struct{} // holds a token once there are enough rows, or the last
	room  chan struct{} // holds a token once rows were taken

	mu     sync.Mutex
	batch  batch
	spare  batch
	wanted int
	closed bool
}

// A batch is some rows.
type batch struct {
	ids   []string
	facts []Facts

	badIDs int // number of unusable values, and the last of them
	badID  string
}

func (b *batch) rows() int { return len(b.ids) }

func (b *batch) clear() {
	clear(b.ids)
	clear(b.facts)
	*b = batch{ids: b.ids[:0], facts: b.facts[:0]}
}

func newFeed() *feed {
	return &feed{ready: make(chan struct{}, 1), room: make(chan struct{}, 1), wanted: firstBatch}
}

// add takes a row. It waits while there are too many that were not merged yet.
func (f *feed) add(ctx context.Context, id string, facts Facts) error {
	f.mu.Lock()
	for f.batch.rows() >= largestBatch {
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.room:
		}
		f.mu.Lock()
	}
	defer f.mu.Unlock()
	b := &f.batch
	if id == "" || len(id) > maxID {
		b.badIDs++
		b.badID = cut(id, quotedBytes)
		return nil
	}
	b.ids, b.facts = append(b.ids, id), append(b.facts, facts)
	if b.rows() == f.wanted {
		signal(f.ready)
	}
	return nil
}

func (f *feed) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	signal(f.ready)
}

// next waits until there are a number of rows, or some have waited for long enough,
// or no more come. It returns what there is, to be used until the next call, and
// whether there may be more.
func (f *feed) next(wanted int, after func(time.Duration) <-chan time.Time) (*batch, bool) {
	f.mu.Lock()
	f.wanted = wanted
	f.mu.Unlock()
	least := wanted
	for !f.has(least) {
		select {
		case <-f.ready:
		case <-after(patience):
			least = 1
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spare.clear()
	f.batch, f.spare = f.spare, f.batch
	signal(f.room)
	return &f.spare, !f.closed
}

// has reports whether there are so many rows, or no more follow.
func (f *feed) has(rows int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.batch.rows() == 0 && rows == 1 {
		f.wanted = 1 // the next one is shown at once: it was waited for
	}
	return f.closed || f.batch.rows() >= rows
}

func signal(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default: // there is a token already
	}
}
