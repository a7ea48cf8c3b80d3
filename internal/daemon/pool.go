package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/remote"
)

// A connection that was idle for checkAfter may be broken. It is tested, for at most
// checkPatience, before it is used again.
const (
	checkAfter    = 20 * time.Second
	checkPatience = 10 * time.Second
)

// mostConnections bounds the connections that are kept.
const mostConnections = 64

// placeKey identifies a place.
type placeKey struct{ transport, host, sshConfig, agent string }

func keyOf(place Place) placeKey {
	key := placeKey{transport: place.Transport, host: place.Host, sshConfig: place.SSHConfig}
	if len(place.Agent.Arguments) > 0 {
		key.agent = fmt.Sprintf("%q %s %q", place.Agent.Arguments, place.Agent.Proxy, place.Agent.Environment)
	}
	return key
}

// pool keeps one connection for each place.
type pool struct {
	ctx     context.Context // of all connections
	connect func(context.Context, Place, remote.Prompter) (remote.Connection, error)
	log     *slog.Logger
	check   time.Duration

	mutex sync.Mutex
	kept  map[placeKey]*kept
	work  sync.WaitGroup // connections being made or closed
}

// kept is a connection, or an attempt to make one.
type kept struct {
	place   Place
	made    chan struct{} // closed when connection and err are final
	cancel  context.CancelFunc
	waiting waiters

	connection remote.Connection
	err        error

	// Of the pool's mutex.
	since, used time.Time
	users       int
	commands    int
	untried     bool // it was idle for long and not tested since
	gone        bool // get no longer returns it
	closed      bool
}

func newPool(ctx context.Context, o Options) *pool {
	return &pool{ctx: ctx, connect: o.Connect, log: o.Log, check: checkAfter, kept: map[placeKey]*kept{}}
}

// get returns the connection to a place, and makes it if needed. It may be used
// until it is released. Prompter asks the client.
func (p *pool) get(ctx context.Context, place Place, prompter remote.Prompter) (*kept, error) {
	for {
		k, leave, err := p.join(ctx, place, prompter)
		if err != nil {
			return nil, err
		}
		select {
		case <-k.made:
			leave()
		case <-ctx.Done():
			p.giveUp(k, leave)
			return nil, ctx.Err()
		}
		if k.err != nil {
			return nil, k.err
		}
		unchecked, usable := p.use(k)
		if !usable {
			p.closeUnused(k)
			continue
		}
		if unchecked && !p.works(ctx, k) {
			p.release(k)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue
		}
		return k, nil
	}
}

// join adds a client that waits for the connection to a place, and starts to make it if needed.
func (p *pool) join(ctx context.Context, place Place, prompter remote.Prompter) (*kept, func(), error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err := p.ctx.Err(); err != nil {
		return nil, nil, err
	}
	k := p.kept[keyOf(place)]
	if k == nil {
		if len(p.kept) >= mostConnections {
			return nil, nil, fmt.Errorf("%d connections are open: close some with rmctl conn close", mostConnections)
		}
		making, cancel := context.WithCancel(p.ctx)
		k = &kept{place: place, made: make(chan struct{}), cancel: cancel}
		p.kept[keyOf(place)] = k
		// It may ask at once, so it starts after the client was added.
		defer p.work.Go(func() { p.make(making, k) })
	}
	return k, k.waiting.add(ctx, prompter), nil
}

// make makes a connection.
func (p *pool) make(ctx context.Context, k *kept) {
	connection, err := p.connect(ctx, k.place, &k.waiting)
	p.mutex.Lock()
	k.connection, k.err = connection, err
	k.since = time.Now()
	k.used = k.since
	abandoned := err == nil && ctx.Err() != nil
	if err != nil || abandoned {
		p.forget(k)
	}
	p.mutex.Unlock()
	close(k.made)
	if err != nil {
		p.log.Info("connecting failed", "host", k.place.Host, "transport", k.place.Transport, "error", err)
		return
	}
	p.log.Info("connected", "host", k.place.Host, "transport", k.place.Transport)
	if abandoned {
		p.closeUnused(k)
	}
}

// giveUp removes a waiting client. The last one cancels the attempt.
func (p *pool) giveUp(k *kept, leave func()) {
	leave()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !execution.IsClosed(k.made) && k.waiting.count() == 0 {
		p.forget(k)
		k.cancel()
	}
}

// forget keeps get from returning a connection again. The mutex is held.
func (p *pool) forget(k *kept) {
	k.gone = true
	if p.kept[keyOf(k.place)] == k {
		delete(p.kept, keyOf(k.place))
	}
}

// use counts a user. It reports whether the connection must be tested first, and
// whether it can be used at all.
func (p *pool) use(k *kept) (unchecked, usable bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if k.gone {
		return false, false
	}
	if hasEnded(k.connection) {
		p.log.Info("connection ended", "host", k.place.Host)
		p.forget(k)
		return false, false
	}
	k.untried = k.untried || time.Since(k.used) > p.check
	unchecked = k.users == 0 && k.untried
	k.users++
	return unchecked, true
}

// hasEnded reports whether a connection knows that it has ended.
func hasEnded(connection remote.Connection) bool {
	noticing, able := connection.(interface{ Ended() <-chan struct{} })
	return able && execution.IsClosed(noticing.Ended())
}

