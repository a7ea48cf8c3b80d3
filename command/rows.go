package command

import (
	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
)

// A Row is what a listing tells of one element: a job, a node or a queue. It may be
// kept, but all its texts share the memory of the line that they were read from, and of lines beside it.
type Row struct {
	ID    string
	Facts tokenizer.Facts // by the keys that docs/definitions.md lists
	// Again tells that an earlier row with a state has the same id, as this has. Where
	// both tell a fact that of the later row counts.
	Again  bool
	Origin *attribute.Origin // the line that the state was read from; nil where Request.Origins does not ask for it
}

// Fact returns a fact by its key; empty where the listing does not tell it.
func (r Row) Fact(key string) string { return r.Facts.Get(key) }

// Listed is what the output of a listing amounted to.
type Listed struct {
	Rows  int // handed out
	Again int // of these, whose Again is set
	// NotUnderstood counts what is no row: lines of standard output that no target took,
	// and elements without a name or without facts.
	NotUnderstood int
}

// stateFact is the fact without which a row names an element and tells nothing more
// (docs/definitions.md). Several such rows of one id, as of the tasks of an array,
// do not contradict each other.
const stateFact = "state"

// rowCounter hands out rows and counts them.
type rowCounter struct {
	each   func(Row)
	listed Listed
	ids    idSet
}

func newRowCounter(each func(Row)) *rowCounter {
	return &rowCounter{each: each, ids: newIDSet()}
}

func (c *rowCounter) handOut(id string, facts tokenizer.Facts, origin *attribute.Origin) {
	if id == "" || facts.Len() == 0 {
		c.listed.NotUnderstood++
		return
	}
	row := Row{ID: id, Facts: facts, Origin: origin}
	if facts.Get(stateFact) != "" {
		row.Again = !c.ids.add(id)
	}
	c.listed.Rows++
	if row.Again {
		c.listed.Again++
	}
	c.each(row)
}

// handOutDiscovered hands out what no parser could before its end, in the order of
// names, and has the environment forget it.
func (c *rowCounter) handOutDiscovered(env *attribute.Environment) {
	for _, id := range env.Discovered() {
		discovered := env.DiscoveredAttribute(id)
		entries, _ := discovered.Value().(map[string]string)
		c.handOut(id, tokenizer.FactsOf(entries), discovered.Origin())
		env.Remove(id)
	}
}

// finishRows hands out the last rows, and tells what all of them amounted to.
func (r *run) finishRows(s *streams) {
	if r.rows == nil {
		return
	}
	r.rows.handOutDiscovered(r.Scope.Environment)
	r.result.Listed = r.rows.listed
	r.result.Listed.NotUnderstood += int(s.stdout.unmatched - s.stdout.blank)
}
