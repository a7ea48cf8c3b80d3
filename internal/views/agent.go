package views

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/remote"
)

// longestUnlisted is how long an agent that reports no change is not listed.
const longestUnlisted = time.Minute

// restFactor is how many times as long as a listing took the next one of the kind waits: a view takes
// less than a fifth of a processor.
const restFactor = 5

// noLoad is how long a listing of an agent keeps the scheduler busy: hardly at all, as 0
// would have it measured.
const noLoad = time.Millisecond

// mostChanged bounds the jobs that are listed because they changed, not because all are.
const mostChanged = 20_000

// An agentSource lists what the agent of a target reports as changed. Everything that it lists comes from
// the session with the agent, so it takes no turns with other processes.
type agentSource struct {
	controller *control.Controller
	now        func() time.Time
	begun      chan struct{} // closed once the agent has announced its elements
	begin      func()

	mutex  sync.Mutex
	listed map[model.Kind]time.Time  // when nothing was known to have changed; of kinds that are current
	rested map[listingKind]time.Time // when the next listing may begin
	jobs   map[string]bool           // that have changed since they were listed, and whether they are still there
	isMany bool                      // whether all jobs have to be listed
	silent error                     // why the scheduler of the agent does not answer
}

// A listingKind is what is listed: all elements of a kind, or those that have changed.
type listingKind struct {
	kind        model.Kind
	areSelected bool
}

func newAgentSource(controller *control.Controller, now func() time.Time) *agentSource {
	s := &agentSource{controller: controller, now: now, begun: make(chan struct{}), isMany: true,
		listed: map[model.Kind]time.Time{}, rested: map[listingKind]time.Time{}, jobs: map[string]bool{}}
	s.begin = sync.OnceFunc(func() { close(s.begun) })
	return s
}

// rows implements source.
func (s *agentSource) rows(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
	select {
	case <-s.begun:
	case <-ctx.Done():
		return monitor.Outcome{}, ctx.Err()
	}
	s.mutex.Lock()
	s.listed[kind] = s.now()
	if kind == model.Job {
		clear(s.jobs)
		s.isMany = false
	}
	s.mutex.Unlock()
	return s.list(ctx, kind, each)
}

// changes implements source.
func (s *agentSource) changes(ctx context.Context, ids []string, each func(id string, facts monitor.Facts) error) (monitor.Outcome, bool, error) {
	s.mutex.Lock()
	if s.isMany {
		s.mutex.Unlock()
		return monitor.Outcome{}, false, nil
	}
	var gone []string
	for id, isThere := range s.jobs {
		if isThere {
			ids = append(ids, id)
		} else {
			gone = append(gone, id)
		}
	}
	clear(s.jobs)
	s.listed[model.Job] = s.now()
	s.mutex.Unlock()
	slices.Sort(ids)
	texts, areSafe := textsOf(slices.Compact(ids))
	if !areSafe {
		return monitor.Outcome{}, false, nil
	}
	outcome := monitor.Outcome{Took: noLoad}
	for _, text := range texts {
		part, err := s.list(ctx, model.Job, each, text)
		if outcome.NotUnderstood += part.NotUnderstood; err != nil {
			return outcome, true, err
		}
	}
	outcome.Gone = gone
	return outcome, true, nil
}

// textsOf returns the ids of jobs as texts for a listing, and whether all can be part of one.
func textsOf(ids []string) ([]string, bool) {
	var batches submission.IDBatches
	count := 0
	for _, id := range ids {
		batches.Add(id)
	}
	for _, text := range batches.Texts {
		count += 1 + strings.Count(text, ",")
	}
	return batches.Texts, count == len(ids)
}

// list lists a kind, or the jobs with some ids.
func (s *agentSource) list(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error, ids ...string) (monitor.Outcome, error) {
	begun := s.now()
	notUnderstood, err := s.elements(ctx, kind, each, ids...)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	ended := s.now()
	s.rested[listingKind{kind, len(ids) > 0}] = ended.Add(restFactor * ended.Sub(begun))
	if err != nil {
		delete(s.listed, kind)
		s.isMany = s.isMany || kind == model.Job
	}
	return monitor.Outcome{Begun: begun, Took: noLoad, NotUnderstood: notUnderstood, Unreached: control.IsUnreached(err)}, err
}

// elements lists what the definition lists, and what it does not.
func (s *agentSource) elements(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error, ids ...string) (notUnderstood int, err error) {
	switch kind {
	case model.ResourceManager:
		return 0, s.manager(ctx, each)
	case model.Machine:
		return 0, s.machines(ctx, each)
	}
	listed, err := s.controller.Rows(ctx, listingOf[kind], config.AllJobs, func(row command.Row) error { return each(row.ID, row) }, ids...)
	return listed.NotUnderstood, err
}

// due implements source.
func (s *agentSource) due(_ context.Context, kind model.Kind) (time.Time, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rested := s.rested[listingKind{kind, kind == model.Job && !s.isMany}]
	listed, isCurrent := s.listed[kind]
	if next := listed.Add(longestUnlisted); isCurrent && next.After(rested) {
		return next, nil
	}
	return rested, nil
}

// follow implements source.
func (s *agentSource) follow(ctx context.Context, changed func()) error {
	reader, writer := io.Pipe()
	defer reader.Close()
	process, err := s.controller.Connection.Start(ctx, remote.Command{Arguments: []string{definition.Command, "changes"}, Stdout: writer})
	if err != nil {
		return fmt.Errorf("follow the agent: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		code, err := process.Wait()
		if err == nil {
			err = fmt.Errorf("exit code %d", code)
		}
		ended <- err
		_ = writer.Close()
	}()
	lines := json.NewDecoder(reader)
	for {
		var changes definition.Changes
		if lines.Decode(&changes) != nil {
			break // its end says why
		}
		s.note(&changes)
		s.begin()
		changed()
	}
	err = <-ended
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("follow the agent: %w", err)
}

// note notes what has changed.
func (s *agentSource) note(changes *definition.Changes) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, id := range changes.Jobs.Changed {
		s.jobs[id] = true
	}
	for _, id := range changes.Jobs.Gone {
		s.jobs[id] = false
	}
	s.isMany = s.isMany || changes.Jobs.AreMany || len(s.jobs) > mostChanged
	if s.isMany || len(s.jobs) > 0 {
		delete(s.listed, model.Job)
	}
	for kind, isChanged := range map[model.Kind]bool{
		model.ResourceManager: changes.Manager, model.Machine: changes.Machines, model.Queue: changes.Queues, model.Node: changes.Nodes,
	} {
		if isChanged {
			delete(s.listed, kind)
		}
	}
}
