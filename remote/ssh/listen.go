package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// loopback is the address that the server is asked to listen on.
const loopback = "127.0.0.1"

// mostOffered is how many connections of a port wait to be accepted. The server refuses
// further ones.
const mostOffered = 64

// cancelPatience bounds the wait for the server to stop listening.
const cancelPatience = 10 * time.Second

// forwards are the ports of the host that are forwarded to this process. The library's own
// listener blocks the connection while nobody accepts.
type forwards struct {
	mu     sync.Mutex
	serves bool
	ports  map[uint32]*forwardedPort
}

// forwardedPort is the source of the connections of one port.
type forwardedPort struct {
	client  *dialer
	port    uint32
	offered chan offer
	closed  chan struct{}
	end     func(why error) error // of its listener
}

// offer is a connection that was not accepted yet.
type offer struct {
	ssh.NewChannel
	from netip.AddrPort
}

// portRequest is the payload of tcpip-forward and cancel-tcpip-forward.
type portRequest struct {
	Address string
	Port    uint32
}

// Listen asks the server to listen on a port.
func (c *dialer) Listen(ctx context.Context) (net.Listener, error) {
	if !c.serveForwards() {
		return nil, c.lost()
	}
	port, err := await(ctx, c, c.requestPort, func(late uint32) { _ = c.cancelPort(late) })
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("listening at %s: %w", c.settings.alias, ctx.Err())
		}
		return nil, err
	}
	listener := c.addForward(ctx, port)
	if execution.IsClosed(c.ended) {
		return nil, errors.Join(c.lost(), listener.Close())
	}
	return listener, nil
}

// addForward returns the listener of a port.
func (c *dialer) addForward(ctx context.Context, port uint32) *execution.Listener {
	c.forwards.mu.Lock()
	defer c.forwards.mu.Unlock() // a listener that ends at once waits to be known
	f := &forwardedPort{client: c, port: port, offered: make(chan offer, mostOffered), closed: make(chan struct{})}
	listener := execution.NewListener(ctx, f, f.Addr(), func() error { return c.cancelPort(port) })
	f.end = listener.End
	c.forwards.ports[port] = f
	return listener
}

// requestPort asks for a free port.
func (c *dialer) requestPort() (uint32, error) {
	granted, answer, err := c.client.SendRequest("tcpip-forward", true, ssh.Marshal(portRequest{Address: loopback}))
	if err != nil {
		return 0, c.lostBy(err)
	}
	if !granted {
		return 0, &remote.ListenError{
			Host: c.settings.alias, Err: errors.New("its SSH server does not forward ports"),
			Help: "Have its administrator set AllowTcpForwarding to yes or remote, and PermitListen to any, in sshd_config.",
		}
	}
	var allocated struct{ Port uint32 }
	if err := ssh.Unmarshal(answer, &allocated); err != nil || allocated.Port == 0 || allocated.Port > 65535 {
		return 0, &remote.ListenError{Host: c.settings.alias, Err: errors.New("its SSH server does not report its port")}
	}
	return allocated.Port, nil
}

// cancelPort makes the server stop listening. The end of the connection does so as well.
func (c *dialer) cancelPort(port uint32) error {
	ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
	defer cancel()
	granted, err := await(ctx, c, func() (bool, error) {
		granted, _, err := c.client.SendRequest("cancel-tcpip-forward", true, ssh.Marshal(portRequest{loopback, port}))
		return granted, err
	}, func(bool) {})
	switch {
	case execution.IsClosed(c.ended), errors.Is(err, remote.ErrUnreachable):
		return nil
	case err != nil:
		return fmt.Errorf("closing port %d of %s: %w", port, c.settings.alias, err)
	case !granted:
		return fmt.Errorf("closing port %d of %s: the server refuses it", port, c.settings.alias)
	}
	return nil
}

