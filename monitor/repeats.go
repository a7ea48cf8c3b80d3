package monitor

import (
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/model"
)

// A listed holds the common part of the mergers of all kinds.
type listed struct {
	monitor *Monitor
	kind    model.Kind
	names   []string            // of the facts of a row
	round   uint32              // counts the listings
	known   map[string]rowState // rows of listings, by id; nodes keep their own
	// apply applies a row to the model unless it is unchanged.
	apply func(u *model.Update, id string, facts Facts, print uint64)
	repeats
}

func newListed(m *Monitor, kind model.Kind, names []string) listed {
	return listed{monitor: m, kind: kind, names: names, known: map[string]rowState{}, repeats: repeats{map[string]bool{}, map[string]*repeated{}}}
}

func (l *listed) facts() []string { return l.names }

func (l *listed) startListing() {
	l.round++
	l.repeats.startListing()
}

// adopt takes over the elements that the model has from before.
func (l *listed) adopt(before *model.Manager) {
	for element := range before.All(l.kind) {
		l.known[element.ID()] = rowState{}
	}
}

// merge applies a row unless it is to be applied later, or not at all.
func (l *listed) merge(u *model.Update, id string, facts Facts, print uint64) {
	before := l.known[id]
	if l.isNow(id, &before, facts) {
		l.apply(u, id, facts, print)
	} else {
		l.known[id] = before
	}
}

// isNow reports whether a row is to be applied now. It is not where the id comes again: the
// first row stands, or all are put together after the listing.
func (l *listed) isNow(id string, before *rowState, facts Facts) bool {
	isAgain := before.round == l.round
	if isAgain {
		l.monitor.again(l.kind, id, before.hasState, facts.Fact(factState))
		l.note(id)
	}
	if l.collect(id, l.names, facts) {
		*before = before.observed(l.round, facts.Fact(factState))
		return false
	}
	return !isAgain
}

// applyRepeated applies the rows that were put together.
func (l *listed) applyRepeated() {
	rows := l.repeats.collected()
	if len(rows) == 0 {
		return
	}
	l.monitor.update(func(u *model.Update) {
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			l.apply(u, id, rows[id], l.monitor.fingerprint(l.names, rows[id]))
		}
	})
}

// repeats puts the rows together that have the same id in one listing: of a fact
// that several have, the last counts. Rows are not kept to wait for others, so of
// an id that comes again for the first time the first row stands until the next
// listing.
type repeats struct {
	ids  map[string]bool // that came more than once in a listing; false until the next one begins
	rows map[string]*repeated
}

// A repeated collects the rows of one id in the current listing.
type repeated struct {
	facts keptFacts
	rows  int
}

// startListing marks what earlier listings had.
func (r *repeats) startListing() {
	for id := range r.ids {
		r.ids[id] = true
	}
}

// note remembers an id that came again.
func (r *repeats) note(id string) {
	if _, known := r.ids[id]; !known {
		r.ids[strings.Clone(id)] = false
	}
}

// collect keeps a row of an id that came more than once before. It reports false for
// every other row.
func (r *repeats) collect(id string, names []string, facts Facts) bool {
	if len(r.ids) == 0 || !r.ids[id] {
		return false
	}
	kept, known := r.rows[id]
	if !known {
		kept = &repeated{facts: keptFacts{}}
		r.rows[strings.Clone(id)] = kept
	}
	kept.rows++
	kept.facts.add(names, facts)
	return true
}

// collected returns the facts of the listing at hand that were put together, by ids.
func (r *repeats) collected() map[string]keptFacts {
	facts := make(map[string]keptFacts, len(r.rows))
	for id, kept := range r.rows {
		facts[id] = kept.facts
	}
	for id, before := range r.ids {
		if kept, came := r.rows[id]; before && (!came || kept.rows == 1) {
			delete(r.ids, id) // it is not repeated
		}
	}
	clear(r.rows)
	return facts
}
