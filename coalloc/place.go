package coalloc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path"
	"sync"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/remote"
)

const (
	// connectLimit bounds one attempt to connect, without the time that the user takes to answer questions.
	connectLimit = 2 * time.Minute
	// mostPreparations bounds how often a step is repeated because its link was lost.
	mostPreparations = 5
	firstRetry       = 100 * time.Millisecond
	lastRetry        = 15 * time.Second
	// lastingLink is how long a link must have lasted for a lost one to be restored without delay.
	lastingLink = 10 * time.Second
)

// A relay carries streams of processes on a target to this process.
type relay interface {
	AcceptStream(ctx context.Context) (net.Conn, error)
	Close() error
}

// A link is a connection to a target with the directory of the ensemble there.
type link struct {
	controller *control.Controller
	close      func() error
	nodes      *nodes.Directory
	name       string // of the directory of the ensemble
	directory  string // its path
	program    string // rmctl-node

	starting sync.Mutex // of a session, which one submission does for all

	// Settings of the target.
	relayAddress string
	defaults     map[string]string
}

// pass returns the path of the pass of a part.
func (l *link) pass(serial int) string {
	return path.Join(l.directory, fmt.Sprintf("part-%d.json", serial))
}

// startSession starts a session unless there is a young one.
func (l *link) startSession(ctx context.Context) error {
	l.starting.Lock()
	defer l.starting.Unlock()
	return l.controller.Start(ctx, false)
}

// A place is a target of an ensemble. It keeps a link to the target and a relay on it, and
// restores them when they are lost.
type place struct {
	name   string
	client Client
	log    *slog.Logger
	id     string // of the ensemble
	open   func(ctx context.Context, l *link) (relay, error)
	serve  func(ctx context.Context, accept rendezvous.Accept) error
	report func(err error) // called with nil once there is a link; must not block

	mutex   sync.Mutex
	current *link
	isMade  bool              // the target has the directory of the ensemble
	relay   relay             // nil while the target has no relay
	failure error             // why the last attempt failed
	changed chan struct{}     // closed at each change
	lost    chan struct{}     // receives when a user of the link notices that it is lost
	news    chan struct{}     // has a value when the next query of jobs is due
	jobs    map[int]*followed // by serial
}

// newPlace returns a place of an ensemble that is not connected.
func newPlace(e *Ensemble, target string) *place {
	return &place{
		name: target, client: e.client, log: e.log, id: e.id, open: openTop, report: func(err error) { e.connected(target, err) },
		serve: func(ctx context.Context, accept rendezvous.Accept) error {
			return e.server.Serve(ctx, accept, func(err error) {
				if ctx.Err() == nil {
					e.log.Debug("a process of the ensemble disconnected", "ensemble", e.id, "target", target, "error", err)
				}
			})
		},
		changed: make(chan struct{}), lost: make(chan struct{}, 1), news: make(chan struct{}, 1), jobs: map[int]*followed{},
	}
}

// NeedsLogin reports whether connecting fails until the user answers a question or accepts the key of a host.
func NeedsLogin(err error) bool {
	failed, isConnect := errors.AsType[*remote.ConnectError](err)
	return errors.Is(err, remote.ErrNobodyToAsk) || isConnect && (failed.Reason == remote.NotAuthenticated || failed.Reason == remote.UnknownHostKey)
}

// run maintains the link and the relay until ctx is done.
func (p *place) run(ctx context.Context) {
	pause := firstRetry
	for ctx.Err() == nil {
		begun := time.Now()
		p.session(ctx)
		if time.Since(begun) > lastingLink {
			pause = firstRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastRetry)
	}
}

// session makes a link, and maintains a relay on it until the link is lost.
func (p *place) session(ctx context.Context) {
	l, err := p.reach(ctx)
	if ctx.Err() != nil && err != nil {
		return
	}
	p.set(l, nil, err)
	p.report(err)
	if err != nil {
		return
	}
	defer func() {
		p.set(nil, nil, nil)
		_ = l.close() // what it carried is lost anyway
	}()
	pause := firstRetry
	for ctx.Err() == nil {
		begun := time.Now()
		err := p.relayStreams(ctx, l)
		if ctx.Err() != nil {
			return
		}
		p.set(l, nil, err)
		if errors.Is(err, remote.ErrUnreachable) {
			return
		}
		if time.Since(begun) > lastingLink {
			pause = firstRetry
		}
		select {
		case <-ctx.Done():
			return
		case <-p.lost:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, lastRetry)
	}
}