// serveForwards begins to take the connections of all ports. It reports false if the
// connection is closed.
func (c *dialer) serveForwards() bool {
	c.forwards.mu.Lock()
	defer c.forwards.mu.Unlock()
	if c.forwards.serves {
		return true
	}
	incoming := c.client.HandleChannelOpen("forwarded-tcpip")
	c.forwards.serves = c.spawn(func() {
		for offered := range incoming {
			c.forwards.take(offered)
		}
		<-c.ended
		c.forwards.endAll(c.lost())
	})
	c.forwards.ports = map[uint32]*forwardedPort{}
	return c.forwards.serves
}

// take queues a connection. It refuses those of other machines, which reach a server with
// GatewayPorts.
func (f *forwards) take(offered ssh.NewChannel) {
	var from struct {
		Address    string
		Port       uint32
		Origin     string
		OriginPort uint32
	}
	err := ssh.Unmarshal(offered.ExtraData(), &from)
	origin, originErr := netip.ParseAddr(from.Origin)
	if err != nil || originErr != nil || !origin.Unmap().IsLoopback() {
		_ = offered.Reject(ssh.Prohibited, "not from the loopback interface")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	to := f.ports[from.Port]
	if to == nil {
		_ = offered.Reject(ssh.Prohibited, "nobody listens on that port")
		return
	}
	select {
	case to.offered <- offer{offered, netip.AddrPortFrom(origin.Unmap(), uint16(from.OriginPort))}:
	default:
		_ = offered.Reject(ssh.ResourceShortage, "too many connections wait")
	}
}

// endAll ends all listeners.
func (f *forwards) endAll(why error) {
	f.mu.Lock()
	var ends []func(error) error
	for _, port := range f.ports {
		ends = append(ends, port.end)
	}
	f.mu.Unlock()
	for _, end := range ends {
		_ = end(why) // Close returns the error
	}
}

// Accept waits for a connection.
func (f *forwardedPort) Accept() (net.Conn, error) {
	for {
		select {
		case <-f.closed:
			return nil, net.ErrClosed
		case offered := <-f.offered:
			accepted, requests, err := offered.Accept()
			if err != nil {
				continue // the process at the other end is gone, or the connection ends
			}
			go ssh.DiscardRequests(requests) // ends with the channel
			return f.client.forwarded(accepted, f.Addr(), net.TCPAddrFromAddrPort(offered.from))
		}
	}
}

// Close refuses the connections that wait, and later ones.
func (f *forwardedPort) Close() error {
	f.client.forwards.mu.Lock()
	delete(f.client.forwards.ports, f.port)
	f.client.forwards.mu.Unlock()
	close(f.closed)
	for {
		select {
		case offered := <-f.offered:
			_ = offered.Reject(ssh.Prohibited, "nobody listens any more")
		default:
			return nil
		}
	}
}

// Addr is the address on the host.
func (f *forwardedPort) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(f.port)}
}

// forwarded makes a connection with deadlines of a channel.
func (c *dialer) forwarded(channel ssh.Channel, local, origin net.Addr) (net.Conn, error) {
	ours, theirs, err := execution.SocketPair()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("accepting a connection: %w", err), channel.Close())
	}
	conn := &forwardedConn{UnixConn: ours, client: c, local: local, origin: origin, closed: make(chan struct{})}
	if !c.spawn(func() { execution.Join(theirs, channel, conn.closed, c.ended) }) {
		return nil, errors.Join(c.lost(), ours.Close(), theirs.Close())
	}
	return conn, nil
}

// forwardedConn is an accepted connection.
type forwardedConn struct {
	*net.UnixConn
	client        *dialer
	local, origin net.Addr
	once          sync.Once
	closed        chan struct{}
}

// LocalAddr is the port on the host, RemoteAddr where the process there connected from.
func (c *forwardedConn) LocalAddr() net.Addr  { return c.local }
func (c *forwardedConn) RemoteAddr() net.Addr { return c.origin }

// Read reads what the process sent. The end of the connection to the host is an error.
func (c *forwardedConn) Read(buffer []byte) (int, error) {
	count, err := c.UnixConn.Read(buffer)
	if errors.Is(err, io.EOF) && execution.IsClosed(c.client.ended) {
		err = c.client.lost()
	}
	return count, err
}

// Close ends both directions, after what was written.
func (c *forwardedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.UnixConn.Close()
}
