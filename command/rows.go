package command

import (
	"hash/maphash"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
)

// A Row is what a listing says about one element: a job, a node or a queue. It may be
// kept, but all its texts share the memory of the line that they were read from, and of lines beside it.
type Row struct {
	ID    string
	Facts tokenizer.Facts // by the keys that docs/write/listings.md lists
	// Again says that an earlier row with a state has the same id, as this has. Where
	// both have a fact that of the later row counts.
	Again  bool
	Origin *attribute.Origin // the line that the state was read from; nil where Request.Origins does not ask for it
}

// Fact returns a fact by its key; empty where the listing does not have it.
func (r Row) Fact(key string) string { return r.Facts.Get(key) }

// Listed is what the output of a listing amounted to.
type Listed struct {
	Rows  int // handed out
	Again int // of these, whose Again is set
	// NotUnderstood counts what is no row: lines of standard output that no target took,
	// and elements without a name or without facts.
	NotUnderstood int
}

// stateFact is the fact without which a row names an element and says nothing more
// (docs/write/listings.md). Several such rows of one id, as of the tasks of an array,
// do not contradict each other.
const stateFact = "state"

// rowCounter hands out rows and counts them.
type rowCounter struct {
	each   func(Row)
	listed Listed
	// ids are hashes of the ids that came with a state: of 64 bits, so that not even a
	// million of them fall together, with a seed unknown to whoever chooses ids.
	ids  map[uint64]struct{}
	seed maphash.Seed
}

func newRowCounter(each func(Row)) *rowCounter {
	return &rowCounter{each: each, ids: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
}

func (c *rowCounter) handOut(id string, facts tokenizer.Facts, origin *attribute.Origin) {
	if id == "" || facts.Len() == 0 {
		c.listed.NotUnderstood++
		return
	}
	row := Row{ID: id, Facts: facts, Origin: origin}
	if facts.Get(stateFact) != "" {
		row.Again = !c.isNew(id)
	}
	c.listed.Rows++
	if row.Again {
		c.listed.Again++
	}
	c.each(row)
}

// isNew reports whether an id did not come before.
func (c *rowCounter) isNew(id string) bool {
	before := len(c.ids)
	c.ids[maphash.String(c.seed, id)] = struct{}{}
	return len(c.ids) > before
}

// handOutDiscovered hands out what no parser could before its end, in the order of
// names, and has the environment forget it.
func (c *rowCounter) handOutDiscovered(env *attribute.Environment) {
	for _, id := range env.Discovered() {
		discovered := env.DiscoveredAttribute(id)
		entries, _ := discovered.Value().(map[string]string)
		c.handOut(id, tokenizer.FactsOf(entries), discovered.Origin)
		env.Remove(id)
	}
}

// finishRows hands out the last rows, and reports what all of them amounted to.
func (r *run) finishRows(s *streams) {
	if r.rows == nil {
		return
	}
	r.rows.handOutDiscovered(r.Scope.Environment)
	r.result.Listed = r.rows.listed
	r.result.Listed.NotUnderstood += int(s.stdout.unmatched - s.stdout.blank)
}
