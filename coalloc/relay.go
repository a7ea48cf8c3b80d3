package coalloc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/jobstore"
)

// relayLimit bounds the start of relays on the nodes of a job.
const relayLimit = 5 * time.Minute

// openTop starts the relay of an ensemble on a target.
func openTop(ctx context.Context, l *link) (relay, error) {
	return onnodes.OpenTop(ctx, l.controller.Connection, l.nodes, l.name, l.relayAddress)
}

// launch starts relays on the nodes of a part whose processes cannot connect to this process.
func (e *Ensemble) launch(serial int) {
	p := e.partOn(serial)
	place := e.placeOf(p.Target)
	e.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(e.ctx, relayLimit)
		defer cancel()
		if err := place.launch(ctx, e.store, p.Tag); err != nil && e.ctx.Err() == nil {
			e.enqueue(barrier.RelaysFailed{Serial: serial, Reason: textOf(err)})
		}
	})
}

// launch starts relays on the nodes of the job of a tag.
func (p *place) launch(ctx context.Context, store *jobstore.Store, tag string) error {
	j, err := store.ByTag(ctx, tag)
	if err != nil {
		return err
	}
	l, err := p.anyLink(ctx)
	if err != nil {
		return err
	}
	p.mutex.Lock()
	top, isTop := p.relay.(*onnodes.Top)
	p.mutex.Unlock()
	if !isTop {
		return errors.New("there is no relay on the target")
	}
	reachable := &onnodes.Reachable{Job: j, Definition: l.controller.Definition, Connection: l.controller.Connection, Directory: l.nodes, RelayAddress: l.relayAddress}
	if reachable.Processes, err = store.Processes(ctx, tag); err != nil {
		return err
	}
	if reachable.Environment, err = l.controller.FormEnvironment(ctx); err != nil {
		return err
	}
	problems, err := top.LaunchFor(ctx, reachable)
	if err != nil || len(problems) == 0 {
		return err
	}
	var texts []string
	for _, node := range slices.Sorted(maps.Keys(problems)) {
		texts = append(texts, fmt.Sprintf("%s: %s", node, problems[node]))
	}
	return errors.New(strings.Join(texts[:min(len(texts), mostProblems)], "; "))
}

// mostProblems bounds the nodes that one event names.
const mostProblems = 5
