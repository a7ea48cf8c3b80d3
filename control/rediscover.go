package control

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Rediscover lists the jobs and records those that carry the tag of a submission
// through rmctl but have no job on record, as after the loss of the store, and returns
// them. It needs a definition that lists jobs with their tags.
func (c *Controller) Rediscover(ctx context.Context) ([]job.Job, error) {
	list := c.definition.Command(config.ListJobs)
	if list == nil {
		return nil, &UnsupportedError{Of: c.definition, Lacks: "x:list-jobs", Help: "cannot find jobs missing from the record"}
	}
	listed, err := c.listJobs(ctx, list, "")
	if err != nil {
		return nil, &QueryError{Err: err}
	}
	var adopted []job.Job
	for identity, id := range listed.ByIdentity() {
		seen, isJob := listed.Row(id)
		if uuid.Validate(identity) != nil || !isJob {
			continue
		}
		j, err := c.store.ByTag(ctx, seen.Identity)
		switch isMissing := errors.Is(err, jobstore.ErrNotFound); {
		case err != nil && !isMissing:
			return adopted, err
		case isMissing:
			j, err = c.rediscover(ctx, id, seen)
		case j.ID != "", j.Phase == job.PhaseIntended && presence.IsAlive(j.Submitter):
			continue
		default:
			j, err = c.acceptListed(ctx, j, id, seen)
		}
		if err != nil {
			return adopted, err
		}
		adopted = append(adopted, j)
	}
	return adopted, c.queryStates(ctx, adopted)
}

// statelessLimit is how many jobs without a state are queried when they are found.
const statelessLimit = 64

// queryStates queries one by one some of the jobs that the listing has no state of, such as
// arrays, which it lists by parts. Later polls query the others.
func (c *tracker) queryStates(ctx context.Context, jobs []job.Job) error {
	var stateless []int
	for i, j := range jobs {
		if j.Detail.Primary() == job.Undetermined && len(stateless) < statelessLimit {
			stateless = append(stateless, i)
		}
	}
	queried := make([]job.Job, len(stateless))
	for k, i := range stateless {
		queried[k] = jobs[i]
	}
	queried, err := c.queryEachOf(ctx, queried)
	for k, i := range stateless {
		jobs[i] = queried[k]
	}
	return err
}

// rediscover records a job that is not on record. Its time of submission is that of the
// scheduler, unless this is in the future, as with a wrong clock.
func (c *tracker) rediscover(ctx context.Context, id string, seen job.Observation) (job.Job, error) {
	created, isDated := timezone.ParseTime(seen.Submitted, time.Local)
	if isDated = isDated && !created.After(c.now()); !isDated {
		created = c.now()
	}
	job, err := c.store.Adopt(ctx, job.Job{
		Tag: seen.Identity, Target: c.target, Definition: c.definition.File, Connection: c.sessionKey(),
		ID: id, ShortID: id, Created: created, Submitter: presence.ThisProcess(), Undated: !isDated,
		Observation: job.Observation{Name: seen.Name, Queue: seen.Queue, Owner: c.place.User, Observed: seen.Observed},
	})
	if err != nil {
		return job, err
	}
	return c.store.Observe(ctx, job.Tag, seen)
}

// acceptListed records the listed job of a submission that had none so far.
func (c *tracker) acceptListed(ctx context.Context, j job.Job, id string, seen job.Observation) (job.Job, error) {
	j, err := c.store.Accept(ctx, j.Tag, job.Job{ID: id, ShortID: id, Observation: job.Observation{Observed: seen.Observed, Source: seen.Source, Evidence: seen.Evidence, Origin: seen.Origin}})
	if err != nil {
		return j, err
	}
	return c.store.Observe(ctx, j.Tag, seen)
}
