package barrier_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

// A world is schedulers, processes, a server and a journal around a machine, with faults.
type world struct {
	t       require.TestingT
	random  *rand.Rand
	now     time.Time
	machine *barrier.Machine

	ensemble barrier.Ensemble // on record
	parts    map[int]barrier.Part
	notices  []barrier.Notice
	released []barrier.Roster

	jobs    map[int]*simulated // by serial
	results []func()           // on their way to the machine
	frozen  bool
	isKind  bool           // no faults any more
	ran     map[int]bool   // serials of parts with processes that ran their program
	seen    map[int]string // the first instance of the present incarnation, by serial
	begun   map[int]bool   // submissions, by serial
	trace   []string
}

// A simulated job of a part.
type simulated struct {
	serial, incarnation int
	isLive, isRunning   bool
	isRemoved           bool
	wasCanceled         bool
	waiting             map[int]string // instances, by rank
	instances           []string
}

func newWorld(t require.TestingT, seed uint64) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 7)), now: noon, parts: map[int]barrier.Part{}, jobs: map[int]*simulated{}, ran: map[int]bool{}, seen: map[int]string{}, begun: map[int]bool{}}
	var specs []barrier.Spec
	for i := range 1 + w.random.IntN(5) {
		specs = append(specs, w.spec(fmt.Sprint("p", i)))
	}
	w.ensemble = barrier.Ensemble{State: barrier.Prepared, HoldFirst: w.chance(3)}
	if w.chance(2) {
		w.ensemble.CommitLimit = time.Hour
	}
	if len(specs) > 2 && w.chance(2) {
		w.ensemble.Sets = []barrier.Set{{Labels: []string{"p0", "p1", "p2"}, AtLeast: 1 + w.random.IntN(3)}}
	}
	for _, part := range barrier.NewParts(specs) {
		w.parts[part.Serial] = part
	}
	w.start()
	return w
}

func (w *world) chance(of int) bool { return w.random.IntN(of) == 0 }

func pick[E any](w *world, list ...E) E { return list[w.random.IntN(len(list))] }

func (w *world) spec(label string) barrier.Spec {
	return barrier.Spec{Label: label, Kind: pick(w, barrier.Required, barrier.Required, barrier.Interactive, barrier.Optional), Gate: pick(w, barrier.Held, barrier.Held, barrier.Program, barrier.NoGate),
		Count: 1 + w.random.IntN(3), StartLimit: pick(w, 0, time.Hour), CheckInLimit: pick(w, 0, time.Minute), WallTime: pick(w, 0, time.Hour)}
}

// start starts a machine from the record.
func (w *world) start() {
	parts := slices.Collect(maps.Values(w.parts))
	w.machine = barrier.New(w.ensemble, parts, w.released)
	w.results, w.frozen = nil, false
	if !w.ensemble.State.Ended() {
		w.apply(barrier.Start{})
	}
}

// apply applies inputs and executes the actions. A crash may cut it off after each of them.
func (w *world) apply(inputs ...barrier.Input) {
	w.trace = append(w.trace, fmt.Sprintf("%+v", inputs))
	actions, _ := w.machine.Apply(w.now, inputs...)
	for i, action := range actions {
		w.trace = append(w.trace, fmt.Sprintf("    %T%+v", action, action))
		if _, isRecord := action.(barrier.Record); isRecord {
			require.Zero(w.t, i, "the record comes first")
		}
		w.execute(action)
		if !w.isKind && w.chance(200) {
			w.trace = append(w.trace, "crash")
			w.start()
			return
		}
	}
}

// later passes an input to the machine at some time, unless it crashes before.
func (w *world) later(input barrier.Input) {
	w.results = append(w.results, func() { w.apply(input) })
}

func (w *world) execute(action barrier.Action) {
	switch a := action.(type) {
	case barrier.Record:
		w.record(a.Change)
	case barrier.Submit:
		w.submit(a)
	case barrier.FindJob:
		job := w.jobs[a.Serial]
		switch {
		case a.Begin && !w.begun[a.Serial]:
			w.submit(barrier.Submit{Serial: a.Serial, OnHold: a.OnHold})
		case !w.isKind && w.chance(3):
			w.later(barrier.SubmitUnknown{Serial: a.Serial, Reason: "no connection"})
		case job == nil:
			w.later(barrier.SubmitRefused{Serial: a.Serial, Reason: "there is no job"})
		default:
			w.later(barrier.Submitted{Serial: a.Serial, JobID: fmt.Sprint(a.Serial)})
		}
	case barrier.ReleaseHold:
		w.later(barrier.HoldResult{Serial: a.Serial, Err: pick(w, "", "no connection")})
	case barrier.CancelJob:
		w.cancel(a.Serial)
	case barrier.Remove:
		if job := w.jobs[a.Serial]; job != nil {
			job.isRemoved, job.waiting = true, map[int]string{}
		}
	case barrier.Freeze:
		w.freeze(a)
	case barrier.Thaw:
		w.frozen = false
	case barrier.RecordRelease:
		if !w.isKind && w.chance(4) {
			w.later(barrier.ReleaseRecorded{Round: a.Round, Err: "disk full"})
			return
		}
		w.released = append(w.released, a.Rosters...)
		w.later(barrier.ReleaseRecorded{Round: a.Round})
	case barrier.SendRelease:
		w.send(a.Rosters)
	}
}

