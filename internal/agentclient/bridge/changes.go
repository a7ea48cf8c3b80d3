package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/model"
)

// changePause is the shortest time between two lines of changes.
const changePause = 100 * time.Millisecond

// mostNamed bounds the jobs named in a line of changes.
const mostNamed = 10_000

// changes prints a line once the agent has announced its elements and after each change, until it is
// terminated.
func (r *request) changes(ctx context.Context, _ []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.session.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := r.session.Listed(ctx); err != nil {
		return err
	}
	snapshot := r.session.Model().Snapshot()
	changes := definition.Changes{Jobs: definition.JobChanges{AreMany: true}, Nodes: true, Queues: true, Machines: true, Manager: true}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		line, err := json.Marshal(changes)
		if err != nil {
			return err
		}
		if err := r.print(string(line)); err != nil {
			return err
		}
		timer.Reset(changePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		if newer, err := r.session.Model().Next(ctx, snapshot); err == nil {
			changes = changesBetween(snapshot, newer, r.session.Manager())
			snapshot = newer
		}
	}
	if err := r.session.Err(); err != nil {
		return err
	}
	return errors.Join(ctx.Err(), errSessionOver)
}

// errSessionOver ends the changes of a session that was closed.
var errSessionOver = errors.New("the session with the agent was closed")

// changesBetween returns what differs between two snapshots.
func changesBetween(before, after *model.Snapshot, manager string) definition.Changes {
	was, _ := before.Manager(manager)
	is, _ := after.Manager(manager)
	c := definition.Changes{Queues: differs(model.Queue, was, is), Nodes: differs(model.Node, was, is),
		Machines: differs(model.Machine, was, is), Manager: is.Element() != was.Element()}
	for change := range is.Changes(model.Job, was) {
		if len(c.Jobs.Changed)+len(c.Jobs.Gone) == mostNamed {
			c.Jobs = definition.JobChanges{AreMany: true}
			break
		}
		if change.After == nil {
			c.Jobs.Gone = append(c.Jobs.Gone, change.Before.ID())
		} else {
			c.Jobs.Changed = append(c.Jobs.Changed, change.After.ID())
		}
	}
	return c
}

func differs(kind model.Kind, was, is *model.Manager) bool {
	for range is.Changes(kind, was) {
		return true
	}
	return false
}
