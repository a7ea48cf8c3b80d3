package barrier_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

// anyJob returns a job that lives, or nil.
func (w *world) anyJob() *simulated {
	var live []*simulated
	for _, serial := range slices.Sorted(maps.Keys(w.jobs)) {
		if w.jobs[serial].isLive {
			live = append(live, w.jobs[serial])
		}
	}
	if len(live) == 0 {
		return nil
	}
	return pick(w, live...)
}

func (w *world) anyLabel() string { return fmt.Sprint("p", w.random.IntN(7)) }

// step lets one thing happen.
func (w *world) step() {
	if len(w.results) > 0 && w.chance(2) {
		w.deliver()
		return
	}
	if job := w.anyJob(); job != nil && !w.chance(5) {
		w.stepJob(job)
		return
	}
	switch w.random.IntN(14) {
	case 0:
		w.apply(barrier.Add{Parts: []barrier.Spec{w.spec(w.anyLabel())}})
	case 1:
		w.apply(barrier.Delete{Labels: []string{w.anyLabel()}})
	case 2:
		w.apply(barrier.Substitute{Label: w.anyLabel(), Part: w.spec(w.anyLabel())})
	case 3:
		if w.chance(4) {
			w.apply(barrier.Cancel{Reason: "enough"})
		}
	case 4:
		if w.chance(4) {
			w.apply(barrier.Commit{Now: true})
		}
	case 5, 6, 7:
		w.apply(barrier.Commit{})
	case 8:
		w.apply(barrier.Connection{Serial: 1 + w.random.IntN(5), NeedsUser: w.chance(2)})
	case 9:
		w.trace = append(w.trace, "restart")
		w.start()
	default:
		w.pass(pick(w, time.Second, time.Second, time.Minute, 10*time.Minute))
	}
}

func (w *world) deliver() {
	i := w.random.IntN(len(w.results))
	result := w.results[i]
	w.results = slices.Delete(w.results, i, i+1)
	result()
}

// pass lets time pass, with each tick that is due.
func (w *world) pass(duration time.Duration) {
	end := w.now.Add(duration)
	for ticks := 0; ; ticks++ {
		require.Less(w.t, ticks, 1000, "a timer does not stop")
		next := w.machine.Deadline()
		if next.IsZero() || next.After(end) {
			break
		}
		if next.After(w.now) {
			w.now = next
		}
		w.apply(barrier.Tick{})
	}
	w.now = end
}

// stepJob lets something happen to a job.
func (w *world) stepJob(job *simulated) {
	part := w.parts[job.serial]
	switch w.random.IntN(30) {
	case 0: // the scheduler puts it back
		if job.isRunning {
			job.isRunning = false
			w.loseAll(job)
			w.apply(barrier.JobSeen{Serial: job.serial, State: barrier.JobQueued})
		}
	case 1, 2:
		if job.isRunning {
			w.end(job, pick(w, 0, 0, 0, 1))
		}
	case 3:
		w.apply(barrier.JobSeen{Serial: job.serial, State: pick(w, barrier.JobUnread, barrier.JobUnread, barrier.JobQueued)})
	case 4:
		if len(job.waiting) > 0 {
			rank := slices.Min(slices.Collect(maps.Keys(job.waiting)))
			w.lose(job, rank)
		}
	case 5:
		if job.isRunning && part.Gate != barrier.NoGate && w.chance(4) {
			w.apply(barrier.ProcessEvent{Kind: barrier.Voted, Serial: job.serial, Incarnation: max(job.incarnation, 1), Reason: "no"})
		}
	default:
		if !job.isRunning {
			w.begin(job)
		} else {
			w.checkIn(job, part)
		}
	}
}

// begin lets a job run, perhaps again.
func (w *world) begin(job *simulated) {
	job.isRunning = true
	job.instances = nil
	for rank := range w.parts[job.serial].Count {
		job.instances = append(job.instances, fmt.Sprintf("%d.%d.%d", job.serial, w.random.IntN(1e9), rank))
	}
	if w.chance(2) {
		w.apply(barrier.JobSeen{Serial: job.serial, State: barrier.JobRunning})
	}
}

