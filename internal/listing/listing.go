// Package listing holds the content of one listing of jobs.
package listing

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/tokenizer"
)

// A Listing is what one or more runs of a command say about jobs. It has tens of
// thousands of rows at times, and keeps them as they came: observations need half as much
// memory again.
type Listing struct {
	Begun time.Time // when the command was started

	source string        // the name of the command
	zone   timezone.Zone // of its times
	rows   map[string]row
}

// A row is the last row of a job with this id.
type row struct {
	command.Row
	earlier *row // about the same job
}

// New returns a listing by a command that begins now and has no rows yet.
func New(source string, zone timezone.Zone, begun time.Time) *Listing {
	return &Listing{Begun: begun, source: source, zone: zone, rows: map[string]row{}}
}

// sharingLine returns a row whose texts share the memory of its line.
func sharingLine(of command.Row) command.Row {
	line := ""
	if of.Origin != nil {
		line = of.Origin.Text
	}
	keys, facts := of.Facts.Lists()
	shared := make([]string, len(facts))
	for i, fact := range facts {
		shared[i] = textWithin(line, fact)
	}
	if within, err := tokenizer.FactsIn(keys, shared); err == nil {
		of.Facts = within
	}
	of.ID = textWithin(line, of.ID)
	return of
}

// textWithin returns a text as the part of a line that equals it, or a copy of it.
func textWithin(line, text string) string {
	if at := strings.Index(line, text); at >= 0 {
		return line[at : at+len(text)]
	}
	return strings.Clone(text)
}

// observationOf returns the observation in a row.
func observationOf(of command.Row) job.Observation {
	seen := job.Observe(of.Fact)
	if of.Origin != nil {
		seen.Origin = job.Origin{Stream: of.Origin.Stream, Line: of.Origin.Line, Text: of.Origin.Text}
	}
	if seen.Origin.Text == "" {
		seen.Evidence = attribute.Text(maps.Collect(of.Facts.All()))
	}
	return seen
}

// observation returns what this row and the earlier ones say together.
func (r *row) observation() job.Observation {
	seen := observationOf(r.Row)
	for earlier := r.earlier; earlier != nil; earlier = earlier.earlier {
		seen = seen.Complete(observationOf(earlier.Row))
	}
	return seen
}

// Add adds a row.
func (l *Listing) Add(of command.Row) {
	of = sharingLine(of)
	added := row{Row: of}
	if earlier, isListed := l.rows[of.ID]; isListed {
		added.earlier = &earlier
	}
	l.rows[of.ID] = added
}

// AddAll adds the rows of another listing, in place of those about the same jobs.
func (l *Listing) AddAll(others *Listing) { maps.Copy(l.rows, others.rows) }

// Len returns the number of jobs that have rows.
func (l *Listing) Len() int { return len(l.rows) }

// Row returns the row of the job with an id, if there is one.
func (l *Listing) Row(id string) (job.Observation, bool) {
	listed, isListed := l.rows[id]
	if id == "" || !isListed {
		return job.Observation{}, false
	}
	seen := listed.observation()
	seen.Source, seen.Observed = l.source, l.Begun
	l.zone.Complete(&seen.Submitted, &seen.Started, &seen.Ended)
	return seen, true
}

// ByIdentity returns the ids of the rows by the identities of their jobs, such as the tags
// of submissions. Of several with one identity the job that was submitted first counts: a
// user may submit the file of a script once more.
func (l *Listing) ByIdentity() map[string]string {
	ids := map[string]string{}
	if l == nil {
		return ids
	}
	submitted := map[string]string{}
	for id, listed := range l.rows {
		seen := listed.observation()
		first, isKnown := ids[seen.Identity]
		if isKnown && cmp.Or(cmp.Compare(submitted[seen.Identity], seen.Submitted), cmp.Compare(len(first), len(id)), cmp.Compare(first, id)) < 0 {
			continue
		}
		ids[seen.Identity], submitted[seen.Identity] = id, seen.Submitted
	}
	return ids
}

// About returns the listed state of a job. It reports false without a row, or if the row has
// no state or belongs to another job with a reused id.
func (l *Listing) About(known *job.Job) (job.Observation, bool) {
	seen, isListed := l.Row(known.ID)
	if !isListed {
		seen, isListed = l.Row(known.ShortID)
	}
	if isListed {
		seen = remembering(known, seen)
	}
	return seen, isListed && seen.Detail != "" && !transition.IsAnother(known, seen)
}

// remembering returns the observation in a row, completed with tasks seen before: rows get
// lost, and schedulers forget tasks.
func remembering(known *job.Job, seen job.Observation) job.Observation {
	if seen.Tasks == "" {
		return seen
	}
	tasks := reader.ParseMemory(known.Tasks).With(reader.ParseMemory(seen.Tasks))
	seen.Tasks = tasks.String()
	concluded, incomplete := tasks.Conclude(seen.Detail)
	if incomplete != "" {
		concluded = "" // its own status has more
	}
	seen.Detail = concluded
	return seen
}
