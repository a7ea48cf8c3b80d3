package views

import (
	"context"
	"errors"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// A source lists what a monitor shows with the commands of a definition.
type source struct {
	controller *control.Controller
	turns      *control.Turns
}

var listingOf = map[model.Kind]config.CommandElement{
	model.Queue: config.ListQueues,
	model.Node:  config.ListNodes,
	model.Job:   config.ListJobs,
}

// rows lists the elements of a kind; see [monitor.Options].
func (s source) rows(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
	made, err := s.turns.Rows(ctx, listingOf[kind], func(row command.Row) error { return each(row.ID, row) })
	var lacking *control.UnsupportedError
	if !errors.As(err, &lacking) {
		return monitor.Outcome{Begun: made.Begun, Took: made.Took, NotUnderstood: made.NotUnderstood, Unreached: control.IsUnreached(err)}, err
	}
	if kind == model.Queue {
		return s.queueNames(ctx, each)
	}
	return monitor.Outcome{Unsupported: true}, nil
}

// queueNames lists the queues that the start-up commands found, by name only.
func (s source) queueNames(ctx context.Context, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
	names, err := s.controller.Queues(ctx)
	var lacking *control.UnsupportedError
	if errors.As(err, &lacking) {
		return monitor.Outcome{Unsupported: true}, nil
	}
	for _, name := range names {
		if err := each(name, command.Row{}); err != nil {
			return monitor.Outcome{}, err
		}
	}
	return monitor.Outcome{}, err
}
