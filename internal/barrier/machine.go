package barrier

import (
	"errors"
	"slices"
	"time"
)

// A part is a recorded part with the state that a restart loses.
type part struct {
	Part

	complete  bool            // all its processes are checked in
	instances map[string]bool // those that are checked in
	ran       bool            // the scheduler said that this incarnation runs
	absent    int             // readings in a row that say that the job is gone
	requeued  int             // readings in a row that say that the job waits again
	lost      time.Time       // since when a process that had checked in is missing
	returning bool            // since a restart: its processes, which were all checked in, have to connect again
	paused    time.Time       // since when its connection waits for the user

	events       int  // that its processes caused
	relayed      bool // relays were started for this incarnation
	warned       bool // of its wall time
	timedOut     bool // the present limit has passed
	opening      bool // the release of a part without a gate is being recorded
	inFlight     bool // its submission or a search has no result yet
	nextFind     time.Time
	finds        int
	nextCancel   time.Time
	cancels      int
	nextHold     time.Time
	holds        int
	holdInFlight bool
}

// A Machine decides what happens to one ensemble. It is not safe for concurrent use. Its caller
// passes inputs to [Machine.Apply], executes the actions in their order, and passes their results
// back; and applies a [Tick] when the time of [Machine.Deadline] has come.
type Machine struct {
	ensemble Ensemble
	parts    []*part // by serial
	released []Roster
	paused   time.Time // since when the commit limit waits for the user

	restarted time.Time // when it continued; zero for a new ensemble
	undecided bool      // a commit that must not wait for check-ins waits until it is known who was there before a restart

	round    int
	attempt  *attempt
	openings map[int]*opening
	nextTry  time.Time // of the release

	now        time.Time
	actions    []Action
	notices    []Notice
	changed    map[int]bool // by serial
	hasChanged bool         // the ensemble
}

// New returns the machine of a recorded ensemble, with its parts and the released rosters. Prepared ensembles
// have parts with serials from 1.
func New(ensemble Ensemble, parts []Part, released []Roster) *Machine {
	m := &Machine{ensemble: ensemble, released: slices.Clone(released), openings: map[int]*opening{}, changed: map[int]bool{}}
	for _, each := range parts {
		m.parts = append(m.parts, &part{Part: each, instances: map[string]bool{}})
		m.ensemble.Serials = max(m.ensemble.Serials, each.Serial)
	}
	slices.SortFunc(m.parts, func(a, b *part) int { return a.Serial - b.Serial })
	return m
}

// NewParts returns the parts of a new ensemble.
func NewParts(specs []Spec) []Part {
	parts := make([]Part, len(specs))
	for i, spec := range specs {
		parts[i] = Part{Spec: spec, Serial: i + 1, Index: i, State: PartSubmitting}
	}
	return parts
}

// Apply applies inputs and returns the actions to execute. Errors are those of edits and commits; a commit that
// cancels the ensemble returns actions, too.
func (m *Machine) Apply(now time.Time, inputs ...Input) ([]Action, error) {
	m.now, m.actions, m.notices, m.hasChanged = now, nil, nil, false
	clear(m.changed)
	var errs []error
	for _, input := range inputs {
		if err := input.apply(m); err != nil {
			errs = append(errs, err)
		}
	}
	m.settle()
	return m.step(), errors.Join(errs...)
}

// Ensemble returns the ensemble as it is now.
func (m *Machine) Ensemble() Ensemble { return m.ensemble }

// Parts returns the parts as they are now, by serial.
func (m *Machine) Parts() []Part {
	parts := make([]Part, len(m.parts))
	for i, each := range m.parts {
		parts[i] = each.Part
	}
	return parts
}

// step returns the actions of this step, the record of its changes first.
func (m *Machine) step() []Action {
	if !m.hasChanged && len(m.changed) == 0 && len(m.notices) == 0 {
		return m.actions
	}
	change := Change{Ensemble: m.ensemble, Notices: m.notices}
	for _, each := range m.parts {
		if m.changed[each.Serial] {
			change.Parts = append(change.Parts, each.Part)
		}
	}
	return append([]Action{Record{change}}, m.actions...)
}

func (m *Machine) do(action Action) { m.actions = append(m.actions, action) }

func (m *Machine) notify(kind EventKind, label, state, text string) {
	m.ensemble.Notices++
	m.notices = append(m.notices, Notice{Sequence: m.ensemble.Notices, Time: m.now, Kind: kind, Label: label, State: state, Text: text})
}

// mostEvents bounds the events that the processes of a part cause: they may be hostile.
const mostEvents = 1000

// notifyOf notifies of a process.
func (m *Machine) notifyOf(kind EventKind, p *part, text string) {
	if p.events++; p.events <= mostEvents {
		m.notify(kind, p.Label, string(p.State), text)
	}
}

// setState changes the state of the ensemble.
func (m *Machine) setState(state State, text string) {
	if m.ensemble.State == state {
		return
	}
	m.ensemble.State, m.hasChanged = state, true
	m.notify(StateChanged, "", string(state), text)
}

// setPart changes the state of a part.
func (m *Machine) setPart(p *part, state PartState, text string) {
	if p.State == state {
		return
	}
	p.State, p.Reason, p.timedOut = state, text, false
	if state.Ended() {
		p.Ended = m.now
	}
	m.change(p)
	m.notify(PartChanged, p.Label, string(state), text)
}

// change records a part.
func (m *Machine) change(p *part) { m.changed[p.Serial] = true }

// part returns the part with a serial, or nil.
func (m *Machine) part(serial int) *part {
	i, found := slices.BinarySearchFunc(m.parts, serial, func(p *part, serial int) int { return p.Serial - serial })
	if !found {
		return nil
	}
	return m.parts[i]
}

// live calls a function with each part that has not ended.
func (m *Machine) live(do func(p *part)) {
	for _, each := range m.parts {
		if !each.State.Ended() {
			do(each)
		}
	}
}

// isOpen reports whether parts can be added and deleted.
func (m *Machine) isOpen() error {
	switch {
	case m.ensemble.State.Ended() || m.ensemble.State == Ending:
		return ErrEnded
	case !m.ensemble.Released.IsZero() || m.isRecording():
		return ErrReleased
	}
	return nil
}

// settle decides the next actions from the present states.
func (m *Machine) settle() {
	m.resumeCommit()
	switch {
	case m.isOpen() == ErrEnded || m.ensemble.State == Prepared:
	case !m.ensemble.Released.IsZero():
		m.settleReleased()
	default:
		m.settleWaiting()
	}
	if m.ensemble.State == Ending {
		m.settleEnd()
	}
}
