package tree

import (
	"context"
	"errors"
	"sync"
	"time"
)

// An upper is the asking end of a link: a client, or a relay nearer to it.
type upper struct {
	*link
	relay    *Relay
	isClient bool
	dirty    chan struct{} // the members changed

	pushing sync.Mutex
	pushed  int // version of the members that were sent last

	mutex      sync.Mutex
	running    map[string]context.CancelFunc // questions and launches
	redirected []string                      // where to connect instead
	requests   sync.WaitGroup
}

// serveUpper answers on a link behind the handshake until it ends, and returns the reason.
func (r *Relay) serveUpper(ctx context.Context, l *link, isClient bool) error {
	u := r.newUpper(l, isClient)
	return u.serve(ctx)
}

func (r *Relay) newUpper(l *link, isClient bool) *upper {
	l.carrier = r.carrier
	return &upper{link: l, relay: r, isClient: isClient, dirty: make(chan struct{}, 1), pushed: -1, running: map[string]context.CancelFunc{}}
}

func (u *upper) serve(ctx context.Context) error {
	r := u.relay
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, func() { u.end(errClosed) })()
	defer context.AfterFunc(ctx, func() { u.end(context.Cause(ctx)) })()
	r.mutex.Lock()
	r.uppers[u] = struct{}{}
	r.mutex.Unlock()
	if r.options.Streams != "" {
		r.carrier.addUpper(u.link)
	}
	u.start()
	u.requests.Go(func() { u.push(ctx) })
	for {
		m, err := u.receive()
		if err != nil {
			break
		}
		u.handle(ctx, m)
	}
	cancel()
	r.mutex.Lock()
	delete(r.uppers, u)
	r.mutex.Unlock()
	u.wait()
	u.requests.Wait()
	r.endChildrenOf(u)
	return u.reason
}

// handle starts what a message asks for. It does not wait.
func (u *upper) handle(ctx context.Context, m message) {
	switch m.Kind {
	case kindAsk:
		u.request(ctx, m, u.relay.answer)
	case kindLaunch:
		u.request(ctx, m, u.relay.answerLaunch)
	case kindList:
		u.request(ctx, m, func(ctx context.Context, u *upper, m message) {
			members, _ := u.relay.members(u)
			_ = u.send(ctx, message{Kind: kindMembers, ID: m.ID, Members: members}) // an error ends the link
		})
	case kindListen:
		u.request(ctx, m, u.relay.answerListen)
	case kindCancel:
		u.mutex.Lock()
		if cancel := u.running[m.ID]; cancel != nil {
			cancel()
		}
		u.mutex.Unlock()
	case kindRedirect:
		u.mutex.Lock()
		u.redirected = m.Addresses
		u.mutex.Unlock()
		u.end(errRedirected)
	}
}

var errRedirected = errors.New("redirected to another relay")

// request runs a request until it is answered or canceled, or the asker has gone.
func (u *upper) request(ctx context.Context, m message, run func(context.Context, *upper, message)) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if len(u.running) >= mostQuestions || u.running[m.ID] != nil {
		u.end(errors.New("the other end asks too many questions at a time"))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	u.running[m.ID] = cancel
	u.requests.Go(func() {
		run(ctx, u, m)
		u.mutex.Lock()
		delete(u.running, m.ID)
		u.mutex.Unlock()
		cancel()
	})
}

// push reports members upwards, now and whenever they change. Clients list them instead.
func (u *upper) push(ctx context.Context) {
	u.relay.Refresh()
	for {
		if !u.isClient && u.pushNow(ctx) != nil {
			return
		}
		select {
		case <-u.dirty:
		case <-u.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// pushNow sends the members unless the other end has them.
func (u *upper) pushNow(ctx context.Context) error {
	u.pushing.Lock()
	defer u.pushing.Unlock()
	u.relay.mutex.Lock()
	version := u.relay.version
	u.relay.mutex.Unlock()
	if version == u.pushed {
		return nil
	}
	members, height := u.relay.members(u)
	if err := u.send(ctx, message{Kind: kindMembers, Members: members, Height: height}); err != nil {
		return err
	}
	u.pushed = version
	return nil
}

// deadlineOf returns how long the relay itself may take for a question.
func deadlineOf(timeout time.Duration, height int) time.Duration {
	return timeout + time.Duration(height+1)*levelSlack
}
