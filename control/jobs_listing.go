package control

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/state"
)

// Entries of the map that x:list-jobs makes for each job, beside those that are
// called as the facts of a status query are, without "job.".
const (
	listedState = "state"
	listedOwner = "owner"
)

// scopeOwn is the job.scope of a listing of this user's jobs.
const scopeOwn = "own"

// A listing is what one command told of all jobs, by their ids.
type listing struct {
	jobs  map[string]jobstore.Observation
	begun time.Time
	took  time.Duration
}

// listJobs asks for all jobs with one command. An error means that it told
// nothing; that it lacks a job, or all of them, proves nothing.
func (c *Controller) listJobs(ctx context.Context, list *config.Command) (*listing, error) {
	env, err := c.environment(ctx, anyAge)
	if err != nil {
		return nil, err
	}
	for _, name := range env.Discovered() {
		env.Remove(name) // of the start-up commands, which are no jobs
	}
	env.SetVariable(attributeScope, scopeOwn)
	begun := c.now()
	result, err := c.run(ctx, list, env, "", command.Launch{})
	outcome, err := outcomeOf(result, err)
	if err != nil {
		return nil, err
	}
	if outcome == config.NotFound {
		return &listing{begun: begun, took: c.now().Sub(begun)}, nil // some print an error where no job is left
	}
	listed := &listing{jobs: map[string]jobstore.Observation{}, begun: begun, took: c.now().Sub(begun)}
	for _, id := range env.Discovered() {
		row := env.DiscoveredAttribute(id)
		facts, isMap := row.Value().(map[string]string)
		if !isMap {
			continue // a row that the definition did not understand
		}
		seen := observed(facts, list, begun)
		if seen.Origin = originOf(row); seen.Origin.Text == "" {
			seen.Evidence = attribute.Text(facts)
		}
		listed.jobs[id] = seen
	}
	return listed, nil
}

// observed is what a row of a listing says of a job.
func observed(facts map[string]string, list *config.Command, begun time.Time) jobstore.Observation {
	fact := func(name string) string { return facts[strings.TrimPrefix(name, attributeJobPrefix)] }
	seen := jobstore.Observation{
		Observed: begun, Source: list.Name,
		Native: fact(factNative), Reason: fact(factReason), Queue: fact(factQueue), Name: fact(factName), Owner: facts[listedOwner], Nodes: fact(factNodes),
		Submitted: fact(factSubmitted), Started: fact(factStarted), Ended: fact(factEnded), OutputPath: fact(factOutput), ErrorPath: fact(factError), Identity: fact(factIdentity),
		ExitCode: number(fact(factExitCode)), Signal: number(fact(factSignal)),
	}
	if detail, known := state.Parse(facts[listedState]); known && detail != state.Undetermined {
		seen.Detail = detail
	}
	return seen
}

// of returns what the listing says of a job. It reports false where it says
// nothing: there is no row, or it is of a job that has the same id by now, or it
// has no state.
func (l *listing) of(job jobstore.Job) (jobstore.Observation, bool) {
	for _, id := range []string{job.ID, job.ShortID} {
		seen, listed := l.jobs[id]
		if id == "" || !listed {
			continue
		}
		return seen, seen.Detail != "" && !job.IsAnother(seen)
	}
	return jobstore.Observation{}, false
}

// A listedRow is what a listing says of a job.
type listedRow struct {
	id   string
	seen jobstore.Observation
}

// byIdentity returns the rows by what tells their jobs from all others, such as
// the tags of submissions.
func (l *listing) byIdentity() map[string]listedRow {
	rows := map[string]listedRow{}
	if l == nil {
		return rows
	}
	for id, seen := range l.jobs {
		rows[seen.Identity] = listedRow{id, seen}
	}
	return rows
}

// isQueryFailure reports whether asking a scheduler failed, not recording it.
func isQueryFailure(err error) bool {
	var query *QueryError
	return errors.As(err, &query)
}
