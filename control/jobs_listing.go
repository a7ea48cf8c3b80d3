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

// A listing is what one command told of all jobs.
type listing struct {
	command *config.Command
	rows    map[string]*attribute.Attribute // by the ids of their jobs
	begun   time.Time
}

// listJobs asks with one command for all jobs, or for those of which a definition
// that names ids is told these. An error means that it told nothing; that it lacks
// a job, or all of them, proves nothing.
func (c *Controller) listJobs(ctx context.Context, list *config.Command, ids string) (*listing, error) {
	env, err := c.environment(ctx, anyAge)
	if err != nil {
		return nil, err
	}
	for _, name := range env.Discovered() {
		env.Remove(name) // of the start-up commands, which are no jobs
	}
	env.SetVariable(attributeScope, scopeOwn)
	env.SetVariable(attributeIDs, ids)
	listed := newListing(list, c.now())
	result, err := c.run(ctx, list, env, "", command.Launch{})
	if _, err := outcomeOf(result, err); err != nil { // some print an error where no job, or not each, is there
		return nil, err
	}
	for _, id := range env.Discovered() {
		listed.rows[id] = env.DiscoveredAttribute(id)
	}
	return listed, nil
}

// facts returns the facts of the row of a job, by its id. It reports false where
// there is no row, or one that the definition did not understand.
func (l *listing) facts(id string) (map[string]string, bool) {
	row := l.rows[id]
	if id == "" || row == nil {
		return nil, false
	}
	facts, isMap := row.Value().(map[string]string)
	return facts, isMap
}

// row returns what the listing says of the job with an id, if it does. It is made
// of the row each time: so much of ten thousand jobs is not kept.
func (l *listing) row(id string) (jobstore.Observation, bool) {
	facts, isJob := l.facts(id)
	if !isJob {
		return jobstore.Observation{}, false
	}
	seen := observed(facts, l.command, l.begun)
	if seen.Origin = originOf(l.rows[id]); seen.Origin.Text == "" {
		seen.Evidence = attribute.Text(facts)
	}
	return seen, true
}

// byIdentity returns the ids of the rows by what tells their jobs from all others,
// such as the tags of submissions.
func (l *listing) byIdentity() map[string]string {
	ids := map[string]string{}
	if l == nil {
		return ids
	}
	for id := range l.rows {
		if facts, isJob := l.facts(id); isJob {
			ids[facts[strings.TrimPrefix(factIdentity, attributeJobPrefix)]] = id
		}
	}
	return ids
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
func (l *listing) of(job *jobstore.Job) (jobstore.Observation, bool) {
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
