package barrier

import (
	"slices"
	"strings"
	"time"
)

// An attempt is a release on its way.
type attempt struct {
	round     int
	serials   []int
	commit    bool // it releases the ensemble, not single parts that are late
	recording bool // the rosters are final
	rosters   []Roster
	nextTry   time.Time
	tries     int
}

// An opening is the release of parts without a gate on its way.
type opening struct {
	parts   []*part
	rosters []Roster
	nextTry time.Time
	tries   int
}

// isRecording reports whether the release may be on record already.
func (m *Machine) isRecording() bool {
	return m.attempt != nil && m.attempt.commit && m.attempt.recording
}

// open records the release of parts without a gate, which are submitted after that.
func (m *Machine) open(parts []*part) {
	if len(parts) == 0 {
		return
	}
	m.round++
	made := &opening{parts: parts}
	for _, p := range parts {
		made.rosters = append(made.rosters, Roster{Serial: p.Serial})
	}
	m.openings[m.round] = made
	m.do(RecordRelease{m.round, m.now, made.rosters})
}

func (in Commit) apply(m *Machine) error {
	if err := m.isOpen(); err != nil {
		return err
	}
	if !m.remains() {
		m.end(Canceled, ErrNoParts.Error())
		return ErrNoParts
	}
	m.ensemble.Committed, m.ensemble.CommitNow, m.hasChanged = true, m.ensemble.CommitNow || in.Now, true
	if !in.Now {
		return nil
	}
	return m.decideNow()
}

// decideNow cancels the ensemble if a required process is missing, because its commit must not wait. After a
// restart it waits for processes that had checked in before.
func (m *Machine) decideNow() error {
	if m.undecided = m.isReturning(); m.undecided {
		return nil
	}
	missing := m.missing()
	if len(missing) == 0 {
		return nil
	}
	m.end(Canceled, "not checked in: "+strings.Join(missing, ", "))
	return ErrIncomplete
}

// isReturning reports whether processes that were checked in before a restart have not connected again yet.
func (m *Machine) isReturning() bool {
	return slices.ContainsFunc(m.parts, func(p *part) bool {
		return p.returning && !p.State.Ended() && (p.Kind != Optional || m.setOf(p) != nil)
	})
}

// remains reports whether any part was not deleted.
func (m *Machine) remains() bool {
	return slices.ContainsFunc(m.parts, func(p *part) bool { return p.State != PartDeleted })
}

// missing returns the parts and sets that the release waits for.
func (m *Machine) missing() (labels []string) {
	for _, p := range m.parts {
		if m.setOf(p) == nil && m.blocks(p) {
			labels = append(labels, p.Label)
		}
	}
	for i := range m.ensemble.Sets {
		set := &m.ensemble.Sets[i]
		if all, ready, _ := m.members(set); ready < min(set.AtLeast, all) {
			labels = append(labels, "one of "+strings.Join(set.Labels, ", "))
		}
	}
	return labels
}

// settleWaiting decides before the release.
func (m *Machine) settleWaiting() {
	switch {
	case m.hasFailed():
		m.end(Failed, "all parts have failed")
		return
	case m.ensemble.Committed && !m.remains():
		m.end(Canceled, ErrNoParts.Error())
		return
	case m.undecided && m.decideNow() != nil:
		return
	case slices.ContainsFunc(m.parts, func(p *part) bool { return p.State == PartSubmitting }):
		m.setState(Submitting, "")
	default:
		m.setState(Waiting, "")
	}
	m.releaseHolds()
	if m.ensemble.Committed && m.attempt == nil && !m.now.Before(m.nextTry) && len(m.missing()) == 0 {
		m.freeze(true)
	}
}

// hasFailed reports whether all parts have failed and cannot be substituted: no part was ever accepted, or no
// part is interactive.
func (m *Machine) hasFailed() bool {
	hasFailed, wasAccepted, isInteractive := false, false, false
	for _, p := range m.parts {
		if !p.State.Ended() {
			return false
		}
		wasAccepted = wasAccepted || p.JobID != ""
		if p.State == PartFailed {
			hasFailed, isInteractive = true, isInteractive || p.Kind == Interactive
		}
	}
	return hasFailed && !(wasAccepted && isInteractive)
}

// freeze begins a release of all parts that are checked in.
func (m *Machine) freeze(commit bool) {
	m.round++
	m.attempt = &attempt{round: m.round, commit: commit}
	m.live(func(p *part) {
		if p.State == PartCheckedIn {
			m.attempt.serials = append(m.attempt.serials, p.Serial)
		}
	})
	if len(m.attempt.serials) == 0 { // only parts that the release does not wait for
		m.record(nil)
		return
	}
	m.do(Freeze{m.round, m.attempt.serials})
}

// abandon gives up an unrecorded release, because a part is no longer ready.
func (m *Machine) abandon(p *part) {
	if m.attempt == nil || m.attempt.recording || p != nil && !slices.Contains(m.attempt.serials, p.Serial) {
		return
	}
	m.attempt = nil
	m.do(Thaw{})
	if m.ensemble.CommitNow && m.ensemble.Released.IsZero() && p != nil && m.isOpen() == nil {
		m.end(Canceled, "no longer checked in: "+p.Label)
	}
}

