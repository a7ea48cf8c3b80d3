package coalloc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/rendezvous"
)

const (
	// mostSubmissions bounds the submissions at a time.
	mostSubmissions = 32
	// farewell bounds what happens on targets after the end of an ensemble.
	farewell = 10 * time.Second
)

// loop applies inputs to the machine, and executes what it returns, until the ensemble has ended or is
// closed.
func (e *Ensemble) loop() {
	defer func() { e.stop(nil) }()
	e.persist(e.followAll)
	e.apply(input{Input: barrier.Start{}})
	e.publish()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for e.ctx.Err() == nil && !e.machine.Ensemble().State.Ended() {
		if deadline := e.machine.Deadline(); deadline.IsZero() {
			timer.Reset(time.Hour)
		} else {
			timer.Reset(max(deadline.Sub(e.now()), 0))
		}
		select {
		case <-e.ctx.Done():
			return
		case <-timer.C:
			e.apply(input{Input: barrier.Tick{}})
		case <-e.inputs.wake:
			for _, in := range e.inputs.take() {
				e.apply(in)
			}
		}
		e.publish()
	}
	if e.machine.Ensemble().State.Ended() {
		e.leave()
	}
}

// followAll follows the jobs on record.
func (e *Ensemble) followAll(ctx context.Context) error {
	var tags []string
	for _, p := range e.machine.Parts() {
		if p.JobID != "" && (!p.State.Ended() || p.Unconfirmed) {
			tags = append(tags, p.Tag)
		}
	}
	jobs, err := e.store.ByTags(ctx, tags)
	if err != nil {
		return err
	}
	for _, p := range e.machine.Parts() {
		if j, isRecorded := jobs[p.Tag]; isRecorded {
			e.placeOf(p.Target).follow(p.Serial, j)
		}
	}
	return nil
}

// apply applies one input.
func (e *Ensemble) apply(in input) {
	if in.call != nil {
		in.call()
		return
	}
	actions, err := e.machine.Apply(e.now(), in.Input)
	for _, action := range actions {
		if e.ctx.Err() != nil || !e.execute(action) {
			return // a later Resume begins with what is on record, which may lack this input
		}
	}
	if in.reply != nil {
		in.reply <- err
	} else if err != nil {
		e.log.Warn("the ensemble cannot apply what happened", "ensemble", e.id, "error", err)
	}
}

// enqueue adds an input of the ensemble itself.
func (e *Ensemble) enqueue(in barrier.Input) { e.inputs.add(input{Input: in}) }

// observe enqueues an event of the server without blocking it.
func (e *Ensemble) observe(event rendezvous.ProcessEvent) {
	in, isKnown := processEventOf(event)
	if isKnown {
		e.enqueue(in)
	}
}

// publish makes the state of the machine visible to others.
func (e *Ensemble) publish() {
	e.board.publish(statusOf(e.machine.Ensemble(), e.machine.Parts()))
}

// leave removes the keys, and the ensemble's files on its targets. It waits a while for targets that it cannot
// reach.
func (e *Ensemble) leave() {
	if err := os.Remove(filepath.Join(e.folder, keyFile)); err != nil {
		e.log.Warn("could not remove the keys of the ensemble", "ensemble", e.id, "error", err)
	}
	ctx, cancel := context.WithTimeout(e.ctx, farewell)
	defer cancel()
	var leaving sync.WaitGroup
	for _, p := range e.places {
		leaving.Go(func() {
			if err := p.leave(ctx); err != nil {
				e.log.Warn("could not remove the directory of the ensemble", "target", p.name, "error", err)
			}
		})
	}
	leaving.Wait()
}

// placeOf returns the place of a target. The first call begins to connect to it.
func (e *Ensemble) placeOf(target string) *place {
	if p := e.places[target]; p != nil {
		return p
	}
	p := newPlace(e, target)
	e.places[target] = p
	e.tasks.Go(func() { p.run(e.ctx) })
	e.tasks.Go(func() { p.watch(e.ctx, e.enqueue) })
	return p
}

// connected notes in the machine whether a target waits for a login.
func (e *Ensemble) connected(target string, err error) {
	var text string
	if NeedsLogin(err) {
		text = fmt.Sprintf("log in to %s: run rmctl coalloc wait %s in a terminal (%s)", target, e.id, textOf(err))
	}
	e.inputs.add(input{call: func() {
		for _, p := range e.machine.Parts() {
			if p.Target == target {
				e.apply(input{Input: barrier.Connection{Serial: p.Serial, NeedsUser: text != "", Text: text}})
			}
		}
	}})
}
