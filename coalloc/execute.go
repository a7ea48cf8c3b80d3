package coalloc

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/internal/rendezvous"
)

const (
	// operationLimit bounds one command on a job, with the time in which a link is restored.
	operationLimit = 2 * time.Minute
	// freezeLimit bounds the pings before a release.
	freezeLimit = 10 * time.Second
	recordRetry = time.Second
)

// execute executes an action, or starts it; the result is then a later input. It reports whether the next action
// may follow.
func (e *Ensemble) execute(action barrier.Action) bool {
	switch a := action.(type) {
	case barrier.Record:
		if !e.persist(func(ctx context.Context) error { return e.journal.Save(ctx, a.Change) }) {
			return false
		}
		e.board.add(eventsOf(a.Change.Notices))
	case barrier.Admit:
		e.admit(a)
	case barrier.Submit:
		e.submit(a.Serial, a.OnHold, true)
	case barrier.FindJob:
		e.submit(a.Serial, a.OnHold, a.Begin)
	case barrier.ReleaseHold:
		e.operate(control.Release, a.Serial, func(err error) barrier.Input { return barrier.HoldResult{Serial: a.Serial, Err: textOf(err)} })
	case barrier.CancelJob:
		e.operate(control.Cancel, a.Serial, func(err error) barrier.Input { return cancelResult(a.Serial, err) })
	case barrier.Remove:
		e.removed.Store(a.Serial, true)
		e.server.Remove(a.Serial, a.Reason)
	case barrier.Freeze:
		e.freeze(a)
	case barrier.Thaw:
		e.server.Thaw()
	case barrier.RecordRelease:
		err := e.journal.RecordRelease(e.ctx, e.id, a.Rosters, a.At)
		e.enqueue(barrier.ReleaseRecorded{Round: a.Round, Err: textOf(err)})
	case barrier.SendRelease:
		e.server.Release(rostersTo(a.Rosters))
		e.enqueue(barrier.ReleaseSent{})
	case barrier.LaunchRelays:
		e.launch(a.Serial)
	}
	return true
}

// persist writes to the journal, and retries until it succeeds, because nothing may happen without a record. It
// returns false if the ensemble was closed first.
func (e *Ensemble) persist(write func(context.Context) error) bool {
	for {
		err := write(e.ctx)
		if err == nil || e.ctx.Err() != nil {
			return err == nil
		}
		e.log.Error("could not record the ensemble; trying again", "ensemble", e.id, "error", err)
		select {
		case <-e.ctx.Done():
		case <-time.After(recordRetry):
		}
	}
}

// recordExchange records the result of an exchange. It returns false if the ensemble is closed before.
func (e *Ensemble) recordExchange(name string, result []byte) bool {
	return e.persist(func(ctx context.Context) error {
		return e.journal.RecordExchange(ctx, e.id, journal.Exchange{Name: name, Result: string(result)})
	})
}

// admit lets the processes of a part prove themselves.
func (e *Ensemble) admit(a barrier.Admit) {
	part, err := partOf(a.Part.Spec)
	if err != nil {
		e.log.Error(err.Error(), "ensemble", e.id)
	}
	e.server.Admit(admitted(&a.Part, !part.Independent, a.Rosters))
	e.placeOf(a.Part.Target)
}

// partOn returns a part on record.
func (e *Ensemble) partOn(serial int) barrier.Part {
	parts := e.machine.Parts()
	return parts[slices.IndexFunc(parts, func(p barrier.Part) bool { return p.Serial == serial })]
}

// submit submits a part, or finds its job if it was submitted. It begins no submission unless begin is set.
func (e *Ensemble) submit(serial int, onHold, begin bool) {
	p := e.partOn(serial)
	part, err := partOf(p.Spec)
	if err != nil {
		e.enqueue(barrier.SubmitRefused{Serial: serial, Reason: textOf(err)})
		return
	}
	s := &submission{
		store: e.store, place: e.placeOf(p.Target), part: part, serial: serial, tag: p.Tag, onHold: onHold,
		pass: e.passOf(serial, p.Index, part),
		isRemoved: func() bool {
			_, isRemoved := e.removed.Load(serial)
			return isRemoved || !begin
		},
	}
	e.tasks.Go(func() {
		select {
		case e.slots <- struct{}{}:
			defer func() { <-e.slots }()
		case <-e.ctx.Done():
			return
		}
		o := s.make(e.ctx)
		if e.ctx.Err() != nil && o.err != nil {
			return // a later Resume finds out
		}
		switch {
		case o.err == nil:
			s.place.follow(serial, o.job)
			e.enqueue(barrier.Submitted{Serial: serial, JobID: o.job.ID, Held: o.isHeld, WallTime: s.wallTime()})
		case o.doubt:
			e.enqueue(barrier.SubmitUnknown{Serial: serial, Reason: textOf(o.err)})
		default:
			e.enqueue(barrier.SubmitRefused{Serial: serial, Reason: textOf(o.err)})
		}
	})
}

// operate runs an operation on the job of a part, and passes the result to the machine.
func (e *Ensemble) operate(operation control.Operation, serial int, result func(error) barrier.Input) {
	p := e.partOn(serial)
	place, tag := e.placeOf(p.Target), p.Tag
	e.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(e.ctx, operationLimit)
		defer cancel()
		err := place.operate(ctx, e.store, operation, tag)
		if e.ctx.Err() != nil && err != nil {
			return
		}
		e.enqueue(result(err))
		place.nudge()
	})
}

func cancelResult(serial int, err error) barrier.CancelResult {
	if isGone(err) {
		return barrier.CancelResult{Serial: serial, Gone: true}
	}
	return barrier.CancelResult{Serial: serial, Err: textOf(err)}
}

// freeze makes sure that all processes of parts are there.
func (e *Ensemble) freeze(a barrier.Freeze) {
	e.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(e.ctx, freezeLimit)
		defer cancel()
		rosters, err := e.server.Freeze(ctx, a.Serials)
		e.enqueue(barrier.Frozen{Round: a.Round, Rosters: rostersFrom(rosters), Err: textOf(err)})
	})
}

func rostersFrom(rosters []rendezvous.Roster) []barrier.Roster {
	converted := make([]barrier.Roster, len(rosters))
	for i, r := range rosters {
		converted[i] = barrier.Roster(r)
	}
	return converted
}

func rostersTo(rosters []barrier.Roster) []rendezvous.Roster {
	var converted []rendezvous.Roster
	for _, r := range rosters {
		if r.Serial != 0 { // the commit as a whole
			converted = append(converted, rendezvous.Roster(r))
		}
	}
	return converted
}

// mostText bounds the texts of reasons.
const mostText = 500

// textOf returns the text of an error on one line; empty for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")), " ") // hints are on lines of their own
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "…"
	}
	return text
}