// retryDelay is how long after a failed freeze the next one is tried.
const retryDelay = time.Second

func (in Frozen) apply(m *Machine) error {
	if m.attempt == nil || m.attempt.round != in.Round || m.attempt.recording {
		return nil
	}
	for _, serial := range m.attempt.serials {
		p := m.part(serial)
		isThere := slices.ContainsFunc(in.Rosters, func(r Roster) bool {
			return r.Serial == serial && r.Incarnation == p.Incarnation && len(r.Instances) == p.Count
		})
		if in.Err == "" && p.State == PartCheckedIn && isThere {
			continue
		}
		m.notify(Warned, "", string(m.ensemble.State), "the release waits: "+firstOf(in.Err, p.Label+" is not complete"))
		m.nextTry = m.now.Add(retryDelay)
		m.abandon(p)
		return nil
	}
	m.record(in.Rosters)
	return nil
}

func firstOf(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// record records the release of frozen parts.
func (m *Machine) record(rosters []Roster) {
	m.attempt.recording, m.attempt.rosters = true, rosters
	m.do(RecordRelease{m.attempt.round, m.now, m.attempt.recorded()})
}

// recorded returns the rosters as they go on record: with that of the commit.
func (a *attempt) recorded() []Roster {
	if !a.commit {
		return a.rosters
	}
	return append([]Roster{{}}, a.rosters...)
}

func (in ReleaseRecorded) apply(m *Machine) error {
	if made := m.openings[in.Round]; made != nil {
		m.opened(in, made)
		return nil
	}
	a := m.attempt
	if a == nil || a.round != in.Round || !a.recording {
		return nil
	}
	if in.Err != "" && m.isOpen() == ErrEnded {
		m.attempt = nil
		return nil
	}
	if in.Err != "" {
		// It may be on record nevertheless, so record the same rosters again.
		if a.tries++; a.tries == 1 {
			m.notify(Warned, "", string(m.ensemble.State), "recording the release: "+in.Err)
		}
		a.nextTry = m.now.Add(delay(a.tries - 1))
		return nil
	}
	m.attempt = nil
	m.released = append(m.released, a.recorded()...)
	if m.isOpen() == ErrEnded {
		return nil // it failed or was canceled meanwhile, and its processes were removed
	}
	m.commit(a)
	return nil
}

func (m *Machine) opened(in ReleaseRecorded, made *opening) {
	if in.Err != "" {
		if made.tries++; made.tries == 1 {
			m.notify(Warned, "", string(m.ensemble.State), "recording a release: "+in.Err)
		}
		made.nextTry = m.now.Add(delay(made.tries - 1))
		return
	}
	delete(m.openings, in.Round)
	m.released = append(m.released, made.rosters...)
	for _, p := range made.parts {
		if !p.State.Ended() {
			m.submitOne(p)
		}
	}
}

// commit releases parts after their release was recorded.
func (m *Machine) commit(a *attempt) {
	if a.commit {
		m.ensemble.Released, m.hasChanged = m.now, true
		m.setState(Releasing, "")
	}
	var sent []Roster
	var again []*part
	for _, roster := range a.rosters {
		p := m.part(roster.Serial)
		switch {
		case p.State.Ended():
		case p.Incarnation != roster.Incarnation:
			again = append(again, p)
		default:
			p.Released, p.lost = m.now, time.Time{}
			m.setPart(p, PartReleased, "")
			sent = append(sent, roster)
		}
	}
	for _, p := range again {
		m.fail(p, "the job was started again while it was released", true)
	}
	if m.isOpen() == ErrEnded {
		return
	}
	m.do(SendRelease{sent})
	if a.commit {
		m.deleteAlternatives()
	}
}

// deleteAlternatives deletes the parts of sets that the release came too early for.
func (m *Machine) deleteAlternatives() {
	m.live(func(p *part) {
		if m.setOf(p) != nil && p.State != PartReleased && !(p.Gate == NoGate && p.Attempted) {
			m.remove(p, "an alternative was released")
		}
	})
}

func (in ReleaseSent) apply(m *Machine) error {
	if m.ensemble.State == Releasing {
		m.setState(Running, "")
	}
	return nil
}

// restoreReleases restores the states of parts from the recorded releases, and returns the rosters of live
// parts.
func (m *Machine) restoreReleases() (sent []Roster) {
	for _, roster := range m.released {
		if roster.Serial == 0 && m.ensemble.Released.IsZero() {
			m.ensemble.Released, m.hasChanged = m.now, true
			if m.ensemble.State != Ending {
				m.setState(Releasing, "")
			}
		}
		p := m.part(roster.Serial)
		if p == nil || p.State.Ended() || roster.Incarnation == 0 {
			continue
		}
		if p.State != PartReleased {
			p.Released, p.Incarnation = m.now, roster.Incarnation
			m.setPart(p, PartReleased, "")
		}
		sent = append(sent, roster)
	}
	if m.ensemble.State != Ending && !m.ensemble.Released.IsZero() {
		m.deleteAlternatives()
	}
	return sent
}
