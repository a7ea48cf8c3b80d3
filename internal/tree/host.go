package tree

import (
	"context"
	"net"
	"os"
	"slices"
	"sync"
)

// mostRegistrations bounds the processes of a host.
const mostRegistrations = 1 << 13

// A host is the tracked processes of this host, in the process that is its relay.
type host struct {
	relay *Relay
	dirty chan struct{} // holds an element if processes came or went since the last refresh

	mutex   sync.Mutex
	present []*RankProcess // in the order in which they came
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
	h := &host{dirty: make(chan struct{}, 1)}
	local := m.options.Local(h.registered)
	h.relay = NewRelay(Options{Secret: m.options.Secret, Node: m.options.Node, Local: local, Job: m.options.Job, Place: m.options.place, tracked: true})
	h.add(m.process)
	var refreshing sync.WaitGroup
	refreshing.Go(func() { h.refresh(ctx) })
	h.relay.tasks.Go(func() { h.relay.accept(listener, h.greet) })
	h.relay.tasks.Go(h.relay.follow)
	<-ctx.Done()
	h.relay.Close()
	refreshing.Wait()
}

// registered returns the tracked processes of the host.
func (h *host) registered() []RankProcess {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	processes := make([]RankProcess, len(h.present))
	for i, process := range h.present {
		processes[i] = *process
	}
	return processes
}

// greet serves a member, or a relay of a client on this host.
func (h *host) greet(conn net.Conn, known func()) {
	if checkUser(conn) != nil {
		_ = conn.Close() // the other end may not learn why
		known()
		return
	}
	l := newLink(conn)
	ctx, cancel := context.WithTimeout(h.relay.ctx, handshakeLimit)
	hello, err := l.accept(ctx, h.relay.options.Secret, roleMember, roleParent)
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

// serveMember serves a tracked process.
func (h *host) serveMember(l *link) {
	defer context.AfterFunc(h.relay.ctx, func() { l.end(errClosed) })()
	l.start()
	if m, err := l.receive(); err == nil && m.Kind == kindRegister && m.Registered != nil {
		h.keep(l, *m.Registered)
	}
	l.end(errClosed)
	l.wait()
}

// keep registers a process until its link ends.
func (h *host) keep(l *link, process RankProcess) {
	remove := h.add(process)
	if remove == nil {
		return
	}
	defer remove()
	err := l.send(h.relay.ctx, message{Kind: kindRegistered})
	for err == nil {
		_, err = l.receive()
	}
}

// add registers a process, and returns a function that removes it; nil if there are too many.
func (h *host) add(process RankProcess) (remove func()) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.present) >= mostRegistrations {
		return nil
	}
	h.present = append(h.present, &process)
	h.changed()
	return func() {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		h.present = slices.DeleteFunc(h.present, func(other *RankProcess) bool { return other == &process })
		h.changed()
	}
}

func (h *host) changed() {
	select {
	case h.dirty <- struct{}{}:
	default:
	}
}

// refresh has the relay report the processes whenever they change.
func (h *host) refresh(ctx context.Context) {
	for {
		select {
		case <-h.dirty:
			h.relay.Refresh()
		case <-ctx.Done():
			return
		}
	}
}
