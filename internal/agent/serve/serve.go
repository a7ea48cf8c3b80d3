// Package serve runs an agent for a target: it connects to the client and executes the client's commands
// like rmctl's own.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/internal/agenttrace"
	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/proxy"
)

// Ways for an agent to reach its client.
const (
	stdio = "stdio"
	TCP   = "tcp"
)

// DefaultPort is the port on which clients of Eclipse PTP agents listen.
const DefaultPort = 12345

// dialLimit bounds connecting to the client.
const dialLimit = 30 * time.Second

// Options configure the target and the client of an agent.
type Options struct {
	Target     string
	Proxy      string // "stdio" or TCP
	Host       string // of the client, with TCP
	Port       int
	AllowPlain bool   // allow an unencrypted connection to another machine
	Trace      string // file to which messages are appended; may be empty
	// NodeDirectory is the directory of the target for rmctl-node; empty for the default.
	NodeDirectory string
	Old           bool // the client uses the states of version 2.x

	Stdin         io.Reader
	Stdout        io.Writer
	Log           *slog.Logger
	Warn          func(text string)
	Configuration []string // flags to give an installed agent the same configuration
}

// ErrArgument is matched by errors of the options.
var ErrArgument = errors.New("invalid option")

// Check returns an error that matches ErrArgument if an option is invalid.
func (o *Options) Check() error {
	switch {
	case o.Proxy != stdio && o.Proxy != TCP:
		return argumentError("--proxy %q: write tcp or stdio", o.Proxy)
	case o.Port < 1 || o.Port > 65535:
		return argumentError("--port %d: enter a number from 1 to 65535", o.Port)
	}
	return nil
}

func argumentError(format string, arguments ...any) error {
	return &optionError{fmt.Sprintf(format, arguments...)}
}

type optionError struct{ text string }

// Error implements [error].
func (e *optionError) Error() string { return e.text }

// Unwrap makes each one match ErrArgument.
func (e *optionError) Unwrap() error { return ErrArgument }

// Run serves the client until the session ends.
func Run(ctx context.Context, platform *views.Views, store *jobstore.Store, o Options) (err error) {
	// Otherwise a write to a disconnected client would end the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	end, err := o.connect(ctx)
	if err != nil {
		return err
	}
	trace, closeTrace, err := o.openTrace()
	if err != nil {
		return errors.Join(err, end.Close())
	}
	defer func() { err = errors.Join(err, closeTrace()) }()
	if err := platform.Start(o.Target); err != nil {
		return errors.Join(err, end.Close())
	}
	life, cancel := context.WithCancel(ctx)
	s := &scheduler{platform: platform, store: store, target: o.Target, log: o.Log, nodeDirectory: o.NodeDirectory, life: life}
	defer s.masters.Wait()
	defer cancel()
	return agent.Serve(ctx, end, end, agent.Options{Model: platform.Model(), Manager: o.Target, Scheduler: s, Record: s,
		Old: o.Old, Close: end.Close, Trace: trace, Log: o.Log})
}

func (o *Options) openTrace() (func(proxy.Line) error, func() error, error) {
	if o.Trace == "" {
		return nil, func() error { return nil }, nil
	}
	file, err := agenttrace.Append(o.Trace)
	if err != nil {
		return nil, nil, err
	}
	return agenttrace.To(file), file.Close, nil
}

// connect returns the connection to the client.
func (o *Options) connect(ctx context.Context) (io.ReadWriteCloser, error) {
	if o.Proxy == stdio {
		return &standard{o.Stdin, o.Stdout}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	addresses, isHere, err := resolve(ctx, o.Host)
	if err != nil {
		return nil, err
	}
	if !isHere && !o.AllowPlain {
		return nil, argumentError("--host %s: it is another machine, and nothing is encrypted on the way; --allow-plain allows that", o.Host)
	}
	if !isHere {
		o.Warn(fmt.Sprintf("warning: messages to %s are not encrypted; anyone on the network path can submit jobs", o.Host))
	}
	conn, err := dial(ctx, addresses, o.Port)
	if err != nil {
		return nil, fmt.Errorf("connecting to the client: %w", err)
	}
	if err := o.checkPeer(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// resolve returns the addresses of a host and reports whether all belong to this machine.
func resolve(ctx context.Context, host string) (addresses []netip.Addr, isHere bool, err error) {
	addresses, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, false, fmt.Errorf("finding the client: %w", err)
	}
	for _, address := range addresses {
		if !address.Unmap().IsLoopback() {
			return addresses, false, nil
		}
	}
	return addresses, true, nil
}

// dial connects to the first address that answers.
func dial(ctx context.Context, addresses []netip.Addr, port int) (net.Conn, error) {
	var failures error
	for _, address := range addresses {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address.Unmap().String(), strconv.Itoa(port)))
		if err == nil {
			return conn, nil
		}
		failures = errors.Join(failures, err)
	}
	return nil, failures
}

// checkPeer refuses a client of another user on this machine, since the protocol has no authentication.
func (o *Options) checkPeer(ctx context.Context, conn net.Conn) error {
	err := peer.CheckTCP(ctx, conn)
	if errors.Is(err, peer.ErrUncheckable) && o.AllowPlain {
		o.Log.Info("the user of the client is not checked", "reason", err)
		return nil
	}
	return err
}

// standard is a client that started the agent.
type standard struct {
	io.Reader
	io.Writer
}

// Close closes standard output, so that the client sees the end while submissions are finished.
func (s *standard) Close() error {
	if closer, isCloser := s.Writer.(io.Closer); isCloser {
		if err := closer.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			return err
		}
	}
	return nil
}
