package tree

import (
	"context"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// mostRegistrations bounds the processes of a host. The first ones that ended go first.
const mostRegistrations = 1 << 13

// recordPause follows an attempt to record that failed.
const recordPause = time.Second

// A host is the tracked processes of this host, in the process that is its relay.
type host struct {
	options JoinOptions
	relay   *Relay
	dirty   chan struct{}

	mutex   sync.Mutex
	entries []*entry // in the order in which they came
}

// An entry is a process of the host.
type entry struct {
	registration       Registration
	sequence, recorded int64
	done               func(sequence int64) // called once it is recorded
}

// serveHost is the relay of the host until the context ends.
func (m *Membership) serveHost(ctx context.Context, socket string) {
	_ = os.Remove(socket) // of a relay that was killed: the lock is ours
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return
	}
	if os.Chmod(socket, 0o600) != nil {
		_ = listener.Close() // another attempt follows
		return
	}
	h := &host{options: m.options, dirty: make(chan struct{}, 1)}
	local := m.options.Local(h.registered)
	h.relay = NewRelay(Options{Secret: m.options.Secret, Node: m.options.Node, Local: local, Job: m.options.Job, Place: m.options.place, tracked: true})
	recording, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { h.record(recording) })
	tasks.Go(func() { h.serveOwn(recording, m) })
	h.relay.tasks.Go(func() { h.relay.accept(listener, h.greet) })
	h.relay.tasks.Go(h.relay.follow)
	<-ctx.Done()
	h.relay.Close()
	stop()
	tasks.Wait()
}

// registered returns the processes that live.
func (h *host) registered() []Registration {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var live []Registration
	for _, one := range h.entries {
		if !one.registration.Ended && !one.registration.Lost {
			live = append(live, one.registration)
		}
	}
	return live
}

// serveOwn registers the process of the relay itself.
func (h *host) serveOwn(ctx context.Context, m *Membership) {
	own := h.add(m.setRecorded)
	for {
		current, sequence, _, progress := m.state()
		if sequence != own.sequence {
			h.set(own, current, sequence)
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return
		}
	}
}

// greet serves a member, or a relay of a client on this host.
func (h *host) greet(conn net.Conn, known func()) {
	if checkUser(conn) != nil {
		_ = conn.Close() // it may not learn why
		known()
		return
	}
	l := newLink(conn)
	ctx, cancel := context.WithTimeout(h.relay.ctx, handshakeLimit)
	hello, err := l.accept(ctx, h.options.Secret, roleMember, roleParent)
	cancel()
	known()
	switch {
	case err != nil:
		l.end(err)
	case hello.Role == roleParent:
		_ = h.relay.serveUpper(h.relay.ctx, l, false) // it comes again
	default:
		h.serveMember(l)
	}
}

// serveMember keeps the registration of a process until that ends.
func (h *host) serveMember(l *link) {
	defer context.AfterFunc(h.relay.ctx, func() { l.end(errClosed) })()
	l.start()
	one := h.add(func(sequence int64) {
		_ = l.send(h.relay.ctx, message{Kind: kindRegistered, Sequence: sequence}) // an error ends the link
	})
	for {
		m, err := l.receive()
		if err != nil {
			break
		}
		if m.Kind == kindRegister && m.Registered != nil && m.Sequence > 0 {
			m.Registered.Lost = false
			h.set(one, *m.Registered, m.Sequence)
		}
	}
	l.wait()
	h.leave(one)
}

func (h *host) add(done func(int64)) *entry {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.entries) >= mostRegistrations {
		if at := slices.IndexFunc(h.entries, func(one *entry) bool { return one.registration.Ended || one.registration.Lost }); at >= 0 {
			h.entries = slices.Delete(h.entries, at, at+1)
		}
	}
	one := &entry{registration: Registration{Lost: true}, done: done}
	h.entries = append(h.entries, one)
	return one
}

// set replaces a registration, and has it recorded.
func (h *host) set(one *entry, registration Registration, sequence int64) {
	h.mutex.Lock()
	one.registration, one.sequence = registration, sequence
	h.mutex.Unlock()
	h.changed()
}

// leave notes that a process has gone.
func (h *host) leave(one *entry) {
	h.mutex.Lock()
	one.done = func(int64) {}
	one.registration.Lost = !one.registration.Ended
	if one.sequence == 0 { // it has never registered
		h.entries = slices.DeleteFunc(h.entries, func(other *entry) bool { return other == one })
	}
	h.mutex.Unlock()
	h.changed()
}

func (h *host) changed() {
	select {
	case h.dirty <- struct{}{}:
	default:
	}
}

// record records the registrations whenever they change, and confirms those to members.
func (h *host) record(ctx context.Context) {
	for {
		select {
		case <-h.dirty:
		case <-ctx.Done():
			return
		}
		h.recordNow(ctx)
		h.relay.Refresh()
	}
}

func (h *host) recordNow(ctx context.Context) {
	h.mutex.Lock()
	var registrations []Registration
	sequences := map[*entry]int64{}
	for _, one := range h.entries {
		if one.sequence > 0 {
			registrations = append(registrations, one.registration)
			sequences[one] = one.sequence
		}
	}
	h.mutex.Unlock()
	if err := h.options.Record(ctx, registrations); err != nil {
		pause(ctx, recordPause)
		h.changed()
		return
	}
	for one, sequence := range sequences {
		h.mutex.Lock()
		isNew, done := sequence > one.recorded, one.done
		one.recorded = sequence
		h.mutex.Unlock()
		if isNew {
			done(sequence)
		}
	}
}
