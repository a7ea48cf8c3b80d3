package views

import (
	"context"
	"fmt"

	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/further"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

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
		s.silent = fmt.Errorf("the agent's resource manager is %s", manager.State)
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
