package remotetest

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Proxy passes TCP connections on to a server of this machine, with faults.
type Proxy struct {
	listener net.Listener
	target   string
	faults   Faults
	serving  sync.WaitGroup

	lock    sync.Mutex
	lines   []*line
	stalled bool
	ended   bool
}

// NewProxy starts a proxy in front of the address of a server, which is one of
// this machine. It ends with the test. Each connection has the faults for
// itself.
func NewProxy(t testing.TB, target string, faults Faults) *Proxy {
	t.Helper()
	host, _, err := net.SplitHostPort(target)
	require.NoError(t, err)
	require.True(t, net.ParseIP(host).IsLoopback(), "%s is not an address of this machine", target)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{listener: listener, target: target, faults: faults}
	p.serving.Go(p.serve)
	t.Cleanup(p.end)
	return p
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Port is the port of Address.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// Connections returns how many connections were passed on so far.
func (p *Proxy) Connections() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.lines)
}

// Cut cuts the connections there are. Further ones are passed on.
func (p *Proxy) Cut() {
	for _, l := range p.all() {
		l.end()
	}
}

// Refuse cuts the connections there are and accepts no further ones.
func (p *Proxy) Refuse() { p.end() }

// Stall lets nothing pass until Resume, on further connections neither.
func (p *Proxy) Stall() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.stalled = true
	for _, l := range p.lines {
		l.stall()
	}
}

// Resume lets everything pass again.
func (p *Proxy) Resume() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.stalled = false
	for _, l := range p.lines {
		l.resume()
	}
}

func (p *Proxy) all() []*line {
	p.lock.Lock()
	defer p.lock.Unlock()
	return append([]*line(nil), p.lines...)
}

func (p *Proxy) serve() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return // the listener was closed
		}
		far, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = near.Close() // whoever connects sees that nobody is there
			continue
		}
		p.add(near, far)
	}
}

// add starts a line, unless the proxy has ended meanwhile.
func (p *Proxy) add(near, far net.Conn) {
	p.lock.Lock()
	defer p.lock.Unlock()
	faults := p.faults
	faults.Seed += uint64(len(p.lines))
	l := startLine(near, far, faults)
	p.lines = append(p.lines, l)
	if p.stalled {
		l.stall()
	}
	if p.ended {
		l.cut()
	}
}

func (p *Proxy) end() {
	p.lock.Lock()
	p.ended = true
	p.lock.Unlock()
	_ = p.listener.Close() // it may have ended before
	for _, l := range p.all() {
		l.cut()
	}
	p.serving.Wait()
	for _, l := range p.all() {
		l.end()
	}
}
