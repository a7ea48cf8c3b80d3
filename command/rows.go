package command

import (
	"hash/maphash"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
)

// A Row describes one listed job, node or queue. It may be kept, but all its texts share the
// memory of their line and of neighboring lines.
type Row struct {
	ID    string
	Facts tokenizer.Facts // by the keys that docs/write/listings.md lists
	// Again is set if an earlier row with a state has the same id. If both rows have a fact,
	// the later one counts.
	Again  bool
	Origin *attribute.Origin // the line with the state; nil unless Request.Origins requests it
}

// Fact returns a fact by its key; empty if the listing does not have it.
func (r Row) Fact(key string) string { return r.Facts.Get(key) }

// Listed summarizes the output of a listing.
type Listed struct {
	Rows  int // handed out
	Again int // of these, rows with Again set
	// NotUnderstood counts unusable output: lines of standard output that no target matched,
	// and elements without a name or facts.
	NotUnderstood int
}

// stateFact is the state. A row without it only names an element (docs/write/listings.md).
// Several such rows of one id, for example of array tasks, do not contradict each other.
const stateFact = "state"

// rowCounter delivers rows and counts them.
type rowCounter struct {
	each   func(Row)
	listed Listed
	// ids are 64-bit hashes of the ids of rows with a state. Even a million ids do not
	// collide, and the random seed prevents constructed collisions.
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

// isNew reports whether an id appears for the first time.
func (c *rowCounter) isNew(id string) bool {
	before := len(c.ids)
	c.ids[maphash.String(c.seed, id)] = struct{}{}
	return len(c.ids) > before
}

// handOutDiscovered delivers the rows that no parser could deliver before its end, ordered by
// name, and removes them from the environment.
func (c *rowCounter) handOutDiscovered(env *attribute.Environment) {
	for _, id := range env.Discovered() {
		discovered := env.DiscoveredAttribute(id)
		entries, _ := discovered.Value().(map[string]string)
		c.handOut(id, tokenizer.FactsOf(entries), discovered.Origin)
		env.Remove(id)
	}
}

// finishRows delivers the last rows and returns the summary of all rows.
func (r *run) finishRows(s *streams) {
	if r.rows == nil {
		return
	}
	r.rows.handOutDiscovered(r.Scope.Environment)
	r.result.Listed = r.rows.listed
	r.result.Listed.NotUnderstood += int(s.stdout.unmatched - s.stdout.blank)
}
