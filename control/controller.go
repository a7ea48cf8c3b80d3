// Package control binds a definition to a connection: a [Controller] starts sessions, submits
// jobs, follows and controls them. DESIGN.md has its layers and invariants.
//
// [UsableDefinition] loads a definition and [New] makes a controller. [Controller.Submit] submits
// a job, [Controller.Status] and [Controller.Wait] follow it, [Controller.Operate] cancels or
// holds it, [Controller.Output] reads its output. [Controller.Render] shows what would run.
//
// Errors have types: [ValueError] and [attribute.InvalidError] before anything has run,
// [SubmitError] if no job was made or one may have been, [QueryError] for a failed query,
// [NotFoundError] and [EndedError] for jobs that cannot be operated, and [UnsupportedError].
package control

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/internal/tracked"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/tokenizer"
)

// Options configure a controller.
type Options struct {
	Target        string // the name under which jobs are kept; the definition's name if empty
	Definition    *config.Definition
	Connection    remote.Connection
	Store         *jobstore.Store  // may be nil for a controller that only renders
	Defaults      []job.Assignment // values for every submission, which the submission's own override
	LeastInterval time.Duration    // between two listings; a definition can only extend it; 0 for no limit
	SharedAnswers time.Duration    // the maximum age of an answer shared between processes; 0 for 1 second
	Types         map[string]tokenizer.Factory
	Trace         func(*config.Parser, tokenizer.TraceEvent)  // gets the steps of parsers, possibly from several goroutines; may be nil
	Step          func(*config.Command, reader.Step)          // like Trace, for each record of readers
	Log           *slog.Logger                                // nil to log nothing
	OnListed      func(config.CommandElement, command.Listed) // gets a summary of each complete listing by [Controller.Rows]; may be nil
	OnStaging     func(remote.Transfer)                       // gets how far files are on their way to the target, from several goroutines where several use the controller; may be nil
	NodeDirectory string                                      // of the target, for rmctl-node; empty for the usual one
	Now           func() time.Time                            // nil for the clock
	Pause         func(context.Context, time.Duration) error  // waits between two queries; nil for real time
	Jitter        func() float64                              // a random number from 0 to 1, which spreads the queries of many users; nil for a random one
}

// A Controller is one definition bound to one connection. Its methods may be called
// concurrently: each works on its own environment. DESIGN.md describes its layers.
type Controller struct {
	Target     string             // its name; only read, as all fields
	Definition *config.Definition // that it works by
	Place      remote.Info        // where commands run
	Connection remote.Connection  // that runs them

	*attendant
}

// A session runs the commands of the definition, with the findings of the start-up commands.
type session struct {
	target                       string
	definition                   *config.Definition
	connection                   remote.Connection
	place                        remote.Info
	resolver                     *submission.Resolver
	tracked                      *tracked.Jobs
	store                        *jobstore.Store
	types                        map[string]tokenizer.Factory
	trace                        func(*config.Parser, tokenizer.TraceEvent)
	step                         func(*config.Command, reader.Step)
	log                          *slog.Logger
	onListed                     func(config.CommandElement, command.Listed)
	now                          func() time.Time
	leastInterval, sharedAnswers time.Duration
	mark                         string // of the columns that all queries print; empty for a new one each

	placeZone   func() timezone.Zone // see zoneOfPlace
	jobsZone    func() timezone.Zone // see zoneOfJobs
	fingerprint func() string        // see inspect.Fingerprint
	ids         func() (*reader.IDs, error)
}

// A tracker keeps the record of jobs up to date: it queries jobs, shares queries with
// other processes, looks for jobs of submissions, and waits.
type tracker struct {
	*session
	open      sync.Map       // the tags of the interactive jobs that run now
	pollKey   func() string  // of the query for jobs that this controller shares with others
	listsByID func() bool    // whether the listing of jobs names them
	poller    *poller.Poller // makes the queries that this controller shares with others
	pause     func(context.Context, time.Duration) error
}

// A submitter submits jobs: it stages files, runs the submit command and records the
// outcome.
type submitter struct {
	*tracker
	onStaging func(remote.Transfer)
	tidy      sync.Once // before the first submission
}

// An attendant operates on jobs, reads their output, and runs interactive jobs.
type attendant struct{ *submitter }

// New returns a controller. The definition must have been loaded without errors.
func New(o Options) *Controller {
	c := newSession(o)
	t := &tracker{session: c, pause: o.Pause}
	t.listsByID = sync.OnceValue(func() bool { return namesIDs(c, c.definition.Command(config.ListJobs)) })
	t.pollKey = sync.OnceValue(func() string { return pollKeyOf(c) })
	if t.pause == nil {
		t.pause = pause
	}
	jitter := o.Jitter
	if jitter == nil {
		jitter = rand.Float64
	}
	t.poller = &poller.Poller{
		Now: c.now, Pause: t.pause, Jitter: jitter, IsGone: presence.IsHolderGone,
		Holder: uuid.NewString() + " " + presence.ThisProcess(), // a process may have several controllers
		Warn: func(err error) {
			c.log.Warn("what one process lists cannot be shared with the others of this user: they list in turn", "error", err)
		},
	}
	if c.store != nil { // without one nothing is queried, only shown
		t.poller.Store = c.store.Polls()
	}
	return &Controller{c.target, c.definition, c.place, c.connection, &attendant{&submitter{tracker: t, onStaging: o.OnStaging}}}
}

func newSession(o Options) *session {
	c := &session{
		target: cmp.Or(o.Target, o.Definition.Name), definition: o.Definition, connection: o.Connection, store: o.Store,
		types: o.Types, trace: o.Trace, step: o.Step, log: o.Log, onListed: o.OnListed, now: o.Now,
		place: o.Connection.Info(), leastInterval: o.LeastInterval, sharedAnswers: o.SharedAnswers,

		fingerprint: sync.OnceValue(func() string { return inspect.Fingerprint(o.Definition) }),
		ids:         sync.OnceValues(func() (*reader.IDs, error) { return reader.NewIDs(o.Definition.IDs) }),
	}
	c.placeZone = sync.OnceValue(func() timezone.Zone { return zoneOfPlace(c.place) })
	c.jobsZone = sync.OnceValue(func() timezone.Zone { return zoneOfJobs(c) })
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.now == nil {
		c.now = time.Now
	}
	c.tracked = tracked.New(o.Connection, o.NodeDirectory, o.Store, c.log, c.now)
	c.resolver = &submission.Resolver{Definition: c.definition, Target: c.target, Place: c.place, Defaults: o.Defaults, Log: c.log}
	return c
}
