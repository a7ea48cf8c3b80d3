package barrier

import (
	"fmt"
	"time"
)

// fewProcesses is up to how many processes of a part each check-in is an event.
const fewProcesses = 32

func (in ProcessEvent) apply(m *Machine) error {
	p := m.part(in.Serial)
	if p == nil {
		return nil
	}
	if p.State.Ended() {
		m.late(p, in)
		return nil
	}
	switch in.Kind {
	case CheckedIn:
		m.checkIn(p, in)
	case Lost:
		m.lose(p, in)
	case Voted:
		m.notifyOf(VotedNo, p, processName(in)+": "+in.Reason)
		if p.State != PartReleased {
			m.fail(p, "a process refused to start: "+in.Reason, true)
		}
	case Refused:
		m.notifyOf(ProcessRefused, p, processName(in)+": "+in.Reason)
		if p.State == PartReleased && p.Gate != NoGate && in.Incarnation > p.Incarnation {
			m.fail(p, "the job was started again after its release", true)
			return nil
		}
		if reason := "refused a process: " + in.Reason; p.Reason != reason {
			p.Reason = reason
			m.change(p)
		}
	case NewIncarnation:
		m.newIncarnation(p, in)
	case Late:
		m.late(p, in)
	case Received:
	}
	return nil
}

func processName(in ProcessEvent) string {
	if in.Host == "" {
		return fmt.Sprintf("process %d", in.Rank)
	}
	return fmt.Sprintf("process %d on %s", in.Rank, in.Host)
}

// late handles a process of a removed part: its job may run after all.
func (m *Machine) late(p *part, in ProcessEvent) {
	if in.Kind != Late && in.Kind != CheckedIn && in.Kind != NewIncarnation || !p.State.Ended() {
		return
	}
	m.notifyOf(ProcessRefused, p, processName(in)+" is late: "+m.removalReason(p))
	m.do(Remove{p.Serial, m.removalReason(p)})
	if !p.nextCancel.IsZero() && !p.nextCancel.After(m.now.Add(shortestDelay)) {
		return // the job is canceled soon
	}
	m.cancelJob(p)
}

func (m *Machine) removalReason(p *part) string {
	switch {
	case p.Reason != "":
		return p.Reason
	case m.ensemble.Reason != "":
		return m.ensemble.Reason
	}
	return "the part has ended"
}

func (m *Machine) checkIn(p *part, in ProcessEvent) {
	if in.Incarnation != p.Incarnation {
		if p.Incarnation != 0 {
			m.newIncarnation(p, in)
			if p.State.Ended() {
				return
			}
		}
		p.Incarnation = in.Incarnation
		m.change(p)
	}
	p.instances[in.Instance] = true
	p.Present, p.complete, p.absent = len(p.instances), in.Complete, 0
	if p.Active.IsZero() {
		m.activate(p)
	}
	if p.Gate == NoGate || p.State == PartReleased {
		return
	}
	if p.Count <= fewProcesses {
		m.notifyOf(ProcessCheckedIn, p, processName(in))
	}
	if p.complete {
		p.lost, p.returning, p.Arrived = time.Time{}, false, m.now
		m.setPart(p, PartCheckedIn, "")
	}
}

// activate begins the time in which a running job has to check in.
func (m *Machine) activate(p *part) {
	p.Active, p.Extended, p.Held = m.now, 0, false
	m.change(p)
	if !p.paused.IsZero() {
		p.paused = m.now
	}
	switch {
	case p.Gate == NoGate:
		p.Released = m.now
		m.setPart(p, PartReleased, "")
	case p.State == PartPending || p.State == PartSubmitting:
		m.setPart(p, PartActive, "")
	}
}

func (m *Machine) lose(p *part, in ProcessEvent) {
	if !p.instances[in.Instance] {
		return
	}
	delete(p.instances, in.Instance)
	p.Present, p.complete = len(p.instances), false
	if p.State == PartReleased || p.Gate == NoGate {
		return
	}
	if p.lost.IsZero() {
		p.lost = m.now
	}
	m.notifyOf(ProcessLost, p, processName(in)+": the connection was lost")
	if p.State == PartCheckedIn {
		m.setPart(p, PartActive, "a process lost its connection")
	}
	m.abandon(p)
}

