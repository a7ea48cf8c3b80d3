package tree

import (
	"context"
	"net"
	"time"
)

// JoinOptions configure a membership.
type JoinOptions struct {
	Job     string // directory of the job; its last part names the socket
	Private string // the private directory of the user on this host
	Node    string
	Secret  []byte
	// Local returns what answers if this process becomes the relay. Registered returns the
	// tracked processes of this host.
	Local func(registered func() []RankProcess) Local

	place string // for tests: "" is this machine
}

// A Membership is a tracked process among those of its host. One of them is the relay of
// the host; when it ends, the others elect another one.
type Membership struct {
	options JoinOptions
	process RankProcess
	cancel  context.CancelFunc
	ended   chan struct{}
}

// Join lets a process take part until Leave. It does not wait for others.
func Join(ctx context.Context, options JoinOptions, process RankProcess) *Membership {
	ctx, cancel := context.WithCancel(ctx)
	m := &Membership{options: options, process: process, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		m.run(ctx)
	}()
	return m
}

// Leave ends the membership. If this process is the relay, others become it.
func (m *Membership) Leave() {
	m.cancel()
	<-m.ended
}

// Times between two attempts to become the relay of the host or find it.
const (
	shortestElection = 5 * time.Millisecond
	longestElection  = time.Second
)

// run acts as the relay of the host, or as a member of another one, until Leave.
func (m *Membership) run(ctx context.Context) {
	socket, lock := hostFiles(m.options.Private, m.options.Job)
	wait := shortestElection
	for ctx.Err() == nil {
		file, err := tryLock(lock)
		switch {
		case err != nil: // the disk is full, or the directory has gone
		case file != nil:
			m.serveHost(ctx, socket)
			unlock(file)
		default:
			if conn, err := dialHost(ctx, socket); err == nil && m.follow(ctx, conn) {
				wait = shortestElection
				continue
			}
		}
		pause(ctx, wait)
		wait = min(wait*2, longestElection)
	}
}

// follow registers with the relay of the host until either ends. It reports whether the
// relay took the registration.
func (m *Membership) follow(ctx context.Context, conn net.Conn) (wasRegistered bool) {
	l := newLink(conn)
	limited, cancel := context.WithTimeout(ctx, handshakeLimit)
	err := l.dial(limited, m.options.Secret, message{Role: roleMember}, false)
	cancel()
	if err != nil {
		l.end(err)
		return false
	}
	defer context.AfterFunc(ctx, func() { l.end(context.Cause(ctx)) })()
	l.start()
	if err := l.send(ctx, message{Kind: kindRegister, Registered: &m.process}); err != nil {
		l.end(err)
	}
	for {
		answer, err := l.receive()
		if err != nil {
			break
		}
		if answer.Kind == kindRegistered {
			wasRegistered = true
		}
	}
	l.wait()
	return wasRegistered
}
