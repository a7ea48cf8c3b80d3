package control

import (
	"context"
	"errors"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// A listing is what one command told of all jobs.
type listing struct {
	command *config.Command
	zone    zone                 // of its times
	rows    map[string]packedRow // by the ids of their jobs
	begun   time.Time
}

// listJobs asks with one command for all jobs, or for those of which a definition
// that names ids is told these. An error means that it told nothing; that it lacks
// a job, or all of them, proves nothing.
func (c *Controller) listJobs(ctx context.Context, list *config.Command, ids string) (*listing, error) {
	listed := c.newListing(list)
	_, err := c.rows(ctx, listRequest{command: list, scope: config.OwnJobs, ids: ids, origins: originsOf(list)}, func(row command.Row) error {
		listed.take(row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return listed, nil
}

// take keeps what counts of a row, together with what an earlier one told of the
// same job.
func (l *listing) take(row command.Row) {
	taken := newListedRow(row)
	if earlier, isListed := l.rows[row.ID]; isListed {
		taken = earlier.unpack().with(taken)
	}
	id, packed := taken.pack(row.ID)
	l.rows[id] = packed
}

// row returns what the listing says of the job with an id, if it does. It is made
// of the row each time: so much of ten thousand jobs is not kept.
func (l *listing) row(id string) (job.Observation, bool) {
	row, isListed := l.rows[id]
	if id == "" || !isListed {
		return job.Observation{}, false
	}
	seen := row.unpack().observed(l.command, l.zone)
	seen.Observed = l.begun
	return seen, true
}

// byIdentity returns the ids of the rows by what tells their jobs from all others,
// such as the tags of submissions.
func (l *listing) byIdentity() map[string]string {
	ids := map[string]string{}
	if l == nil {
		return ids
	}
	for id, row := range l.rows {
		ids[row.unpack().facts[rowIdentity]] = id
	}
	return ids
}

// of returns what the listing says of a job. It reports false where it says
// nothing: there is no row, or it is of a job that has the same id by now, or it
// has no state.
func (l *listing) of(job *job.Job) (job.Observation, bool) {
	seen, listed := l.row(job.ID)
	if !listed {
		seen, listed = l.row(job.ShortID)
	}
	return seen, listed && seen.Detail != "" && !job.IsAnother(seen)
}

// isQueryFailure reports whether asking a scheduler failed, not recording it.
func isQueryFailure(err error) bool {
	var query *QueryError
	return errors.As(err, &query)
}