// release ends the use of a connection that get returned.
func (p *pool) release(k *kept) {
	p.mutex.Lock()
	k.users--
	k.used = time.Now()
	p.mutex.Unlock()
	p.closeUnused(k)
}

// closeUnused closes a removed connection once it is unused.
func (p *pool) closeUnused(k *kept) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !k.gone || k.users > 0 || k.closed || k.connection == nil {
		return
	}
	k.closed = true
	p.work.Go(func() {
		if err := k.connection.Close(); err != nil {
			p.log.Info("closing a connection", "host", k.place.Host, "error", err)
		}
		k.cancel()
	})
}

// works tests a connection, and forgets one that does not work. If the client gives up
// during the test, the connection stays, because others may be using it.
func (p *pool) works(ctx context.Context, k *kept) bool {
	trial, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	_, err := k.connection.Stat(trial, ".")
	switch {
	case err == nil, !errors.Is(err, remote.ErrUnreachable) && trial.Err() == nil:
		// An error of the file system comes from a place that is there.
		p.mutex.Lock()
		defer p.mutex.Unlock()
		k.untried = false
		return true
	case ctx.Err() == nil, errors.Is(err, remote.ErrUnreachable):
		p.markLost(k, err)
	}
	return false
}

// markLost makes the next request connect again.
func (p *pool) markLost(k *kept, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !k.gone {
		p.log.Info("connection lost", "host", k.place.Host, "error", err)
		p.forget(k)
	}
}

// closeIdle closes connections that were idle for longer.
func (p *pool) closeIdle(longest time.Duration) {
	for _, k := range p.all() {
		p.mutex.Lock()
		idle := k.users == 0 && k.connection != nil && k.waiting.count() == 0 && time.Since(k.used) > longest && !isBusy(k.connection)
		if idle {
			p.forget(k)
		}
		p.mutex.Unlock()
		if idle {
			p.log.Info("closing an idle connection", "host", k.place.Host)
			p.closeUnused(k)
		}
	}
}

// isBusy reports whether a connection has to stay although nobody uses it, as the session with
// an agent that has jobs of this user.
func isBusy(connection remote.Connection) bool {
	working, able := connection.(interface{ IsBusy() bool })
	return able && working.IsBusy()
}

// isBusy reports whether a connection has to stay.
func (p *pool) isBusy() bool {
	return slices.ContainsFunc(p.all(), func(k *kept) bool { return execution.IsClosed(k.made) && k.connection != nil && isBusy(k.connection) })
}

func (p *pool) all() []*kept {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Collect(maps.Values(p.kept))
}

// closePlaces closes the connections to the places, or all if places is empty, and
// returns them. What runs over them is lost.
func (p *pool) closePlaces(places []Place) []ConnectionInfo {
	selected := map[placeKey]bool{}
	for _, place := range places {
		selected[keyOf(place)] = true
	}
	p.mutex.Lock()
	var closing []*kept
	var closed []ConnectionInfo
	for key, k := range p.kept {
		if len(selected) > 0 && !selected[key] {
			continue
		}
		p.forget(k)
		k.cancel()
		if k.connection != nil && !k.closed {
			k.closed = true
			closing = append(closing, k)
		}
		closed = append(closed, k.describe())
	}
	p.mutex.Unlock()
	for _, k := range closing {
		if err := k.connection.Close(); err != nil {
			p.log.Info("closing a connection", "host", k.place.Host, "error", err)
		}
	}
	sortConnections(closed)
	return closed
}

// close closes all connections and waits until that is done.
func (p *pool) close() {
	p.closePlaces(nil)
	p.work.Wait()
}

// list describes the connections, by place.
func (p *pool) list() []ConnectionInfo {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	list := make([]ConnectionInfo, 0, len(p.kept))
	for _, k := range p.kept {
		list = append(list, k.describe())
	}
	sortConnections(list)
	return list
}

func sortConnections(list []ConnectionInfo) {
	sorting.Stable(list, func(a, b ConnectionInfo) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Transport, b.Transport), cmp.Compare(a.SSHConfig, b.SSHConfig))
	})
}

// describe needs the pool's mutex.
func (k *kept) describe() ConnectionInfo {
	info := ConnectionInfo{
		Transport: k.place.Transport, Host: k.place.Host, SSHConfig: k.place.SSHConfig, Agent: strings.Join(k.place.Agent.Arguments, " "), Proxy: k.place.Agent.Proxy,
		Since: k.since, Used: k.used, Users: k.users, Commands: k.commands,
	}
	if !execution.IsClosed(k.made) {
		info.Connecting, info.Waiting = true, k.waiting.count()
	}
	return info
}

// noteLoss forgets a connection if the error means that it is lost. It returns the error.
func (p *pool) noteLoss(k *kept, err error) error {
	if errors.Is(err, remote.ErrUnreachable) && !keepsConnection(err) {
		p.markLost(k, err)
	}
	return err
}

// keepsConnection reports whether an error says that only what runs over the connection is
// lost, such as the session with an agent.
func keepsConnection(err error) bool {
	var lost interface{ KeepsConnection() bool }
	return errors.As(err, &lost) && lost.KeepsConnection()
}

func (p *pool) countCommand(k *kept) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	k.commands++
}
