package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

// A breakable is a connection whose newest program can be killed or cut off.
type breakable struct {
	remote.Connection
	mu     sync.Mutex
	handle remote.Handle
	cut    func()
}

// Start implements [remote.Connection].
func (c *breakable) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	input, feed := io.Pipe()
	output := &severed{Writer: command.Stdout}
	go func(from io.Reader) {
		_, err := io.Copy(feed, from)
		_ = feed.CloseWithError(err)
	}(command.Stdin)
	command.Stdin, command.Stdout = input, output
	handle, err := c.Connection.Start(ctx, command)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handle, c.cut = handle, func() {
		output.isCut.Store(true)
		_ = feed.Close()
	}
	return handle, err
}

// kill kills the program; sever ends its streams.
func (c *breakable) kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handle.Signal(syscall.SIGKILL)
}

func (c *breakable) sever() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut()
}

// A severed passes on what is written until it is cut, then half of what follows: frames break off.
type severed struct {
	io.Writer
	isCut atomic.Bool
}

var errCut = errors.New("cut off")

// Write implements [io.Writer].
func (s *severed) Write(p []byte) (int, error) {
	if !s.isCut.Load() {
		return s.Writer.Write(p)
	}
	n, err := s.Writer.Write(p[:len(p)/2])
	return n, errors.Join(err, errCut)
}

// A holder is a client that is killed again and again, as are its agent and connection.
type holder struct {
	t       *testing.T
	options agentclient.Options
	place   *breakable

	following sync.WaitGroup // of the model of the session

	mu      sync.Mutex
	renewed *sync.Cond // when there is another session
	session *agentclient.Session
	end     context.CancelFunc // of the session, without ceremony

	accepted          map[string]bool // submissions
	refused, doubtful int

	kills    [3]int                     // of the agent, the connection and the client
	seen     map[string]map[string]bool // details of jobs
	newest   map[string]model.State     // of jobs
	problems []string
	names    map[string]string // ids at the scheduler, of jobs
	made     map[string]string // the same, of submissions
}

func newHolder(t *testing.T, options agentclient.Options, place *breakable) *holder {
	options.Connection = place
	h := &holder{t: t, options: options, place: place, accepted: map[string]bool{}, seen: map[string]map[string]bool{}, newest: map[string]model.State{},
		names: map[string]string{}, made: map[string]string{}}
	h.renewed = sync.NewCond(&h.mu)
	return h
}

// ranks are the states of jobs in their order.
var ranks = map[model.State]int{"PENDING": 1, "RUNNING": 2, "TERMINATED": 3, "ERROR": 3}

// start starts a session, with what the client knows or as one that was killed. It follows the
// model in a goroutine.
func (h *holder) start(state *agentclient.State) error {
	for {
		ctx, cancel := context.WithCancel(h.t.Context())
		options := h.options
		options.Resume = state
		s, err := agentclient.Start(ctx, options)
		if err == nil {
			h.mu.Lock()
			h.session, h.end = s, cancel
			h.mu.Unlock()
			h.renewed.Broadcast()
			h.following.Go(func() { h.follow(ctx, s) })
			return nil
		}
		cancel()
		if h.t.Context().Err() != nil {
			return err
		}
	}
}

// current waits for a session that has not ended.
func (h *holder) current() *agentclient.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	for execution.IsClosed(h.session.Done()) && h.t.Context().Err() == nil {
		h.renewed.Wait()
	}
	return h.session
}

// follow notes the states that the model shows.
func (h *holder) follow(ctx context.Context, s *agentclient.Session) {
	var before *model.Manager
	snapshot := s.Model().Snapshot()
	for {
		now, _ := snapshot.Manager(s.Manager())
		h.mu.Lock()
		for change := range now.Changes(model.Job, before) {
			if change.After != nil {
				h.note(change.After)
			}
		}
		h.mu.Unlock()
		before = now
		var err error
		if snapshot, err = s.Model().Next(ctx, snapshot); err != nil {
			return
		}
	}
}

