package barrier

import (
	"fmt"
	"time"
)

const (
	// relayDelay is how long processes of a running job may take before relays are started for them.
	relayDelay = 10 * time.Second
	// grace is how long a process may be away that was checked in.
	grace = 5 * time.Minute
)

// A timer is an event that happens at a time unless something prevents it.
type timer struct {
	at   time.Time
	fire func()
}

// Deadline returns when the next [Tick] is due; zero for never.
func (m *Machine) Deadline() (next time.Time) {
	m.eachTimer(func(t timer) {
		if next.IsZero() || t.at.Before(next) {
			next = t.at
		}
	})
	return next
}

func (Tick) apply(m *Machine) error {
	var due []timer
	m.eachTimer(func(t timer) {
		if !t.at.After(m.now) {
			due = append(due, t)
		}
	})
	for _, t := range due {
		t.fire()
	}
	return nil
}

// eachTimer calls a function with each timer that runs.
func (m *Machine) eachTimer(do func(timer)) {
	if m.ensemble.State.Ended() || m.ensemble.State == Prepared {
		return
	}
	add := func(at time.Time, fire func()) {
		if !at.IsZero() {
			do(timer{at, fire})
		}
	}
	if m.isOpen() == nil && m.ensemble.CommitLimit > 0 && m.paused.IsZero() {
		add(m.ensemble.Started.Add(m.ensemble.CommitLimit+m.ensemble.Extended), func() { m.commitTimedOut() })
	}
	if a := m.attempt; a != nil {
		add(a.nextTry, func() {
			a.nextTry = time.Time{}
			if m.isOpen() == ErrEnded {
				m.attempt = nil
				return
			}
			m.do(RecordRelease{a.round, m.now, a.recorded()})
		})
	} else if m.nextTry.After(m.now) {
		add(m.nextTry, func() {})
	}
	for round, made := range m.openings {
		add(made.nextTry, func() {
			made.nextTry = time.Time{}
			if m.isOpen() == ErrEnded {
				delete(m.openings, round)
				return
			}
			m.do(RecordRelease{round, m.now, made.rosters})
		})
	}
	for _, p := range m.parts {
		m.eachPartTimer(p, add)
	}
}

// eachPartTimer passes the timers of a part to a function.
func (m *Machine) eachPartTimer(p *part, add func(time.Time, func())) {
	if p.Unconfirmed && !p.nextCancel.IsZero() {
		add(p.Canceled.Add(cancelLimit), func() { p.nextCancel = time.Time{} })
		add(p.nextCancel, func() {
			if p.Unconfirmed {
				m.cancelAgain(p)
			}
		})
	}
	if !p.State.Ended() {
		m.eachLiveTimer(p, add)
	}
}

// eachLiveTimer passes the timers of a part that has not ended.
func (m *Machine) eachLiveTimer(p *part, add func(time.Time, func())) {
	add(p.nextFind, func() { m.find(p) })
	add(p.nextHold, func() { m.releaseHold(p) })
	if p.paused.IsZero() && !p.relayed && !p.complete && (p.State == PartActive || p.Gate == NoGate && !p.Active.IsZero()) {
		add(latest(p.Active, m.restarted).Add(relayDelay), func() { m.launchRelays(p) })
	}
	if p.Gate == NoGate || p.State == PartReleased {
		return
	}
	if p.WallTime > 0 && !p.warned && !p.Active.IsZero() {
		add(p.Active.Add(p.WallTime-p.WallTime/10), func() { m.warnOfWallTime(p) })
	}
	if p.paused.IsZero() && !p.timedOut {
		m.eachLimit(p, add)
	}
}

func (m *Machine) warnOfWallTime(p *part) {
	p.warned = true
	m.notify(Warned, p.Label, string(p.State), fmt.Sprintf("%v of its wall time of %v are left", p.WallTime/10, p.WallTime))
}

// eachLimit passes the limits of a part that waits for its job or for its processes.
func (m *Machine) eachLimit(p *part, add func(time.Time, func())) {
	if p.StartLimit > 0 && p.State == PartPending && !p.Held {
		add(m.afterRestart(p.Submitted.Add(p.StartLimit+p.Extended)), func() {
			m.timedOut(p, fmt.Sprintf("the job did not start within %v", p.StartLimit))
		})
	}
	if p.State != PartActive {
		return
	}
	if p.CheckInLimit > 0 && p.Arrived.IsZero() {
		add(m.afterRestart(p.Active.Add(p.CheckInLimit+p.Extended)), func() {
			m.timedOut(p, fmt.Sprintf("%d of %d processes checked in within %v", p.Present, p.Count, p.CheckInLimit))
		})
	}
	if !p.lost.IsZero() {
		add(p.lost.Add(grace), func() {
			p.returning = false
			m.timedOut(p, fmt.Sprintf("a lost process did not come back within %v", grace))
		})
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// afterRestart extends a limit of a part until the events before a restart are known.
func (m *Machine) afterRestart(limit time.Time) time.Time {
	if m.restarted.IsZero() {
		return limit
	}
	return latest(limit, m.restarted.Add(grace))
}

// launchRelays helps processes that cannot connect from their nodes.
func (m *Machine) launchRelays(p *part) {
	p.relayed = true
	m.notify(Warned, p.Label, string(p.State), fmt.Sprintf("running for %v, %d of %d processes checked in: starting relays on its nodes", relayDelay, p.Present, p.Count))
	m.do(LaunchRelays{p.Serial})
}

func (in RelaysFailed) apply(m *Machine) error {
	if p := m.part(in.Serial); p != nil && !p.State.Ended() {
		m.notify(Warned, p.Label, string(p.State), "its processes cannot reach rmctl, and relays did not start: "+in.Reason)
	}
	return nil
}

// timedOut handles a passed limit of a part.
func (m *Machine) timedOut(p *part, text string) {
	if p.State.Ended() || p.timedOut {
		return
	}
	p.timedOut = true
	m.notify(TimedOut, p.Label, string(p.State), text)
	if p.Kind == Required {
		m.fail(p, text, true)
	}
}

func (m *Machine) commitTimedOut() {
	text := fmt.Sprintf("not released within %v", m.ensemble.CommitLimit)
	m.notify(TimedOut, "", string(m.ensemble.State), text)
	m.end(Failed, text)
}

func (in Connection) apply(m *Machine) error {
	p := m.part(in.Serial)
	if p == nil || p.State.Ended() || in.NeedsUser != p.paused.IsZero() {
		return nil
	}
	if in.NeedsUser {
		p.paused = m.now
		if m.paused.IsZero() {
			m.paused = m.now
		}
		m.notify(NeedsUser, p.Label, string(p.State), in.Text)
		return nil
	}
	m.resume(p)
	return nil
}

// resume extends the limits of a part by the time that its connection waited for the user.
func (m *Machine) resume(p *part) {
	waited := m.now.Sub(p.paused)
	p.paused = time.Time{}
	p.Extended += waited
	if !p.lost.IsZero() {
		p.lost = p.lost.Add(waited)
	}
	m.change(p)
	m.resumeCommit()
}

// resumeCommit extends the commit limit once no part's connection needs the user.
func (m *Machine) resumeCommit() {
	if m.paused.IsZero() {
		return
	}
	for _, p := range m.parts {
		if !p.State.Ended() && !p.paused.IsZero() {
			return
		}
	}
	m.ensemble.Extended += m.now.Sub(m.paused)
	m.paused, m.hasChanged = time.Time{}, true
}