// checkIn lets a process check in that does not wait yet: the server's part of the rules.
func (w *world) checkIn(job *simulated, part barrier.Part) {
	for rank, instance := range job.instances {
		if job.waiting[rank] != "" || w.frozen {
			continue
		}
		event := barrier.ProcessEvent{Kind: barrier.CheckedIn, Serial: job.serial, Rank: rank, Instance: instance, Incarnation: max(job.incarnation, 1)}
		isNew := !slices.Contains(w.known(job), instance)
		switch {
		case job.isRemoved:
			event.Kind = barrier.Late
			w.apply(event)
			return
		case part.State == barrier.PartReleased && isNew && part.Gate != barrier.NoGate:
			event.Kind, event.Incarnation = barrier.NewIncarnation, job.incarnation+1
			w.apply(event)
			return
		case job.incarnation == 0:
			job.incarnation = 1
		case rank == 0 && isNew && !strings.HasPrefix(w.seen[job.serial], instance) && part.Gate != barrier.NoGate:
			job.incarnation++
			job.waiting = map[int]string{}
			event.Kind, event.Incarnation = barrier.NewIncarnation, job.incarnation
			w.seen[job.serial] = instance
			w.apply(event)
			return
		}
		if rank == 0 {
			w.seen[job.serial] = instance
		}
		job.waiting[rank] = instance
		event.Complete = len(job.waiting) == part.Count
		w.apply(event)
		return
	}
}

// known returns the instances of a job's part that were released.
func (w *world) known(job *simulated) (instances []string) {
	for _, roster := range w.released {
		if roster.Serial == job.serial {
			instances = append(instances, roster.Instances...)
		}
	}
	return instances
}

func (w *world) lose(job *simulated, rank int) {
	instance := job.waiting[rank]
	delete(job.waiting, rank)
	w.apply(barrier.ProcessEvent{Kind: barrier.Lost, Serial: job.serial, Incarnation: job.incarnation, Rank: rank, Instance: instance})
}

func (w *world) loseAll(job *simulated) {
	for _, rank := range slices.Sorted(maps.Keys(job.waiting)) {
		w.lose(job, rank)
	}
}

func (w *world) end(job *simulated, code int) {
	job.isLive, job.isRunning = false, false
	w.loseAll(job)
	if w.chance(2) {
		w.apply(barrier.JobSeen{Serial: job.serial, State: barrier.JobEnded, Final: true, ExitCode: &code})
	}
}

// settle ends all faults, and runs until everything has ended.
func (w *world) settle() {
	w.isKind = true
	w.apply(barrier.Cancel{Reason: "the end"})
	for round := 0; !w.machine.Ensemble().State.Ended(); round++ {
		require.Less(w.t, round, 1000, "the ensemble does not end")
		for len(w.results) > 0 {
			w.deliver()
		}
		for serial, job := range w.jobs {
			if !job.isLive {
				w.apply(barrier.JobSeen{Serial: serial, State: barrier.JobMissing})
			}
		}
		w.pass(time.Minute)
	}
}

func TestAnyOrderOfEventsKeepsTheInvariants(t *testing.T) {
	t.Parallel()
	ends, releases := map[barrier.State]int{}, 0
	for seed := range uint64(1500) {
		failed := &failure{}
		w := newWorld(failed, seed)
		for range 200 {
			w.step()
		}
		w.settle()
		for serial, job := range w.jobs {
			if job.isLive {
				require.True(failed, job.wasCanceled, "job %d is left in a queue", serial)
			}
		}
		require.Empty(t, failed.text, "seed %d:\n%s", seed, strings.Join(w.trace, "\n"))
		ends[w.ensemble.State]++
		if len(w.ran) > 0 {
			releases++
		}
	}
	for _, state := range []barrier.State{barrier.Done, barrier.Failed, barrier.Canceled} {
		require.Greater(t, ends[state], 20, "the worlds end in all ways: %v", ends)
	}
	require.Greater(t, releases, 150)
}

// A failure keeps the first failure of a world, so that the test can show its history.
type failure struct{ text string }

func (f *failure) Errorf(format string, arguments ...any) {
	if f.text == "" {
		f.text = fmt.Sprintf(format, arguments...)
	}
}

func (f *failure) FailNow() {}
