package openssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/remote"
)

// The messages of OpenSSH about a forwarded port.
var (
	refusesForwarding = lazyregexp.New(`remote port forwarding failed|forwarding request failed|Error: remote port forwarding`)
	saysOverridden    = lazyregexp.New(`^debug\d: Remote: Forwarding listen address .* overridden by server GatewayPorts`)
	saysFreed         = lazyregexp.New(`^debug\d: channel \d+: free: `)
)

// overrideGrace is how long a master's message about GatewayPorts, which it writes before it
// forwards, may take to be read.
const overrideGrace = 100 * time.Millisecond

// deliveryPatience is how long an ssh of its own may take to deliver what was written to
// connections that are closed, and their processes to close them, before it is ended.
const deliveryPatience = 5 * time.Second

// errGatewayPorts reports a port that is open to other machines.
var errGatewayPorts = errors.New("its SSH server opens forwarded ports to other machines")

// forwarding is a port of the host that ssh forwards to a socket of this connection.
type forwarding struct {
	dialer *dialer
	socket string      // in the private folder, so that no other user of this machine reaches it
	port   int         // on the host
	own    *invocation // the ssh that forwards it; nil for a master

	mutex    sync.Mutex
	accepted int // connections
	open     int // of these
	closed   bool
}

// Listen lets a master, or an ssh of its own, forward a port of the host. A control master
// of the user does not report a server that opens the port to other machines.
func (d *dialer) Listen(ctx context.Context) (net.Listener, error) {
	f := &forwarding{dialer: d, socket: d.newSocketPath()}
	source, err := net.ListenUnix("unix", &net.UnixAddr{Name: f.socket, Net: "unix"})
	if err != nil {
		return nil, d.failsToListen(err)
	}
	if err := f.begin(ctx); err != nil {
		if ctx.Err() != nil {
			// A master may forward it nevertheless.
			err = errors.Join(fmt.Errorf("listening at %s: %w", d.options.Host, ctx.Err()), f.cancel())
		}
		return nil, errors.Join(err, source.Close())
	}
	listener := execution.NewListener(ctx, &forwardSource{source, f}, f.address(), f.cancel)
	if !d.keep(listener, f.ended()) {
		return nil, errors.Join(d.lost(errClosed), listener.Close())
	}
	return listener, nil
}

// address is the port on the host.
func (f *forwarding) address() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: f.port}
}

func (d *dialer) failsToListen(err error) error {
	return &remote.ListenError{Host: d.options.Host, Err: err}
}

// refusesToForward returns the error for a server that does not forward ports.
func (d *dialer) refusesToForward(err error) error {
	return &remote.ListenError{
		Host: d.options.Host, Err: fmt.Errorf("its SSH server does not forward ports: %w", err),
		Help: "Have its administrator set AllowTcpForwarding to yes or remote, and PermitListen to any, in sshd_config.",
	}
}

func (d *dialer) newSocketPath() string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.made++
	return filepath.Join(d.folder, "port-"+strconv.Itoa(d.made))
}

// keep lets a listener end with the connection, or with the ssh that forwards it. It reports
// false if the connection is closed.
func (d *dialer) keep(listener *execution.Listener, ended <-chan struct{}) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.closed {
		return false
	}
	d.listeners = slices.DeleteFunc(d.listeners, func(one *execution.Listener) bool { return execution.IsClosed(one.Ended()) })
	d.listeners = append(d.listeners, listener)
	if ended != nil {
		d.following.Go(func() {
			select {
			case <-ended:
				_ = listener.End(d.lost(errors.New("ssh has ended"))) // Close returns the error
			case <-listener.Ended():
			}
		})
	}
	return true
}

// ended returns a channel that is closed once nothing is forwarded any more; nil if that
// cannot be noticed.
func (f *forwarding) ended() <-chan struct{} {
	if f.own != nil {
		return f.own.ended
	}
	return f.dialer.Ended()
}

// begin begins to forward a free port.
func (f *forwarding) begin(ctx context.Context) error {
	if f.dialer.way == directly {
		return f.beginDirectly(ctx)
	}
	d := f.dialer
	stdout, stderr, err := d.query(ctx, d.forwardArguments("forward", f.specification()))
	switch {
	case err == nil:
	case refusesForwarding.MatchString(stderr):
		return d.refusesToForward(lastLines(stderr))
	case !d.masterAnswers(ctx, d.way):
		return d.lostMaster()
	default:
		return d.failsToListen(fmt.Errorf("ssh does not forward a port: %w", lastLines(stderr)))
	}
	if f.port, err = strconv.Atoi(strings.TrimSpace(stdout)); err != nil || f.port <= 0 || f.port > 65535 {
		return d.failsToListen(fmt.Errorf("ssh does not say which port it forwards: %.100q", stdout))
	}
	if d.way == throughOwnMaster && execution.ClosesWithin(d.master.messages.overridden.found, overrideGrace) {
		return errors.Join(d.overridden(), f.cancel())
	}
	return nil
}

