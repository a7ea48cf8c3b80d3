package barrier

import (
	"fmt"
	"slices"
	"time"
)

// Delays between attempts that failed.
const (
	shortestDelay = 5 * time.Second
	longestDelay  = 5 * time.Minute
)

// delay returns how long to wait after a number of attempts.
func delay(attempts int) time.Duration {
	return min(shortestDelay<<min(attempts, 10), longestDelay)
}

func (Start) apply(m *Machine) error {
	switch {
	case m.ensemble.State.Ended():
		return ErrEnded
	case m.ensemble.State == Prepared:
		m.ensemble.Started = m.now
		m.setState(Submitting, "")
	default:
		m.restart()
	}
	var submitted []*part
	m.live(func(p *part) {
		if !p.Attempted {
			submitted = append(submitted, p)
		}
	})
	m.submit(submitted)
	return nil
}

// warnOfCommitLimit warns that a part may use up its wall time while it waits.
func (m *Machine) warnOfCommitLimit(p *part) {
	if p.WallTime > 0 && m.ensemble.CommitLimit > p.WallTime && p.Gate != NoGate {
		m.notify(Warned, p.Label, "", fmt.Sprintf("the commit limit of %v exceeds the wall time of %v", m.ensemble.CommitLimit, p.WallTime))
	}
}

// restart continues from the record. Connections are unknown.
func (m *Machine) restart() {
	m.restarted, m.undecided = m.now, m.ensemble.CommitNow
	sent := m.restoreReleases()
	for _, p := range m.parts {
		if p.State.Ended() {
			m.do(Remove{p.Serial, m.removalReason(p)})
			if p.Unconfirmed {
				p.nextCancel = m.now
			}
			continue
		}
		if p.Attempted {
			m.do(Admit{p.Part, m.rostersOf(p.Serial)})
		}
		if p.Held && m.ensemble.HoldsReleased {
			m.releaseHold(p)
		}
		if p.Attempted && p.JobID == "" { // its processes may have checked in all the same, or even been released
			m.find(p)
		}
		switch {
		case p.State == PartCheckedIn:
			p.lost, p.returning = m.now, true
			m.setPart(p, PartActive, "")
		case p.State == PartActive && !p.Arrived.IsZero():
			p.lost, p.returning = m.now, true
		}
	}
	if m.ensemble.State != Ending && !m.ensemble.Released.IsZero() {
		m.do(SendRelease{sent})
	}
}

// rostersOf returns the released rosters of a part.
func (m *Machine) rostersOf(serial int) []Roster {
	var rosters []Roster
	for _, each := range m.released {
		if each.Serial == serial {
			rosters = append(rosters, each)
		}
	}
	return rosters
}

// submit submits parts. The release of those without a gate goes on record first.
func (m *Machine) submit(parts []*part) {
	var open []*part
	for _, p := range parts {
		if p.Gate == NoGate && len(m.rostersOf(p.Serial)) == 0 {
			p.opening = true
			open = append(open, p)
			continue
		}
		m.submitOne(p)
	}
	m.open(open)
}

func (m *Machine) submitOne(p *part) {
	p.Attempted, p.inFlight, p.opening = true, true, false
	m.change(p)
	m.warnOfCommitLimit(p)
	m.do(Admit{p.Part, m.rostersOf(p.Serial)})
	m.do(Submit{p.Serial, m.onHold()})
}

// onHold reports whether parts are submitted on hold now.
func (m *Machine) onHold() bool { return m.ensemble.HoldFirst && !m.ensemble.HoldsReleased }

// find searches for a job whose submission has no known result. It may start the submission only if no process
// of the job was seen.
func (m *Machine) find(p *part) {
	p.inFlight, p.nextFind = true, time.Time{}
	m.do(FindJob{p.Serial, p.State == PartSubmitting, m.onHold()})
}

