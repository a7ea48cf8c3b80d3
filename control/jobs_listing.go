package control

import (
	"context"
	"errors"
	"maps"
	"slices"
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
	rows    map[string]listedRow // by the ids of their jobs
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
	var keys []string
	for _, id := range env.Discovered() {
		row := env.DiscoveredAttribute(id)
		if facts, isMap := row.Value().(map[string]string); isMap { // else a row that the definition did not understand
			keys = keysOf(facts, keys)
			listed.rows[id] = newRow(facts, keys, originOf(row))
		}
		env.Remove(id)
	}
	return listed, nil
}

// A listedRow is what a listing says of a job, in little room: there may be tens of
// thousands.
type listedRow struct {
	keys   []string // of the facts, sorted; rows with the same ones share them
	values []string // in the order of the keys
	origin jobstore.Origin
}

// keysOf returns the keys of facts, sorted; those of an earlier row where they are
// the same.
func keysOf(facts map[string]string, earlier []string) []string {
	missing := func(key string) bool { _, has := facts[key]; return !has }
	if len(facts) == len(earlier) && !slices.ContainsFunc(earlier, missing) {
		return earlier
	}
	return slices.Sorted(maps.Keys(facts))
}

func newRow(facts map[string]string, keys []string, origin jobstore.Origin) listedRow {
	row := listedRow{keys: keys, values: make([]string, len(keys)), origin: origin}
	for i, key := range keys {
		row.values[i] = facts[key]
	}
	return row
}

// fact returns a fact of the row by its key; empty where it has none.
func (r listedRow) fact(key string) string {
	i, has := slices.BinarySearch(r.keys, key)
	if !has {
		return ""
	}
	return r.values[i]
}

// text returns all facts of the row.
func (r listedRow) text() string {
	facts := make(map[string]string, len(r.keys))
	for i, key := range r.keys {
		facts[key] = r.values[i]
	}
	return attribute.Text(facts)
}

// row returns what the listing says of the job with an id, if it does. It is made
// of the row each time: so much of ten thousand jobs is not kept.
func (l *listing) row(id string) (jobstore.Observation, bool) {
	row, isListed := l.rows[id]
	if id == "" || !isListed {
		return jobstore.Observation{}, false
	}
	return row.observed(l.command, l.begun), true
}

// byIdentity returns the ids of the rows by what tells their jobs from all others,
// such as the tags of submissions.
func (l *listing) byIdentity() map[string]string {
	ids := map[string]string{}
	if l == nil {
		return ids
	}
	for id, row := range l.rows {
		ids[row.fact(strings.TrimPrefix(factIdentity, attributeJobPrefix))] = id
	}
	return ids
}

// observed is what a row of a listing says of a job.
func (r listedRow) observed(list *config.Command, begun time.Time) jobstore.Observation {
	fact := func(name string) string { return r.fact(strings.TrimPrefix(name, attributeJobPrefix)) }
	seen := jobstore.Observation{
		Observed: begun, Source: list.Name, Origin: r.origin,
		Native: fact(factNative), Reason: fact(factReason), Queue: fact(factQueue), Name: fact(factName), Owner: r.fact(listedOwner), Nodes: fact(factNodes),
		Submitted: fact(factSubmitted), Started: fact(factStarted), Ended: fact(factEnded), OutputPath: fact(factOutput), ErrorPath: fact(factError), Identity: fact(factIdentity),
		ExitCode: number(fact(factExitCode)), Signal: number(fact(factSignal)),
	}
	if seen.Origin.Text == "" {
		seen.Evidence = r.text()
	}
	if detail, known := state.Parse(r.fact(listedState)); known && detail != state.Undetermined {
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