// beginDirectly starts an ssh that does nothing else.
func (f *forwarding) beginDirectly(ctx context.Context) error {
	d := f.dialer
	own, err := d.start(ctx, call{arguments: func(messages string) []string {
		return d.directForwardArguments(f.specification(), messages)
	}, asks: true})
	if err != nil {
		return err
	}
	poll := time.NewTicker(masterPoll)
	defer poll.Stop()
	allocated := regexp.MustCompile(`(?m)^Allocated port (\d{1,5}) for remote forward to ` + regexp.QuoteMeta(f.socket))
	forwards, err := own.awaitStart(ctx, d.options.StartLimit, poll.C, func() bool {
		text := own.messages.text.String()
		if found := allocated.FindStringSubmatch(text); found != nil {
			f.port, _ = strconv.Atoi(found[1]) // digits
		}
		return f.port != 0 || refusesForwarding.MatchString(text)
	})
	text := own.messages.text.String()
	switch {
	case err != nil && errors.Is(err, errStartLimit):
		err = d.noAnswer()
	case err != nil:
	case !forwards:
		err = d.explain(own, "")
	case f.port == 0:
		err = d.refusesToForward(lastLines(text))
	case own.messages.overridden.isFound():
		err = d.overridden()
	default:
		f.own = own
		return nil
	}
	own.end()
	return err
}

func (d *dialer) overridden() error {
	return &remote.ListenError{
		Host: d.options.Host, Err: errGatewayPorts,
		Help: "Have its administrator set GatewayPorts to no or clientspecified in sshd_config.",
	}
}

// specification is the value of -R.
func (f *forwarding) specification() string { return "127.0.0.1:0:" + f.socket }

// cancel ends the forwarding. An ssh of its own forwards the accepted connections too, so it
// ends after the last one. Until then what connects to the port is closed at once.
func (f *forwarding) cancel() error {
	d := f.dialer
	if d.way != directly {
		if d.isClosed() || execution.IsClosed(d.Ended()) {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
		defer cancel()
		_, stderr, err := d.query(ctx, d.forwardArguments("cancel", f.specification()))
		if err != nil && f.port != 0 && d.masterAnswers(ctx, d.way) {
			return fmt.Errorf("closing port %d of %s: %w", f.port, d.options.Host, lastLines(stderr))
		}
		return nil
	}
	f.mutex.Lock()
	f.closed = true
	isUsed := f.open > 0
	f.mutex.Unlock()
	if !isUsed && f.own != nil {
		f.finish()
	}
	return nil
}

// finish ends an ssh of its own once its channels have ended.
func (f *forwarding) finish() {
	f.mutex.Lock()
	accepted := f.accepted
	f.mutex.Unlock()
	poll := time.NewTicker(masterPoll)
	defer poll.Stop()
	patience := time.NewTimer(deliveryPatience)
	defer patience.Stop()
	for int(f.own.messages.freed.Load()) < accepted {
		select {
		case <-poll.C:
			continue
		case <-patience.C:
		case <-f.own.ended:
		}
		break
	}
	f.own.end()
}

// follow calls a function that ends with the connection.
func (d *dialer) follow(do func()) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !d.closed { // which has ended all
		d.following.Go(do)
	}
}

// forwardSource accepts the connections that ssh makes to the socket.
type forwardSource struct {
	*net.UnixListener
	forwarding *forwarding
}

// Accept waits for a connection.
func (s *forwardSource) Accept() (net.Conn, error) {
	conn, err := s.UnixListener.AcceptUnix()
	if err != nil {
		return nil, err
	}
	f := s.forwarding
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.open++
	f.accepted++
	return &forwardedConn{UnixConn: conn, forwarding: f}, nil
}

// forwardedConn is an accepted connection.
type forwardedConn struct {
	*net.UnixConn
	forwarding *forwarding
	once       sync.Once
}

// LocalAddr is the port on the host.
func (c *forwardedConn) LocalAddr() net.Addr { return c.forwarding.address() }

// Close ends both directions.
func (c *forwardedConn) Close() error {
	err := c.UnixConn.Close()
	c.once.Do(func() {
		f := c.forwarding
		f.mutex.Lock()
		f.open--
		isLast := f.open == 0 && f.closed
		f.mutex.Unlock()
		if isLast {
			f.dialer.follow(f.finish)
		}
	})
	return err
}