func (in Submitted) apply(m *Machine) error {
	p := m.part(in.Serial)
	if p == nil {
		return nil
	}
	p.inFlight, p.nextFind = false, time.Time{}
	p.JobID, p.Held, p.Submitted = in.JobID, in.Held, m.now
	m.change(p)
	if p.State.Ended() {
		m.cancelJob(p)
		return nil
	}
	if in.WallTime > 0 && p.WallTime == 0 {
		p.WallTime = in.WallTime
		m.warnOfCommitLimit(p)
	}
	if p.State == PartSubmitting {
		m.setPart(p, PartPending, "")
	}
	return nil
}

func (in SubmitRefused) apply(m *Machine) error {
	p := m.part(in.Serial)
	if p == nil {
		return nil
	}
	p.inFlight, p.nextFind = false, time.Time{}
	if p.State.Ended() {
		m.confirm(p)
		return nil
	}
	m.fail(p, in.Reason, false)
	return nil
}

func (in SubmitUnknown) apply(m *Machine) error {
	p := m.part(in.Serial)
	if p == nil || p.JobID != "" {
		return nil
	}
	p.inFlight, p.nextFind = false, m.now.Add(delay(p.finds))
	p.finds++
	if !p.State.Ended() && p.Reason != in.Reason {
		p.Reason = in.Reason
		m.change(p)
		m.notify(Warned, p.Label, string(p.State), in.Reason)
	}
	return nil
}

// releaseHolds releases the holds once all parts were accepted.
func (m *Machine) releaseHolds() {
	if !m.ensemble.HoldFirst || m.ensemble.HoldsReleased {
		return
	}
	for _, p := range m.parts {
		if p.State == PartSubmitting || p.State == PartFailed && m.blocks(p) {
			return
		}
	}
	m.ensemble.HoldsReleased, m.hasChanged = true, true
	m.live(func(p *part) {
		if p.Held {
			m.releaseHold(p)
		}
	})
}

func (m *Machine) releaseHold(p *part) {
	p.holdInFlight, p.nextHold = true, time.Time{}
	m.do(ReleaseHold{p.Serial})
}

func (in HoldResult) apply(m *Machine) error {
	p := m.part(in.Serial)
	if p == nil || p.State.Ended() || !p.Held {
		return nil
	}
	p.holdInFlight = false
	m.change(p)
	if in.Err == "" {
		p.Held, p.Reason, p.holds, p.Submitted = false, "", 0, m.now
		return nil
	}
	p.Reason = "releasing the hold: " + in.Err
	p.nextHold = m.now.Add(delay(p.holds))
	if p.holds++; p.holds == 1 {
		m.notify(Warned, p.Label, string(p.State), p.Reason)
	}
	return nil
}

// setOf returns the set of alternatives that a part is in; nil if none.
func (m *Machine) setOf(p *part) *Set {
	i := slices.IndexFunc(m.ensemble.Sets, func(s Set) bool { return slices.Contains(s.Labels, p.Label) })
	if i < 0 {
		return nil
	}
	return &m.ensemble.Sets[i]
}

// blocks reports whether a part prevents the release: it has failed, or has not checked in.
func (m *Machine) blocks(p *part) bool {
	if set := m.setOf(p); set != nil {
		return p.State == PartFailed && !m.canHold(set)
	}
	return p.State != PartDeleted && p.Kind != Optional && (p.Gate != NoGate || p.State == PartFailed) && p.State != PartCheckedIn
}

// members counts the parts of a set: those that were not deleted, those that are ready for the
// release, and those that may still become so.
func (m *Machine) members(set *Set) (all, ready, possible int) {
	for _, p := range m.parts {
		if p.State == PartDeleted || !slices.Contains(set.Labels, p.Label) {
			continue
		}
		all++
		isReady := p.State == PartCheckedIn || p.State == PartReleased || p.State == PartDone
		if isReady {
			ready++
		}
		if isReady || !p.State.Ended() {
			possible++
		}
	}
	return all, ready, possible
}

// canHold reports whether enough parts of a set may still check in.
func (m *Machine) canHold(set *Set) bool {
	all, _, possible := m.members(set)
	return possible >= min(set.AtLeast, all)
}
