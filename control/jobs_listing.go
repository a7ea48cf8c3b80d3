package control

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/tokenizer"
)

// A listing is what one or more runs of x:list-jobs say about jobs. There may be
// tens of thousands: rows are kept as they came, in half the room of observations.
type listing struct {
	command *config.Command
	zone    zone                       // of its times
	rows    map[string]command.Row     // by the ids of their jobs
	joined  map[string]job.Observation // of jobs with several rows, by their ids
	begun   time.Time
}

// newListing returns a listing that begins now and has no rows yet.
func (c *session) newListing(list *config.Command) *listing {
	return &listing{command: list, zone: c.zoneOf(list), rows: map[string]command.Row{}, joined: map[string]job.Observation{}, begun: c.now()}
}

// listJobs lists with one command all jobs of this user, or those with some ids, for
// a definition that names ids. That the listing lacks a job, or all of them, proves
// nothing.
func (c *session) listJobs(ctx context.Context, list *config.Command, ids string) (*listing, error) {
	listed := c.newListing(list)
	_, err := c.rows(ctx, listRequest{command: list, scope: config.OwnJobs, ids: ids, origins: originsOf(list)}, func(row command.Row) error {
		listed.add(row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return listed, nil
}

// sharingLine returns a row whose texts share the memory of its line.
func sharingLine(row command.Row) command.Row {
	keys, facts := row.Facts.Lists()
	line := ""
	if row.Origin != nil {
		line = row.Origin.Text
	}
	shared := make([]string, len(facts))
	for i, fact := range facts {
		shared[i] = textWithin(line, fact)
	}
	if within, err := tokenizer.FactsIn(keys, shared); err == nil {
		row.Facts = within
	}
	row.ID = textWithin(line, row.ID)
	return row
}

// textWithin returns a text as the part of a line that it stands in, if it does.
func textWithin(line, text string) string {
	if at := strings.Index(line, text); at >= 0 {
		return line[at : at+len(text)]
	}
	return strings.Clone(text)
}

// observationOf returns what a row says about its job.
func observationOf(row command.Row) job.Observation {
	seen := job.Observe(row.Fact)
	if row.Origin != nil {
		seen.Origin = job.Origin{Stream: row.Origin.Stream, Line: row.Origin.Line, Text: row.Origin.Text}
	}
	if seen.Origin.Text == "" {
		seen.Evidence = attribute.Text(maps.Collect(row.Facts.All()))
	}
	return seen
}

// add adds a row, together with earlier ones of the same job.
func (l *listing) add(row command.Row) {
	row = sharingLine(row)
	if earlier, isListed := l.observation(row.ID); isListed {
		l.joined[row.ID] = observationOf(row).Complete(earlier)
		return
	}
	l.rows[row.ID] = row
}

// merge adds the rows of a later listing, which count for the jobs that it has.
func (l *listing) merge(later *listing) {
	for id, row := range later.rows {
		l.rows[id] = row
		delete(l.joined, id)
	}
	maps.Copy(l.joined, later.joined)
}

// observation returns what the rows of an id say, without where and when they were listed.
func (l *listing) observation(id string) (job.Observation, bool) {
	if seen, isJoined := l.joined[id]; isJoined {
		return seen, true
	}
	row, isListed := l.rows[id]
	if !isListed {
		return job.Observation{}, false
	}
	return observationOf(row), true
}

// row returns what the listing says about the job with an id, if anything.
func (l *listing) row(id string) (job.Observation, bool) {
	seen, isListed := l.observation(id)
	if id == "" || !isListed {
		return job.Observation{}, false
	}
	seen.Source, seen.Observed = l.command.Name, l.begun
	l.zone.complete(&seen)
	return seen, true
}

// byIdentity returns the ids of the rows by the identities of their jobs, such as the
// tags of submissions.
func (l *listing) byIdentity() map[string]string {
	ids := map[string]string{}
	if l == nil {
		return ids
	}
	for id := range l.rows {
		seen, _ := l.observation(id)
		ids[seen.Identity] = id
	}
	return ids
}

// about returns what the listing says about a job. It reports false if there is no
// row, or the row has no state or is of another job that has the same id by now.
func (l *listing) about(job *job.Job) (job.Observation, bool) {
	seen, listed := l.row(job.ID)
	if !listed {
		seen, listed = l.row(job.ShortID)
	}
	return seen, listed && seen.Detail != "" && !transition.IsAnother(job, seen)
}

// isQueryFailure reports whether a query of a scheduler failed, not recording it.
func isQueryFailure(err error) bool {
	var query *QueryError
	return errors.As(err, &query)
}
