package control

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
)

// A listing is what one or more runs of x:list-jobs say about jobs.
type listing struct {
	command *config.Command
	zone    zone                       // of its times
	jobs    map[string]job.Observation // by id, without where and when they were listed
	begun   time.Time
}

// newListing returns a listing that begins now and has no jobs yet.
func (c *session) newListing(list *config.Command) *listing {
	return &listing{command: list, zone: c.zoneOf(list), jobs: map[string]job.Observation{}, begun: c.now()}
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
	seen := observationOf(row)
	if earlier, isListed := l.jobs[row.ID]; isListed {
		seen = seen.Complete(earlier)
	}
	l.jobs[row.ID] = seen
}

// row returns what the listing says about the job with an id, if anything.
func (l *listing) row(id string) (job.Observation, bool) {
	seen, isListed := l.jobs[id]
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
	for id, seen := range l.jobs {
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
