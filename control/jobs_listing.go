package control

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// A listing is what one or more runs of x:list-jobs say about jobs.
type listing struct {
	command *config.Command
	zone    zone                       // of its times
	rows    map[string]job.Observation // by the ids of their jobs
	begun   time.Time
}

// newListing returns a listing that begins now and has no rows yet.
func (c *Controller) newListing(list *config.Command) *listing {
	return &listing{command: list, zone: c.zoneOf(list), rows: map[string]job.Observation{}, begun: c.now()}
}

// listJobs lists with one command all jobs of this user, or those with some ids, for
// a definition that names ids. That the listing lacks a job, or all of them, proves
// nothing.
func (c *Controller) listJobs(ctx context.Context, list *config.Command, ids string) (*listing, error) {
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

// add adds a row, together with earlier ones of the same job.
func (l *listing) add(row command.Row) {
	seen := job.Observe(row.Fact)
	if row.Origin != nil {
		seen.Origin = job.Origin{Stream: row.Origin.Stream, Line: row.Origin.Line, Text: row.Origin.Text}
	}
	if seen.Origin.Text == "" {
		seen.Evidence = attribute.Text(maps.Collect(row.Facts.All()))
	}
	if earlier, isListed := l.rows[row.ID]; isListed {
		seen = seen.Complete(earlier)
	}
	l.rows[row.ID] = seen
}

// row returns what the listing says about the job with an id, if anything.
func (l *listing) row(id string) (job.Observation, bool) {
	seen, isListed := l.rows[id]
	if id == "" || !isListed {
		return job.Observation{}, false
	}
	seen.Source, seen.Observed = l.command.Name, l.begun
	seen.Submitted, seen.Started, seen.Ended = l.zone.tell(seen.Submitted), l.zone.tell(seen.Started), l.zone.tell(seen.Ended)
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
		ids[row.Identity] = id
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
	return seen, listed && seen.Detail != "" && !job.IsAnother(seen)
}

// isQueryFailure reports whether a query of a scheduler failed, not recording it.
func isQueryFailure(err error) bool {
	var query *QueryError
	return errors.As(err, &query)
}
