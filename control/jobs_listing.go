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

// A listing is what one or more runs of x:list-jobs say about jobs. It has tens of
// thousands of rows at times, and keeps them as they came: observations need half as much
// memory again.
type listing struct {
	command *config.Command
	zone    zone                 // of its times
	rows    map[string]listedRow // by the ids of their jobs, the last one of each
	begun   time.Time
}

// A listedRow is a row about a job.
type listedRow struct {
	command.Row
	earlier *listedRow // about the same job
}

// newListing returns a listing that begins now and has no rows yet.
func (c *session) newListing(list *config.Command) *listing {
	return &listing{command: list, zone: c.zoneOf(list), rows: map[string]listedRow{}, begun: c.now()}
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
	line := ""
	if row.Origin != nil {
		line = row.Origin.Text
	}
	keys, facts := row.Facts.Lists()
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

// textWithin returns a text as the part of a line that equals it, or a copy of it.
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

// observation returns what this row and the earlier ones say together.
func (r *listedRow) observation() job.Observation {
	seen := observationOf(r.Row)
	for earlier := r.earlier; earlier != nil; earlier = earlier.earlier {
		seen = seen.Complete(observationOf(earlier.Row))
	}
	return seen
}

// add adds a row.
func (l *listing) add(row command.Row) {
	row = sharingLine(row)
	added := listedRow{Row: row}
	if earlier, isListed := l.rows[row.ID]; isListed {
		added.earlier = &earlier
	}
	l.rows[row.ID] = added
}

// row returns what the listing says about the job with an id, if anything.
func (l *listing) row(id string) (job.Observation, bool) {
	row, isListed := l.rows[id]
	if id == "" || !isListed {
		return job.Observation{}, false
	}
	seen := row.observation()
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
	for id, row := range l.rows {
		ids[row.observation().Identity] = id
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
	if listed {
		seen = remembering(job, seen)
	}
	return seen, listed && seen.Detail != "" && !transition.IsAnother(job, seen)
}

// isQueryFailure reports whether a query of a scheduler failed, not recording it.
func isQueryFailure(err error) bool {
	var query *QueryError
	return errors.As(err, &query)
}
