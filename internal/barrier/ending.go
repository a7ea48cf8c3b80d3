package barrier

import (
	"fmt"
	"slices"
	"time"

	"al.essio.dev/pkg/shellescape"
)

// cancelLimit is how long a job is canceled again and again until its scheduler says that it is gone.
const cancelLimit = time.Hour

// fail ends a part early. If its job may run, it is canceled.
func (m *Machine) fail(p *part, reason string, mayLive bool) {
	if p.State.Ended() {
		return
	}
	m.setPart(p, PartFailed, reason)
	m.do(Remove{p.Serial, reason})
	if mayLive {
		m.cancelJob(p)
	}
	m.abandon(p)
	m.consequence(p, reason)
}

// consequence applies the consequences of a failed part to the others.
func (m *Machine) consequence(p *part, reason string) {
	if p.Kind == Interactive && m.isOpen() == nil && m.blocks(p) && !m.hasFailed() {
		m.notify(Warned, p.Label, string(p.State), Advice(&m.ensemble, p.Label))
	}
	if m.isOpen() == ErrEnded || p.Kind != Required {
		return
	}
	if set := m.setOf(p); set != nil && m.ensemble.Released.IsZero() && m.canHold(set) {
		return
	}
	m.end(Failed, fmt.Sprintf("part %q: %s", p.Label, reason))
}

// Advice returns the commands with which a user can continue after a part has failed before the release.
func Advice(e *Ensemble, label string) string {
	id, end := " "+shellescape.Quote(e.ID), ", "
	if !e.Committed {
		end = "; then rmctl coalloc commit" + id + " releases the ensemble, "
	}
	part := id + " " + shellescape.Quote(label)
	return "the release waits: rmctl coalloc delete" + part + " goes on without the part, rmctl coalloc substitute" + part + " FILE replaces it" +
		end + "or rmctl coalloc cancel" + id + " ends it"
}

// end ends the ensemble: no process is released any more, and all jobs are canceled.
func (m *Machine) end(outcome State, reason string) {
	m.ensemble.Outcome, m.ensemble.Reason = outcome, reason
	m.setState(Ending, reason)
	m.abandon(nil)
	m.live(func(p *part) { m.remove(p, reason) })
}

// remove ends a deleted part.
func (m *Machine) remove(p *part, reason string) {
	m.setPart(p, PartDeleted, reason)
	m.do(Remove{p.Serial, reason})
	m.cancelJob(p)
}

// cancelJob cancels the job of a part until it is gone.
func (m *Machine) cancelJob(p *part) {
	if !p.Attempted {
		return
	}
	p.Unconfirmed, p.Canceled, p.cancels, p.absent = true, m.now, 0, 0
	m.change(p)
	m.cancelAgain(p)
}

// cancelAgain cancels a job, or looks for it: it may exist.
func (m *Machine) cancelAgain(p *part) {
	p.nextCancel = m.now.Add(delay(p.cancels))
	p.cancels++
	switch {
	case p.JobID != "":
		m.do(CancelJob{p.Serial})
	case !p.inFlight:
		m.find(p)
	}
}

// confirm ends the cancellation of a job that is gone.
func (m *Machine) confirm(p *part) {
	p.nextCancel = time.Time{}
	if p.Unconfirmed {
		p.Unconfirmed = false
		m.change(p)
	}
}

func (in CancelResult) apply(m *Machine) error {
	p := m.part(in.Serial)
	switch {
	case p == nil || !p.Unconfirmed:
	case in.Gone:
		m.confirm(p)
	case in.Err != "" && p.cancels == 1:
		m.notify(Warned, p.Label, string(p.State), "canceling the job: "+in.Err)
	}
	return nil
}

func (in Cancel) apply(m *Machine) error {
	switch m.isOpen() {
	case ErrEnded:
		if m.ensemble.State == Ending {
			return nil
		}
		return ErrEnded
	default:
		m.end(Canceled, firstOf(in.Reason, "canceled"))
		return nil
	}
}

// isCanceling reports whether the ensemble still waits for the end of a canceled job.
func (m *Machine) isCanceling(p *part) bool {
	return p.Unconfirmed && m.now.Sub(p.Canceled) < cancelLimit
}

// settleEnd ends the ensemble once its jobs are gone.
func (m *Machine) settleEnd() {
	if slices.ContainsFunc(m.parts, m.isCanceling) {
		return
	}
	m.finish(m.ensemble.Outcome)
}

func (m *Machine) finish(state State) {
	for _, p := range m.parts {
		if p.Unconfirmed {
			p.nextCancel = time.Time{}
			m.notify(Warned, p.Label, string(p.State), "no scheduler confirmed that the job is gone")
		}
	}
	m.ensemble.Ended = m.now
	m.setState(state, m.ensemble.Reason)
}

// settleReleased decides after the release.
func (m *Machine) settleReleased() {
	isLive, isThere := false, false
	m.live(func(p *part) {
		isLive, isThere = true, isThere || p.State == PartCheckedIn
	})
	if isLive && m.isAlone() {
		m.live(func(p *part) { m.remove(p, "the other parts have ended") })
		isLive = false
	}
	switch {
	case !isLive:
		if !slices.ContainsFunc(m.parts, m.isCanceling) {
			m.finish(Done)
		}
	case isThere && m.attempt == nil && !m.now.Before(m.nextTry):
		m.freeze(false)
	}
}

// isAlone reports whether only unreleased optional parts are left.
func (m *Machine) isAlone() bool {
	hadOthers := false
	for _, p := range m.parts {
		if !p.State.Ended() && (p.Kind != Optional || p.State == PartReleased) {
			return false
		}
		hadOthers = hadOthers || p.Kind != Optional && p.State != PartDeleted
	}
	return hadOthers
}
