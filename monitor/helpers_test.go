package monitor_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// facts are the facts of a row.
type facts map[string]string

func (f facts) Fact(name string) string { return f[name] }

// A row is one of a listing.
type row struct {
	id    string
	facts facts
}

// rowOf returns a row of an id and facts, each written as name=value.
func rowOf(id string, written ...string) row {
	r := row{id, facts{}}
	for _, fact := range written {
		name, value, _ := strings.Cut(fact, "=")
		r.facts[name] = value
	}
	return r
}

// A source plays the scheduler: its rows may be changed between listings.
type source struct {
	mu       sync.Mutex
	rows     map[model.Kind][]row
	failures map[model.Kind]error         // after the rows
	lacks    map[model.Kind]bool          // kinds that cannot be listed
	lasts    map[model.Kind]time.Duration // that the command takes, after the rows
	pause    time.Duration                // after each row
	calls    map[model.Kind]int

	isUnreached bool          // how all failures are
	before      time.Duration // that the command began for another process before
}

func newSource() *source {
	return &source{rows: map[model.Kind][]row{}, lacks: map[model.Kind]bool{}, failures: map[model.Kind]error{}, lasts: map[model.Kind]time.Duration{}, calls: map[model.Kind]int{}}
}

// takes sets the duration of the next listings of a kind.
func (s *source) takes(kind model.Kind, length time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lasts[kind] = length
}

// set sets the rows of the next listing of a kind.
func (s *source) set(kind model.Kind, failure error, rows ...row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[kind], s.failures[kind] = rows, failure
}

func (s *source) asked(kind model.Kind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[kind]
}

func (s *source) Rows(ctx context.Context, kind model.Kind, each func(string, monitor.Facts) error) (monitor.Outcome, error) {
	s.mu.Lock()
	s.calls[kind]++
	lacks := s.lacks[kind]
	rows, failure, lasts, pause := slices.Clone(s.rows[kind]), s.failures[kind], s.lasts[kind], s.pause
	var begun time.Time
	if s.before > 0 {
		begun = time.Now().Add(-s.before)
	}
	s.mu.Unlock()
	for _, r := range rows {
		if err := each(r.id, r.facts); err != nil {
			return monitor.Outcome{}, err
		}
		if pause > 0 {
			time.Sleep(pause)
		}
	}
	select {
	case <-ctx.Done():
		return monitor.Outcome{}, ctx.Err()
	case <-time.After(lasts):
		return monitor.Outcome{Begun: begun, Unreached: failure != nil && s.isUnreached, Unsupported: lacks}, failure
	}
}

// A record plays the job store.
type record struct {
	mu        sync.Mutex
	jobs      []job.Job
	processes map[string][]job.Process
	failure   error
}

func (r *record) set(jobs ...job.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs = jobs
}

func (r *record) setProcesses(tag string, processes ...job.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes[tag] = processes
}

func (r *record) fail(failure error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failure = failure
}

func (r *record) read(context.Context) (map[string]job.Job, map[string][]job.Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	jobs, processes := map[string]job.Job{}, map[string][]job.Process{}
	for _, each := range r.jobs {
		jobs[each.Tag] = each
	}
	for tag, each := range r.processes {
		processes[tag] = slices.Clone(each)
	}
	return jobs, processes, r.failure
}

// A watch is a running monitor in a bubble with its own clock.
type watch struct {
	t *testing.T
	*monitor.Monitor
	model   *model.Model
	source  *source
	record  *record
	options monitor.Options
	ended   chan error
	stop    context.CancelFunc
}

// watching runs a test with a monitor that has not begun.
func watching(t *testing.T, test func(*testing.T, *watch)) {
	synctest.Test(t, func(t *testing.T) {
		m := model.New()
		require.Empty(t, m.Update(func(u *model.Update) {
			u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: "STARTING"}}})
		}))
		w := &watch{t: t, model: m, source: newSource(), record: &record{processes: map[string][]job.Process{}}}
		w.options = monitor.Options{Model: m, Manager: "rm", Machine: "cluster", User: "me", Rows: w.source.Rows, Record: w.record.read,
			Location: time.UTC, Jitter: func() float64 { return 0 }}
		test(t, w)
		if w.stop != nil {
			w.end()
		}
	})
}

// begin makes the monitor list everything for the first time.
func (w *watch) begin() {
	w.Monitor = monitor.New(w.options)
	ctx, stop := context.WithCancel(w.t.Context())
	w.stop, w.ended = stop, make(chan error, 1)
	go func() { w.ended <- w.Run(ctx) }()
	w.settle(time.Second)
}

func (w *watch) end() {
	w.stop()
	require.ErrorIs(w.t, <-w.ended, context.Canceled)
	w.stop = nil
}

// settle lets some time pass, and all that is due by then happen.
func (w *watch) settle(d time.Duration) {
	time.Sleep(d) // the bubble's time
	synctest.Wait()
}

// again lists everything once more.
func (w *watch) again() {
	w.settle(10 * time.Second) // so that no shortest interval delays it
	w.Refresh()
	w.settle(time.Second)
}

func (w *watch) manager() *model.Manager {
	manager, known := w.model.Snapshot().Manager("rm")
	require.True(w.t, known)
	return manager
}

// ids returns the ids of the elements of a kind.
func (w *watch) ids(kind model.Kind) []string {
	var ids []string
	for element := range w.manager().All(kind) {
		ids = append(ids, element.ID())
	}
	return ids
}

// value returns an attribute of an element.
func (w *watch) value(kind model.Kind, id, attribute string) string {
	w.t.Helper()
	element, known := w.manager().Get(kind, id)
	require.True(w.t, known, "%s %s", kind, id)
	value, _ := element.Value(attribute)
	return value.Text()
}

// own returns an attribute of the resource manager itself.
func (w *watch) own(attribute string) string {
	value, _ := w.manager().Element().Value(attribute)
	return value.Text()
}

// problems returns how often each kind of problem came.
func (w *watch) problems() map[string]int {
	counts := map[string]int{}
	for _, problem := range w.Problems() {
		counts[problem.Of.String()+": "+problem.What] += problem.Count
	}
	return counts
}
