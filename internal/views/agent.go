package views

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/further"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/remote"
)

// longestUnlisted is how long an agent that reports no change is not listed.
const longestUnlisted = time.Minute

// An agentSource lists when the agent of a target reports a change.
type agentSource struct {
	*definitionSource
	now func() time.Time

	mutex  sync.Mutex
	listed map[model.Kind]time.Time // since when nothing has changed; of kinds that were listed since
	silent error                    // why the scheduler of the agent does not answer
}

func newAgentSource(byDefinition *definitionSource, now func() time.Time) *agentSource {
	return &agentSource{definitionSource: byDefinition, now: now, listed: map[model.Kind]time.Time{}}
}

// rows implements source. A change during the listing makes another one worthwhile.
func (s *agentSource) rows(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
	s.mutex.Lock()
	s.listed[kind] = s.now()
	s.mutex.Unlock()
	outcome, err := s.list(ctx, kind, each)
	if err != nil {
		s.mutex.Lock()
		delete(s.listed, kind)
		s.mutex.Unlock()
	}
	return outcome, err
}

func (s *agentSource) list(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
	noScheduler := monitor.Outcome{Took: time.Nanosecond} // that would be kept busy
	switch kind {
	case model.ResourceManager:
		return noScheduler, s.manager(ctx, each)
	case model.Machine:
		return noScheduler, s.machines(ctx, each)
	}
	return s.definitionSource.rows(ctx, kind, each)
}

func (s *agentSource) machines(ctx context.Context, each func(id string, facts monitor.Facts) error) error {
	machines, err := bridge.Machines(ctx, s.controller.Connection)
	for _, machine := range machines {
		if err := each(machine.ID, elementFacts{"state": machine.State, "attributes": string(machine.Attributes)}); err != nil {
			return err
		}
	}
	return err
}

// agentStale is the attribute of a resource manager that says what is out of date at its agent.
const agentStale = "agentStale"

func (s *agentSource) manager(ctx context.Context, each func(id string, facts monitor.Facts) error) error {
	manager, err := bridge.Manager(ctx, s.controller.Connection)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	s.silent = nil
	if manager.State == vocabulary.StateSuspended || manager.State == vocabulary.StateError {
		s.silent = fmt.Errorf("the resource manager of the agent is %s", manager.State)
		if manager.Cause != "" {
			s.silent = fmt.Errorf("%w: %s", s.silent, manager.Cause)
		}
	}
	s.mutex.Unlock()
	var attributes further.Attributes
	attributes.Add(agentStale, manager.Stale, false)
	for _, attribute := range further.Read(string(manager.Attributes)) {
		for _, value := range attribute.Values {
			attributes.Add(attribute.ID, value, attribute.IsList)
		}
	}
	return each(manager.ID, elementFacts{"attributes": attributes.Text()})
}

// processes implements source.
func (s *agentSource) processes(ctx context.Context, jobs []string) (map[string][]job.Process, error) {
	return bridge.Processes(ctx, s.controller.Connection, jobs...)
}

// silence implements source.
func (s *agentSource) silence() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.silent
}

// further implements source.
func (s *agentSource) further() []model.Kind {
	return []model.Kind{model.ResourceManager, model.Machine}
}

// elementFacts are facts of an element that no definition lists.
type elementFacts map[string]string

// Fact implements [monitor.Facts].
func (e elementFacts) Fact(name string) string { return e[name] }

// due implements source.
func (s *agentSource) due(ctx context.Context, kind model.Kind) (time.Time, error) {
	s.mutex.Lock()
	listed, isCurrent := s.listed[kind]
	s.mutex.Unlock()
	if next := listed.Add(longestUnlisted); isCurrent && next.After(s.now()) {
		return next, nil
	}
	if _, isOfDefinition := listingOf[kind]; !isOfDefinition {
		return time.Time{}, nil
	}
	return s.definitionSource.due(ctx, kind)
}

// follow implements source.
func (s *agentSource) follow(ctx context.Context, changed func()) error {
	reader, writer := io.Pipe()
	defer reader.Close()
	process, err := s.controller.Connection.Start(ctx, remote.Command{Arguments: []string{definition.Command, "changes"}, Stdout: writer})
	if err != nil {
		return fmt.Errorf("following the agent: %w", err)
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
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		s.mutex.Lock()
		clear(s.listed)
		s.mutex.Unlock()
		changed()
	}
	err = <-ended
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("following the agent: %w", err)
}
