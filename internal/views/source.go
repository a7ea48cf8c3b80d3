package views

import (
	"context"
	"errors"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// A source provides what is known of a resource manager.
type source interface {
	// rows lists the elements of a kind; see [monitor.Options].
	rows(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error)
	// changes lists the jobs that have changed, and those with some ids, if the source knows; see
	// [monitor.Options].
	changes(ctx context.Context, ids []string, each func(id string, facts monitor.Facts) error) (monitor.Outcome, bool, error)
	// due returns when a kind is worth listing.
	due(ctx context.Context, kind model.Kind) (time.Time, error)
	// follow calls changed when there is something new to list, until ctx ends or the source
	// is lost.
	follow(ctx context.Context, changed func()) error
	// processes returns those that the source knows of jobs, by the ids of these.
	processes(ctx context.Context, jobs []string) (map[string][]job.Process, error)
	// silence returns why the scheduler does not answer, although it can be listed what is known
	// of it; nil if it does.
	silence() error
	// further are the kinds that are listed beside queues, nodes and jobs.
	further() []model.Kind
}

// newSource returns the source of a target: its definition, or its agent.
func newSource(target settings.Target, controller *control.Controller, keepsListings bool, now func() time.Time) source {
	if target.Agent == nil {
		return &definitionSource{controller, controller.Turns(keepsListings)}
	}
	return newAgentSource(controller, now)
}

// A definitionSource lists with the commands of a definition, which know of no changes.
type definitionSource struct {
	controller *control.Controller
	turns      *control.Turns
}

var listingOf = map[model.Kind]config.CommandElement{
	model.Queue: config.ListQueues,
	model.Node:  config.ListNodes,
	model.Job:   config.ListJobs,
}

func (s *definitionSource) changes(context.Context, []string, func(string, monitor.Facts) error) (monitor.Outcome, bool, error) {
	return monitor.Outcome{}, false, nil
}

func (s *definitionSource) due(ctx context.Context, kind model.Kind) (time.Time, error) {
	return s.turns.Due(ctx, listingOf[kind])
}

func (s *definitionSource) follow(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}

func (s *definitionSource) processes(context.Context, []string) (map[string][]job.Process, error) {
	return nil, nil // a definition reads them where it runs a job, and they are on record
}

func (s *definitionSource) silence() error { return nil }

func (s *definitionSource) further() []model.Kind { return nil }

func (s *definitionSource) rows(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
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
func (s *definitionSource) queueNames(ctx context.Context, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
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