// note notes the state of a job.
func (h *holder) note(e *model.Element) {
	detail, _ := e.Value("jobDetail")
	name, _ := e.Value("jobId")
	h.names[e.ID()] = name.Text()
	if submission, known := e.Value("jobSubId"); known {
		h.made[submission.Text()] = name.Text()
	}
	if e.State() == "UNKNOWN" {
		return // which claims nothing
	}
	if _, isDoubtful := e.Value("jobDoubt"); isDoubtful {
		return // which may be an old state
	}
	if ranks[e.State()] < ranks[h.newest[e.ID()]] {
		h.problems = append(h.problems, e.ID()+" was "+string(h.newest[e.ID()])+" and is "+string(e.State()))
	}
	h.newest[e.ID()] = e.State()
	if h.seen[e.ID()] == nil {
		h.seen[e.ID()] = map[string]bool{}
	}
	h.seen[e.ID()][detail.Text()] = true
}

// disturb kills something now and then, so many times or until the context ends. A session may last about
// as long as it takes to start one.
func (h *holder) disturb(ctx context.Context, random *rand.Rand, times int) error {
	const shortest, usual = 50 * time.Millisecond, 300 * time.Millisecond
	starting := time.Duration(0)
	for range times {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(shortest + time.Duration(random.Int64N(int64(max(usual, 2*starting))))):
		}
		s := h.current()
		which := random.IntN(len(h.kills))
		h.kills[which]++
		switch which {
		case 0:
			_ = h.place.kill()
		case 1:
			h.place.sever()
		case 2:
			h.end()
		}
		<-s.Done()
		h.end()
		h.following.Wait()
		var state *agentclient.State
		if which != 2 {
			state = s.State()
		}
		begun := time.Now()
		if err := h.start(state); err != nil {
			return err
		}
		starting = time.Since(begun)
	}
	return nil
}

// submit submits a job until the agent reports the result, or the context ends.
func (h *holder) submit(ctx context.Context) {
	const pace = 50 * time.Millisecond
	id := uuid.NewString()
	for h.t.Context().Err() == nil {
		_, err := h.current().Submit(h.t.Context(), proxy.Attributes{{ID: "jobSubId", Value: id}, {ID: "execName", Value: "true"}})
		refused, isRefused := errors.AsType[*agentclient.RefusedError](err)
		isDoubtful := isRefused && strings.Contains(refused.Text, "not known whether")
		if isDoubtful && ctx.Err() == nil {
			select { // with the next attempt the scheduler is queried again
			case <-ctx.Done():
			case <-time.After(pace):
			}
		} else if err == nil || isRefused {
			h.count(id, err == nil, isDoubtful)
			return
		}
	}
}

// count notes what became of a submission.
func (h *holder) count(id string, isAccepted, isDoubtful bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case isAccepted:
		h.accepted[id] = true
	case isDoubtful:
		h.doubtful++
	default:
		h.refused++
	}
}

// Agents, clients and connections that end at any moment lose no job, double none, and show no
// state that the scheduler did not have. RMCTL_CHAOS says how many jobs.
func TestKilledAgentsAndClientsLoseOrDuplicateNoJob(t *testing.T) {
	t.Parallel()
	submissions, seed := number(t, "RMCTL_CHAOS", 300), number(t, "RMCTL_SEED", 1)
	house := newChaos(t, "CHAOS_RELIABLE=1", "CHAOS_SEED="+strconv.Itoa(seed))
	local, err := remote.NewLocalWith(200*time.Millisecond, 2*time.Second)
	require.NoError(t, err)
	program, err := exec.LookPath("rmctl")
	require.NoError(t, err)
	h := newHolder(t, agentclient.Options{Agent: []string{program, "agent", "-t", "chaos", "--proxy=stdio"}, Session: uuid.NewString(), Manager: "chaos"},
		&breakable{Connection: daemon.InEnvironment(atHome{local, house.home}, house.environment())})
	require.NoError(t, h.start(nil))
	ctx, calm := context.WithCancel(t.Context())
	defer calm()
	var disturbed errgroup.Group
	disturbed.Go(func() error { return h.disturb(ctx, rand.New(rand.NewPCG(1, uint64(seed))), 1+submissions/40) })
	var work sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(submissions))
	for range 8 {
		work.Go(func() {
			for left.Add(-1) >= 0 {
				h.submit(ctx)
			}
			calm() // the last ones need not be killed to the end
		})
	}
	work.Wait()
	require.NoError(t, disturbed.Wait())
	require.Positive(t, h.kills[0]+h.kills[1]+h.kills[2])
	h.awaitEnds()
	require.NoError(t, h.current().Close())
	h.mu.Lock()
	defer h.mu.Unlock()
	jobs := h.jobs()
	h.requireTruth(house, jobs)
	t.Logf("%d submissions: %d jobs, %d refused, %d in doubt; killed: %d agents, %d connections, %d clients",
		submissions, len(jobs), h.refused, h.doubtful, h.kills[0], h.kills[1], h.kills[2])
}

