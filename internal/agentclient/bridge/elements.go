package bridge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rmctl/rmctl/internal/further"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// machines prints the machines, for which definitions have no listing.
func (r *request) machines(ctx context.Context, _ []string) error {
	return r.list(ctx, "machines", model.Machine, func(_ *model.Manager, element *model.Element) row {
		one := row{"id": element.ID(), "state": string(element.State())}
		one.setAttributes(element, isFurther)
		return one
	})
}

// itself prints the resource manager as a list with one element.
func (r *request) itself(ctx context.Context, _ []string) error {
	manager, err := r.manager(ctx)
	if err != nil {
		return err
	}
	return r.document(ctx, "manager", func(each func(row) error) error {
		element := manager.Element()
		one := row{"id": element.ID(), "state": string(element.State()), "stale": given(element, vocabulary.AttributeStale), "cause": given(element, "rmCause")}
		one.setAttributes(element, isFurther)
		return each(one)
	})
}

// An Element is a machine of an agent, or its resource manager.
type Element struct {
	ID         string
	State      string
	Stale      string // of the resource manager: why the agent's data is out of date
	Cause      string // of the resource manager: why it is in its state
	Attributes further.Text
}

// maxElementsBytes bounds the machines of an agent.
const maxElementsBytes = 32 << 20

// Machines returns the machines of an agent. The connection must be a Connection or lead to one.
func Machines(ctx context.Context, connection remote.Connection) ([]Element, error) {
	return elements(ctx, connection, "machines")
}

// Manager returns the resource manager of an agent.
func Manager(ctx context.Context, connection remote.Connection) (Element, error) {
	all, err := elements(ctx, connection, "manager")
	if err != nil {
		return Element{}, err
	}
	if len(all) != 1 {
		return Element{}, fmt.Errorf("the agent has %d resource managers", len(all))
	}
	return all[0], nil
}

func elements(ctx context.Context, connection remote.Connection, kind string) (all []Element, err error) {
	text, err := ask(ctx, connection, maxElementsBytes, kind)
	if err != nil {
		return nil, err
	}
	var listed map[string][]struct {
		ID, State, Stale, Cause string
		Attributes              json.RawMessage
	}
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, fmt.Errorf("the %s of the agent: %w", kind, err)
	}
	for _, each := range listed[kind] {
		all = append(all, Element{each.ID, each.State, each.Stale, each.Cause, further.Object(string(each.Attributes))})
	}
	return all, nil
}
