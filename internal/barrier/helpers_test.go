package barrier_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// A bench runs a machine with a scheduler and processes that a test controls.
type bench struct {
	t       *testing.T
	machine *barrier.Machine
	now     time.Time
	actions []barrier.Action // of the last step
	all     []barrier.Action
	notices []barrier.Notice
	journal []barrier.Roster // recorded releases
	sent    []barrier.Roster
	err     error
}

// held returns a part that waits at the barrier with two processes.
func held(label string, kind barrier.Kind) barrier.Spec {
	return barrier.Spec{Label: label, Kind: kind, Gate: barrier.Held, Count: 2, Tag: fmt.Sprintf("tag-%s-%d", label, tags.Add(1))}
}

// tags counts the tags of submissions, which are unique.
var tags atomic.Int64

func open(label string, kind barrier.Kind) barrier.Spec {
	spec := held(label, kind)
	spec.Gate = barrier.NoGate
	return spec
}

// begin begins an ensemble of parts, which are submitted.
func begin(t *testing.T, ensemble barrier.Ensemble, specs ...barrier.Spec) *bench {
	t.Helper()
	ensemble.State = barrier.Prepared
	b := &bench{t: t, now: noon, machine: barrier.New(ensemble, barrier.NewParts(specs), nil)}
	b.apply(barrier.Start{})
	require.NoError(t, b.err)
	return b
}

// apply applies inputs.
func (b *bench) apply(inputs ...barrier.Input) {
	b.t.Helper()
	b.actions, b.err = b.machine.Apply(b.now, inputs...)
	b.all = append(b.all, b.actions...)
	for _, action := range b.actions {
		switch a := action.(type) {
		case barrier.Record:
			b.notices = append(b.notices, a.Change.Notices...)
		case barrier.SendRelease:
			b.sent = append(b.sent, a.Rosters...)
		}
	}
}

// accept lets the scheduler accept parts.
func (b *bench) accept(serials ...int) {
	b.t.Helper()
	for _, serial := range serials {
		b.apply(barrier.Submitted{Serial: serial, JobID: fmt.Sprint(100 + serial)})
	}
}

// checkIn lets all processes of parts check in.
func (b *bench) checkIn(serials ...int) {
	b.t.Helper()
	for _, serial := range serials {
		count := b.part(serial).Count
		for rank := range count {
			b.process(barrier.CheckedIn, serial, rank, rank == count-1)
		}
	}
}

func (b *bench) process(kind barrier.ProcessKind, serial, rank int, complete bool) {
	b.t.Helper()
	b.apply(barrier.ProcessEvent{Kind: kind, Serial: serial, Incarnation: 1, Rank: rank, Instance: instance(serial, rank), Host: "n1", Reason: "no disk space", Complete: complete})
}

func instance(serial, rank int) string { return fmt.Sprintf("%d-%d", serial, rank) }

// release executes the rest of a release.
func (b *bench) release() {
	b.t.Helper()
	freeze, isFreeze := find[barrier.Freeze](b.actions)
	if isFreeze {
		b.apply(b.frozen(freeze))
	}
	b.record()
}

// frozen returns the answer of a server that has all processes.
func (b *bench) frozen(freeze barrier.Freeze) barrier.Frozen {
	frozen := barrier.Frozen{Round: freeze.Round}
	for _, serial := range freeze.Serials {
		p := b.part(serial)
		roster := barrier.Roster{Serial: serial, Incarnation: p.Incarnation}
		for rank := range p.Count {
			roster.Instances = append(roster.Instances, instance(serial, rank))
		}
		frozen.Rosters = append(frozen.Rosters, roster)
	}
	return frozen
}

// record records releases that are due, and sends them.
func (b *bench) record() {
	b.t.Helper()
	recorded, isDue := find[barrier.RecordRelease](b.actions)
	require.True(b.t, isDue, "%#v", b.actions)
	b.journal = append(b.journal, recorded.Rosters...)
	b.apply(barrier.ReleaseRecorded{Round: recorded.Round})
	if _, isSent := find[barrier.SendRelease](b.actions); isSent {
		b.apply(barrier.ReleaseSent{})
	}
}

// commit commits, and releases.
func (b *bench) commit() {
	b.t.Helper()
	b.apply(barrier.Commit{})
	require.NoError(b.t, b.err)
	b.release()
}

// pass lets time pass, with each tick that is due.
func (b *bench) pass(duration time.Duration) {
	b.t.Helper()
	end := b.now.Add(duration)
	for ticks := 0; ; ticks++ {
		require.Less(b.t, ticks, 1000, "a timer does not stop")
		next := b.machine.Deadline()
		if next.IsZero() || next.After(end) {
			break
		}
		if next.After(b.now) {
			b.now = next
		}
		b.apply(barrier.Tick{})
	}
	b.now = end
}

// end ends a job with an exit code.
func (b *bench) end(serial, code int) {
	b.t.Helper()
	b.apply(barrier.JobSeen{Serial: serial, State: barrier.JobEnded, Final: true, ExitCode: &code})
}

func (b *bench) part(serial int) barrier.Part {
	b.t.Helper()
	for _, each := range b.machine.Parts() {
		if each.Serial == serial {
			return each
		}
	}
	require.Failf(b.t, "there is no such part", "serial %d", serial)
	return barrier.Part{}
}

func (b *bench) requireState(state barrier.State) {
	b.t.Helper()
	require.Equal(b.t, state, b.machine.Ensemble().State, b.machine.Ensemble().Reason)
}

func (b *bench) requirePart(serial int, state barrier.PartState) {
	b.t.Helper()
	require.Equal(b.t, state, b.part(serial).State, b.part(serial).Reason)
}

func (b *bench) requireNotice(kind barrier.EventKind, label, text string) {
	b.t.Helper()
	require.True(b.t, slices.ContainsFunc(b.notices, func(n barrier.Notice) bool {
		return n.Kind == kind && n.Label == label && (text == "" || n.Text == text)
	}), "%+v", b.notices)
}

// find returns the first action of a type.
func find[A barrier.Action](actions []barrier.Action) (found A, isThere bool) {
	for _, action := range actions {
		if a, isA := action.(A); isA {
			return a, true
		}
	}
	return found, false
}

// count returns how many actions are equal to one.
func count(actions []barrier.Action, wanted barrier.Action) (count int) {
	for _, action := range actions {
		switch action.(type) {
		case barrier.CancelJob, barrier.Submit, barrier.FindJob, barrier.LaunchRelays, barrier.ReleaseHold, barrier.Thaw, barrier.Remove:
			if action == wanted {
				count++
			}
		}
	}
	return count
}
