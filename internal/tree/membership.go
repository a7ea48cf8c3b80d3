package tree

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"
)

// A Registration is a tracked process, as the relay of its host knows it.
type Registration struct {
	Process RankProcess     `json:"process"`
	Ended   bool            `json:"ended,omitempty"`
	Lost    bool            `json:"lost,omitempty"`   // its connection ended without a report of its end; the relay sets it
	Detail  json.RawMessage `json:"detail,omitempty"` // for Record
}

// JoinOptions are how a tracked process takes part.
type JoinOptions struct {
	Job     string // directory of the job; its last part names the socket
	Private string // the private directory of the user on this host
	Node    string
	Secret  []byte
	// Local returns what answers if this process becomes the relay. Registered returns the
	// processes that live.
	Local func(registered func() []Registration) Local
	// Record stores all registrations of the host since this process became its relay,
	// ended ones included. Calls follow each other.
	Record func(ctx context.Context, registrations []Registration) error

	place string // for tests: "" is this machine
}

// A Membership is a tracked process among those of its host. One of them is the relay of
// the host; when it ends, the others elect another one.
type Membership struct {
	options JoinOptions
	cancel  context.CancelFunc
	ended   chan struct{}

	mutex    sync.Mutex
	current  Registration
	sequence int64         // of current
	recorded int64         // sequence that a relay has recorded
	progress chan struct{} // closed when either changes
}

// Join lets a process take part until Leave. It does not wait for others.
func Join(ctx context.Context, options JoinOptions, registration Registration) *Membership {
	ctx, cancel := context.WithCancel(ctx)
	m := &Membership{options: options, cancel: cancel, ended: make(chan struct{}), current: registration, sequence: 1, progress: make(chan struct{})}
	go func() {
		defer close(m.ended)
		m.run(ctx)
	}()
	return m
}

// Update replaces the registration. It returns once the relay of the host has recorded it.
func (m *Membership) Update(ctx context.Context, registration Registration) error {
	m.mutex.Lock()
	m.current = registration
	m.sequence++
	sequence := m.sequence
	m.notify()
	m.mutex.Unlock()
	for {
		_, _, recorded, progress := m.state()
		if recorded >= sequence {
			return nil
		}
		select {
		case <-progress:
		case <-m.ended:
			return errors.New("the process has left its host")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Leave ends the membership. If this process is the relay, others become it.
func (m *Membership) Leave() {
	m.cancel()
	<-m.ended
}

// notify wakes the goroutines that wait for progress. The caller holds the mutex.
func (m *Membership) notify() {
	close(m.progress)
	m.progress = make(chan struct{})
}

func (m *Membership) state() (current Registration, sequence, recorded int64, progress <-chan struct{}) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.current, m.sequence, m.recorded, m.progress
}

func (m *Membership) setRecorded(sequence int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if sequence > m.recorded && sequence <= m.sequence {
		m.recorded = sequence
		m.notify()
	}
}

// Times between two attempts to become the relay of the host or find it.
const (
	shortestElection = 5 * time.Millisecond
	longestElection  = time.Second
)

// run takes part as the relay of the host, or as a member of another one, whatever happens.
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
	l.tasks.Go(func() { m.register(ctx, l) })
	for {
		answer, err := l.receive()
		if err != nil {
			break
		}
		if answer.Kind == kindRegistered {
			wasRegistered = true
			m.setRecorded(answer.Sequence)
		}
	}
	l.wait()
	return wasRegistered
}

// register sends the registration, now and whenever it changes.
func (m *Membership) register(ctx context.Context, l *link) {
	sent := int64(0)
	for {
		current, sequence, _, progress := m.state()
		if sequence != sent {
			if l.send(ctx, message{Kind: kindRegister, Sequence: sequence, Registered: &current}) != nil {
				return
			}
			sent = sequence
		}
		select {
		case <-progress:
		case <-l.ended:
			return
		}
	}
}