// newIncarnation forgets the processes of a job that runs again. After the release it must not.
func (m *Machine) newIncarnation(p *part, in ProcessEvent) {
	if p.Gate == NoGate || in.Incarnation <= p.Incarnation && p.Incarnation != 0 {
		return
	}
	if p.State == PartReleased {
		m.fail(p, "the job was started again after its release", true)
		return
	}
	before := p.Incarnation
	p.Incarnation = in.Incarnation
	m.forget(p)
	p.Active, p.ran = m.now, false
	if before != 0 {
		m.notify(Warned, p.Label, string(PartActive), "the job was started again")
	}
	m.setPart(p, PartActive, "")
	m.abandon(p)
}

// forget forgets the processes of an incarnation.
func (m *Machine) forget(p *part) {
	clear(p.instances)
	p.Present, p.complete, p.relayed, p.warned, p.timedOut, p.Extended = 0, false, false, false, false, 0
	p.lost, p.returning, p.Arrived = time.Time{}, false, time.Time{}
	m.change(p)
}

// consistentReadings is how many readings in a row have to say that a job is gone, unless one
// names its final state, or that it waits again.
const consistentReadings = 2

func (in JobSeen) apply(m *Machine) error {
	p := m.part(in.Serial)
	if p == nil {
		return nil
	}
	switch in.State {
	case JobUnread:
		return nil
	case JobMissing, JobEnded:
		if p.absent++; p.absent >= consistentReadings || in.State == JobEnded && in.Final {
			m.jobEnded(p, in)
		}
		return nil
	}
	p.absent = 0
	if p.State.Ended() {
		return nil
	}
	if in.State == JobRunning {
		p.ran, p.requeued = true, 0
		if p.Active.IsZero() {
			m.activate(p)
		}
		return nil
	}
	m.queued(p, in)
	return nil
}

// queued handles a waiting job, which may have run before.
func (m *Machine) queued(p *part, in JobSeen) {
	if p.State == PartPending {
		if p.Reason != in.Reason {
			p.Reason = in.Reason
			m.change(p)
		}
		return
	}
	if !p.ran || p.Gate == NoGate {
		return // a check-in may come before the scheduler says that the job runs
	}
	if p.requeued++; p.requeued < consistentReadings {
		return
	}
	switch p.State {
	case PartReleased:
		m.fail(p, "the scheduler put the job back into its queue after the release", true)
	case PartActive:
		m.forget(p)
		p.ran, p.requeued, p.Active = false, 0, time.Time{}
		m.setPart(p, PartPending, in.Reason)
	}
}

// jobEnded handles the end of a job.
func (m *Machine) jobEnded(p *part, in JobSeen) {
	m.confirm(p)
	if p.State.Ended() {
		return
	}
	p.ExitCode, p.Signal = in.ExitCode, in.Signal
	isFailure := in.Signal != nil && *in.Signal != 0 || in.ExitCode != nil && *in.ExitCode != 0
	if p.State != PartReleased && p.Gate != NoGate {
		m.fail(p, ended(in)+" before its release", false)
		return
	}
	m.setPart(p, PartDone, ended(in))
	m.do(Remove{p.Serial, "the job has ended"})
	if isFailure {
		m.consequence(p, ended(in))
	}
}

// ended says how a job ended.
func ended(in JobSeen) string {
	switch {
	case in.Signal != nil && *in.Signal != 0:
		return fmt.Sprintf("the job ended by signal %d", *in.Signal)
	case in.ExitCode != nil:
		return fmt.Sprintf("the job ended with exit code %d", *in.ExitCode)
	case in.State == JobMissing:
		return "the scheduler no longer lists the job, so it ended"
	}
	return "the job ended"
}