// awaitEnds waits until the model has all jobs of accepted submissions, and all of them have ended.
func (h *holder) awaitEnds() {
	s := h.current()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Minute) // long lists are refreshed rarely
	defer cancel()
	require.NoError(h.t, s.Listed(ctx))
	for {
		snapshot, open := s.Model().Snapshot(), maps.Clone(h.accepted)
		now, _ := snapshot.Manager(s.Manager())
		for e := range now.All(model.Job) {
			if submission, _ := e.Value("jobSubId"); ranks[e.State()] == 3 {
				delete(open, submission.Text())
			}
		}
		if len(open) == 0 {
			return
		}
		_, err := s.Model().Next(ctx, snapshot)
		require.NoError(h.t, err, "jobs have not ended: %v", open)
	}
}

// jobs returns the ids at the scheduler of the jobs of accepted submissions. A job that was announced
// before it had one keeps the id that it got then.
func (h *holder) jobs() map[string]bool {
	jobs := map[string]bool{}
	for submission := range h.accepted {
		require.NotContains(h.t, jobs, h.made[submission], "two submissions got one job")
		jobs[h.made[submission]] = true
	}
	return jobs
}

// requireTruth demands that the scheduler has the jobs that were accepted, and no others; that they are
// on record; and that their states were those of the scheduler.
func (h *holder) requireTruth(house *household, accepted map[string]bool) {
	t := h.t
	output, err := house.command(house.chaos(), "truth").Output()
	require.NoError(t, err)
	ends, tags := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(string(output)) {
		fields := strings.Fields(line)
		require.NotContains(t, tags, fields[1], "submitted twice")
		ends[fields[0]], tags[fields[1]] = fields[2], true
	}
	require.Subset(t, slices.Collect(maps.Keys(ends)), slices.Collect(maps.Keys(accepted)), "a job is lost")
	require.Len(t, ends, len(accepted), "a submission was not accepted and became a job")
	store, err := jobstore.Open(t.Context(), house.path(".local/state/rmctl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	records, err := store.List(t.Context(), jobstore.Filter{All: true})
	require.NoError(t, err)
	ended := 0
	for _, j := range records {
		require.Equal(t, j.ID != "", accepted[j.ID], "submission %s, job %q: %s", j.Tag, j.ID, j.Phase)
		if j.Detail.Ended() {
			ended++
		}
	}
	require.Greater(t, ended, len(accepted)/2)
	require.Empty(t, h.problems)
	shown := 0
	for id, details := range h.seen {
		for detail := range details {
			isOpen := detail == "" || detail == string(job.Submitted) || detail == "QUEUED_ACTIVE" || detail == "RUNNING"
			require.True(t, isOpen || detail == ends[h.names[id]], "job %s, which ended as %s, was shown as %s", id, ends[h.names[id]], detail)
			if !isOpen {
				shown++
			}
		}
	}
	t.Logf("%d jobs ended on record, %d were shown as ended", ended, shown)
}
