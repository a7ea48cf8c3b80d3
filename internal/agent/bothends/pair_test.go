package bothends_test

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/remote"
)

// A facts is a row of a listing.
type facts map[string]string

// Fact implements [monitor.Facts].
func (f facts) Fact(name string) string { return f[name] }

// listInterval is from one listing to the next.
const listInterval = 10 * time.Second

// A pair is a scheduler, a monitor that puts its listings into a model, an agent that serves the model,
// and a client. It runs in a synctest bubble.
type pair struct {
	t       testing.TB
	model   *model.Model // of the agent
	session *agentclient.Session

	mu    sync.Mutex
	lists map[model.Kind]func() map[string]facts
	jobs  map[string]job.Job // recorded jobs by tag

	processes map[string][]job.Process // of these jobs
	written   atomic.Int64             // bytes that the agent sent
	read      atomic.Int64             // bytes that the client sent
	events    atomic.Int64             // recorded
	stop      func()
}

// newPair starts everything. It must be called in a bubble.
func newPair(t testing.TB, lists map[model.Kind]func() map[string]facts) *pair {
	p := &pair{t: t, model: model.New(), lists: lists, jobs: map[string]job.Job{}}
	p.events.Store(1)
	for _, state := range []string{vocabulary.StateStarting, vocabulary.StateStarted} {
		require.Empty(t, p.model.Update(func(u *model.Update) {
			u.Put(model.Row{Kind: model.ResourceManager, ID: manager, Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: state}}})
		}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	watching := monitor.New(monitor.Options{Model: p.model, Manager: manager, Machine: "cluster", User: "me", Rows: p.rows, Record: p.record, Location: time.UTC,
		Jitter: func() float64 { return 0 }, Intervals: map[model.Kind]time.Duration{model.Queue: listInterval, model.Node: listInterval, model.Job: listInterval}})
	watched := make(chan error)
	go func() { watched <- watching.Run(ctx) }()
	s, err := agentclient.Start(t.Context(), agentclient.Options{Agent: []string{"agent"}, Manager: manager, Connection: &agenttest.Place{Agent: p.serve}})
	require.NoError(t, err)
	p.session = s
	p.stop = func() {
		require.NoError(t, s.Close())
		cancel()
		require.ErrorIs(t, <-watched, context.Canceled)
	}
	require.NoError(t, s.Listed(t.Context()))
	return p
}

// rows returns a listing.
func (p *pair) rows(_ context.Context, kind model.Kind, each func(string, monitor.Facts) error) (monitor.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, isListed := p.lists[kind]
	if !isListed {
		return monitor.Outcome{Unsupported: true}, nil
	}
	for id, row := range list() {
		if err := each(id, row); err != nil {
			return monitor.Outcome{}, err
		}
	}
	return monitor.Outcome{}, nil
}

// record returns the recorded jobs.
func (p *pair) record(context.Context) (map[string]job.Job, map[string][]job.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	jobs := make(map[string]job.Job, len(p.jobs))
	for tag, j := range p.jobs {
		jobs[tag] = j
	}
	processes := make(map[string][]job.Process, len(p.processes))
	for tag, each := range p.processes {
		processes[tag] = slices.Clone(each)
	}
	return jobs, processes, nil
}

// Reflected implements [agent.Record].
func (p *pair) Reflected() int64 { return p.events.Load() }

// EachTouched implements [agent.Record].
func (p *pair) EachTouched(context.Context, int64, func(string)) (int64, error) {
	return p.events.Load(), nil
}

// serve runs the agent.
func (p *pair) serve(ctx context.Context, command remote.Command) int {
	from, to := counting{command.Stdin, nil, &p.read}, counting{nil, command.Stdout, &p.written}
	err := agent.Serve(ctx, from, to, agent.Options{Model: p.model, Manager: manager, Scheduler: &benchmarked{}, Record: p, Close: func() error { return nil }})
	if err != nil {
		return 1
	}
	return 0
}

// A counting counts bytes.
type counting struct {
	io.Reader
	io.Writer
	bytes *atomic.Int64
}

// Read implements [io.Reader].
func (c counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// Write implements [io.Writer].
func (c counting) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

// both returns both models once the client is up to date.
func (p *pair) both() (agents, clients *model.Manager) {
	synctest.Wait()
	agents, _ = p.model.Snapshot().Manager(manager)
	clients, _ = p.session.Model().Snapshot().Manager(p.session.Manager())
	return agents, clients
}

// An element is the visible content of an element of a model.
type element struct {
	parent, name string
	state        model.State
	attributes   map[string]string
}

// shown returns the visible content of the elements of a kind, without permitted differences: the
// protocol sends names, states and ids of jobs as attributes, changes tags, and resets a removed
// attribute to its default.
func shown(m *model.Manager, kind model.Kind) map[string]element {
	sent := []string{vocabulary.AttributeName, kind.StateAttribute(), "jobId", "jobSubId", vocabulary.AttributeJobTag}
	all := map[string]element{}
	for e := range m.All(kind) {
		shown := element{parent: e.Parent(), name: e.Name(), state: e.State(), attributes: map[string]string{}}
		for definition, value := range e.Attributes() {
			if !slices.Contains(sent, definition.ID) && !slices.Equal(value.Array(), definition.Default) {
				shown.attributes[definition.ID] = value.Text()
			}
		}
		all[e.ID()] = shown
	}
	return all
}

// requireSame requires both models to show the same.
func (p *pair) requireSame(about string) {
	agents, clients := p.both()
	for _, kind := range []model.Kind{model.Machine, model.Queue, model.Node, model.Job, model.Process} {
		require.Equal(p.t, shown(agents, kind), shown(clients, kind), "%s: %s", about, kind)
	}
}