// relayStreams starts a relay and serves its streams until it ends, and returns why.
func (p *place) relayStreams(ctx context.Context, l *link) error {
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := p.open(ctx, l)
	if err != nil {
		cancel(nil)
		return err
	}
	p.set(l, r, nil)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer func() { _ = r.Close() }()
	defer cancel(nil)
	watching.Go(func() {
		select {
		case <-ctx.Done():
		case <-p.lost:
			cancel(remote.ErrUnreachable)
		}
	})
	err = p.serve(ctx, r.AcceptStream)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err
}

// reach makes a link. A connection that is lost meanwhile says little about the target, so reach tries again.
func (p *place) reach(ctx context.Context) (*link, error) {
	for attempt := 1; ; attempt++ {
		l, err := p.connect(ctx)
		failed, isFailed := errors.AsType[*remote.ConnectError](err)
		if !isFailed || failed.Reason != remote.Disconnected || attempt == mostPreparations || execution.ClosesWithin(ctx.Done(), firstRetry) {
			return l, err
		}
	}
}

// connect makes a link.
func (p *place) connect(ctx context.Context) (*link, error) {
	targets, err := p.client.Targets()
	if err != nil {
		return nil, err
	}
	target, err := targets.Find(p.name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	controller, closeLink, err := p.client.NewController(ctx, target)
	if err != nil {
		return nil, err
	}
	l, err := p.prepare(ctx, target, controller)
	if err != nil {
		return nil, errors.Join(err, closeLink())
	}
	l.close = closeLink
	return l, nil
}

// prepare makes the directory of the ensemble on the target.
func (p *place) prepare(ctx context.Context, target settings.Target, controller *control.Controller) (*link, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	directory, err := nodes.NewDirectory(controller.Connection, target.NodeDirectory, executable)
	if err != nil {
		return nil, err
	}
	l := &link{controller: controller, nodes: directory, name: directoryName(p.id, p.name), relayAddress: target.RelayAddress, defaults: target.Attributes}
	if l.directory, err = directory.Prepare(ctx, l.name); err == nil {
		l.program, err = directory.Program(ctx)
	}
	return l, err
}

// directoryName returns the name of the directory of an ensemble on a target. Targets on one host have
// directories and relays of their own.
func directoryName(id, target string) string {
	sum := sha256.Sum256([]byte(target))
	return "ensemble-" + id + "-" + hex.EncodeToString(sum[:4])
}

// set publishes a change of the place.
func (p *place) set(l *link, r relay, failure error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.current, p.relay, p.failure = l, r, failure
	p.isMade = p.isMade || l != nil
	close(p.changed)
	p.changed = make(chan struct{})
}

// noteLost restores the link if an error of its use shows that it is lost.
func (p *place) noteLost(err error) {
	if !errors.Is(err, remote.ErrUnreachable) {
		return
	}
	select {
	case p.lost <- struct{}{}:
	default: // it is known
	}
}

// now returns the link, or nil.
func (p *place) now() *link {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.current
}

// leave removes the directory of the ensemble from the target, once that can be reached.
func (p *place) leave(ctx context.Context) error {
	p.mutex.Lock()
	isMade := p.isMade
	p.mutex.Unlock()
	for isMade {
		l, err := p.anyLink(ctx)
		if err != nil {
			return err
		}
		err = l.nodes.RemoveJobs(ctx, []string{l.directory})
		if !errors.Is(err, remote.ErrUnreachable) {
			return err
		}
		p.noteLost(err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(firstRetry):
		}
	}
	return nil
}

// linkAfter waits for a link other than the lost one, which may be nil. It returns an error if the link cannot
// be made, unless a login would help.
func (p *place) linkAfter(ctx context.Context, lost *link) (*link, error) {
	return p.await(ctx, lost, func(failure error) bool { return failure != nil && !NeedsLogin(failure) })
}

// anyLink waits for the link, and ignores failures to make it.
func (p *place) anyLink(ctx context.Context) (*link, error) {
	return p.await(ctx, nil, func(error) bool { return false })
}

func (p *place) await(ctx context.Context, lost *link, isOver func(failure error) bool) (*link, error) {
	for {
		p.mutex.Lock()
		current, failure, changed := p.current, p.failure, p.changed
		p.mutex.Unlock()
		switch {
		case current != nil && current != lost:
			return current, nil
		case current == nil && isOver(failure):
			return nil, failure
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}