func (w *world) record(change barrier.Change) {
	w.ensemble = change.Ensemble
	for _, part := range change.Parts {
		part.Present = 0
		if !part.Released.IsZero() {
			require.True(w.t, slices.ContainsFunc(w.released, func(r barrier.Roster) bool { return r.Serial == part.Serial }), "%s is released without a record", part.Label)
		}
		w.parts[part.Serial] = part
	}
	for _, notice := range change.Notices {
		w.notices = append(w.notices, notice)
		require.Equal(w.t, len(w.notices), notice.Sequence)
	}
	require.Equal(w.t, len(w.notices), w.ensemble.Notices)
}

func (w *world) submit(a barrier.Submit) {
	require.True(w.t, w.parts[a.Serial].Attempted, "the intent is on record")
	require.False(w.t, w.begun[a.Serial], "no part is submitted twice")
	require.NotEqual(w.t, barrier.PartDeleted, w.parts[a.Serial].State)
	w.begun[a.Serial] = true
	if w.chance(8) {
		w.later(barrier.SubmitRefused{Serial: a.Serial, Reason: "refused"})
		return
	}
	w.jobs[a.Serial] = &simulated{serial: a.Serial, isLive: true, waiting: map[int]string{}}
	if !w.isKind && w.chance(4) {
		w.later(barrier.SubmitUnknown{Serial: a.Serial, Reason: "connection lost"})
		return
	}
	w.later(barrier.Submitted{Serial: a.Serial, JobID: fmt.Sprint(a.Serial), Held: a.OnHold})
}

func (w *world) cancel(serial int) {
	job := w.jobs[serial]
	require.NotNil(w.t, job)
	job.wasCanceled = true
	switch {
	case !w.isKind && w.chance(3):
		w.later(barrier.CancelResult{Serial: serial, Err: "no connection"})
	case w.chance(2):
		job.isLive, job.isRunning, job.waiting = false, false, map[int]string{}
		w.later(barrier.CancelResult{Serial: serial, Gone: true})
	default:
		w.later(barrier.CancelResult{Serial: serial})
	}
}

func (w *world) freeze(a barrier.Freeze) {
	w.frozen = true
	frozen := barrier.Frozen{Round: a.Round}
	for _, serial := range a.Serials {
		job := w.jobs[serial]
		if len(job.waiting) < w.parts[serial].Count || !w.isKind && w.chance(8) {
			frozen.Err = "somebody is missing"
		}
		roster := barrier.Roster{Serial: serial, Incarnation: job.incarnation}
		for _, rank := range slices.Sorted(maps.Keys(job.waiting)) {
			roster.Instances = append(roster.Instances, job.waiting[rank])
		}
		frozen.Rosters = append(frozen.Rosters, roster)
	}
	w.later(frozen)
}

// isReleased reports whether the journal has the release of a process.
func (w *world) isReleased(serial, incarnation int, instance string) bool {
	return slices.ContainsFunc(w.released, func(r barrier.Roster) bool {
		return r.Serial == serial && (r.Incarnation == 0 || r.Incarnation == incarnation && slices.Contains(r.Instances, instance))
	})
}

// send releases processes: they run their programs, also if they had lost their connection.
func (w *world) send(rosters []barrier.Roster) {
	w.frozen = false
	for _, roster := range rosters {
		job := w.jobs[roster.Serial]
		for _, instance := range roster.Instances {
			require.True(w.t, w.isReleased(roster.Serial, roster.Incarnation, instance), "no process is released that is not on record")
		}
		if roster.Incarnation == job.incarnation && job.isRunning && !job.isRemoved {
			w.ran[roster.Serial] = true
		}
	}
	if len(w.ran) > 0 {
		w.requireAll(rosters)
	}
}

// requireAll requires that a release that is sent leaves no required part out.
func (w *world) requireAll(rosters []barrier.Roster) {
	if slices.ContainsFunc(rosters, func(r barrier.Roster) bool { return w.parts[r.Serial].Kind != barrier.Optional }) {
		for _, part := range w.parts {
			isAlternative := slices.ContainsFunc(w.ensemble.Sets, func(s barrier.Set) bool { return slices.Contains(s.Labels, part.Label) })
			if part.Kind == barrier.Required && part.Gate != barrier.NoGate && !isAlternative && part.State != barrier.PartDeleted {
				require.True(w.t, slices.ContainsFunc(w.released, func(r barrier.Roster) bool { return r.Serial == part.Serial }), "part %s is required and was left out", part.Label)
			}
		}
	}
}
