package rendezvous_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// A place is a co-allocator that processes of a test connect to.
type place struct {
	t      testing.TB
	key    *rendezvous.Key
	server *rendezvous.Server
	ctx    context.Context

	listener net.Listener
	delay    time.Duration // of each way
	accepted chan net.Conn

	mutex   sync.Mutex
	events  []rendezvous.ProcessEvent
	changed chan struct{}
	count   int      // of connections
	last    net.Conn // the co-allocator's end of the newest connection
}

func newPlace(t testing.TB) *place {
	t.Helper()
	key, err := rendezvous.NewKey()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	// Unlike net.Pipe, a socket has buffers, so both ends may write at the same time.
	folder, err := os.MkdirTemp("", "rmctl-")
	require.NoError(t, err)
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(t, err)
	p := &place{t: t, key: key, ctx: ctx, changed: make(chan struct{}), listener: listener, accepted: make(chan net.Conn)}
	go p.accepts()
	p.server = rendezvous.NewServer(key, "e", p.observe)
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		p.server.Close()
		require.NoError(t, os.RemoveAll(folder))
	})
	return p
}

func (p *place) accepts() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.accepted <- conn
	}
}

// restarts replaces the server by a new one.
func (p *place) restarts() {
	p.server.Close()
	p.server = rendezvous.NewServer(p.key, "e", p.observe)
}

func (p *place) observe(event rendezvous.ProcessEvent) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.events = append(p.events, event)
	close(p.changed)
	p.changed = make(chan struct{})
}

// awaits waits for an event that fits.
func (p *place) awaits(fits func(rendezvous.ProcessEvent) bool) rendezvous.ProcessEvent {
	p.t.Helper()
	for {
		p.mutex.Lock()
		for _, event := range p.events {
			if fits(event) {
				p.mutex.Unlock()
				return event
			}
		}
		changed := p.changed
		p.mutex.Unlock()
		select {
		case <-changed:
		case <-p.ctx.Done():
			require.Fail(p.t, "the event did not come")
		}
	}
}

func (p *place) awaitsKind(kind rendezvous.EventKind) rendezvous.ProcessEvent {
	p.t.Helper()
	return p.awaits(func(event rendezvous.ProcessEvent) bool { return event.Kind == kind })
}

// dial connects to the server of the place.
func (p *place) dial(ctx context.Context) (net.Conn, error) {
	near, err := (&net.Dialer{}).DialContext(ctx, "unix", p.listener.Addr().String())
	if err != nil {
		return nil, err
	}
	far := <-p.accepted
	p.mutex.Lock()
	p.last = far
	p.count++
	server := p.server
	p.mutex.Unlock()
	if p.delay > 0 {
		near, far = delay(near, p.delay), delay(far, p.delay)
	}
	go func() { _ = serve(p.ctx, server, far) }()
	return near, nil
}

// serve serves one connection, and returns how it ended.
func serve(ctx context.Context, server *rendezvous.Server, conn net.Conn) (end error) {
	isAccepted := false
	_ = server.Serve(ctx, func(context.Context) (net.Conn, error) {
		if isAccepted {
			return nil, net.ErrClosed
		}
		isAccepted = true
		return conn, nil
	}, func(err error) { end = err })
	return end
}

func (p *place) pass(serial, count int) *rendezvous.Pass {
	return &rendezvous.Pass{
		Version: 1, Ensemble: "e", Serial: serial, Index: serial, Label: "part", Gate: rendezvous.GateHeld, Count: count, Joins: true,
		Fingerprint: p.key.Fingerprint(), Secret: p.key.PartSecret(serial), Arguments: []string{"true"}, Wait: time.Minute,
	}
}

func part(serial, count int) rendezvous.Part {
	return rendezvous.Part{Serial: serial, Index: serial, Label: "part", Count: count, Gate: rendezvous.GateHeld, Joins: true}
}

func process(rank int) rendezvous.Identity {
	return rendezvous.Identity{Instance: rendezvous.NewInstance(), Host: "node", Rank: rank}
}

// An outcome is how a check-in ended.
type outcome struct {
	session *rendezvous.Session
	err     error
}

// checksIn starts a process that checks in.
func (p *place) checksIn(pass *rendezvous.Pass, identity rendezvous.Identity) <-chan outcome {
	return p.votes(p.ctx, pass, identity, rendezvous.Vote{})
}

func (p *place) votes(ctx context.Context, pass *rendezvous.Pass, identity rendezvous.Identity, vote rendezvous.Vote) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		session, err := rendezvous.CheckIn(ctx, p.dial, pass, identity, vote)
		ended <- outcome{session, err}
	}()
	return ended
}

// releases releases parts that are complete.
func (p *place) releases(serials ...int) []rendezvous.Roster {
	p.t.Helper()
	rosters, err := p.server.Freeze(p.ctx, serials)
	require.NoError(p.t, err)
	p.server.Release(rosters)
	return rosters
}

// awaitsComplete waits until a part is complete.
func (p *place) awaitsComplete(serial int) {
	p.t.Helper()
	p.awaits(func(event rendezvous.ProcessEvent) bool { return event.Serial == serial && event.Complete })
}

// session waits for the release of a process.
func (p *place) session(ended <-chan outcome) *rendezvous.Session {
	p.t.Helper()
	select {
	case o := <-ended:
		require.NoError(p.t, o.err)
		p.t.Cleanup(func() { _ = o.session.Close() })
		return o.session
	case <-p.ctx.Done():
		require.Fail(p.t, "the process was not released")
		return nil
	}
}

func requireAborted(t *testing.T, err error) {
	t.Helper()
	var abort *rendezvous.AbortError
	require.True(t, errors.As(err, &abort), "%v", err)
}

func requireRefused(t *testing.T, err error) {
	t.Helper()
	var refused *rendezvous.RefusedError
	require.True(t, errors.As(err, &refused), "%v", err)
}

func (p *place) connections() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.count
}
