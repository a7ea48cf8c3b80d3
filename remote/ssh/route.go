package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
)

// A wire carries the bytes of one connection. It remembers its first error, because the
// layers above report less.
type wire struct {
	net.Conn
	received atomic.Int64

	mu     sync.Mutex
	failed error
	said   func() string // returns the error output of the ProxyCommand; nil without one
	ending func()        // called before Read reports the end; may be nil
}

// Read remembers the first error.
func (w *wire) Read(p []byte) (int, error) {
	count, err := w.Conn.Read(p)
	w.received.Add(int64(count))
	if err != nil {
		if ending := w.fail(err); ending != nil {
			// A blocked Write must not delay ending.
			_ = w.Conn.Close()
			ending()
		}
	}
	return count, err
}

// beforeEnd registers do, which Read calls before it reports the end. If Read has
// reported it already, do is called at once.
func (w *wire) beforeEnd(do func()) {
	w.mu.Lock()
	w.ending = do
	isOver := w.failed != nil
	w.mu.Unlock()
	if isOver {
		do()
	}
}

// Write remembers the first error.
func (w *wire) Write(p []byte) (int, error) {
	if err := w.failure(); err != nil {
		return 0, err
	}
	count, err := w.Conn.Write(p)
	if err != nil {
		w.fail(err)
	}
	return count, err
}

func (w *wire) fail(err error) (ending func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
	return w.ending
}

// failure returns the first error, or nil.
func (w *wire) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// lastJump splits the last jump host off ProxyJump. It connects to the host, and is
// itself reached through those before it.
func lastJump(written string) (before string, last destination, err error) {
	hop := written
	if comma := strings.LastIndexByte(written, ','); comma >= 0 {
		before, hop = written[:comma], written[comma+1:]
	}
	hop = strings.TrimSpace(hop)
	last = parseDestination(hop, true)
	checked := last.host
	if strings.HasPrefix(hop, "ssh://") {
		checked = hop
	}
	if err := checkHost(checked); err != nil {
		return "", destination{}, fmt.Errorf("ProxyJump %q in ssh_config: %w", written, err)
	}
	return before, last, nil
}

// openWire connects to a host: through its jump host, through its ProxyCommand, or
// directly.
func openWire(ctx context.Context, s settings, through *dialer) (*wire, error) {
	if through != nil {
		connection, err := through.client.DialContext(ctx, "tcp", net.JoinHostPort(s.host, strconv.Itoa(s.port)))
		if err != nil {
			return nil, err
		}
		return &wire{Conn: connection}, nil
	}
	if s.proxyCommand != "" {
		return startProxy(s.proxyCommand)
	}
	network := "tcp"
	switch s.addressFamily {
	case "inet":
		network = "tcp4"
	case "inet6":
		network = "tcp6"
	}
	dialer := net.Dialer{KeepAlive: -1}
	if s.tcpKeepAlive {
		dialer.KeepAlive = s.aliveInterval
	}
	if s.bindAddress != "" {
		local, err := net.ResolveTCPAddr(network, net.JoinHostPort(s.bindAddress, "0"))
		if err != nil {
			return nil, fmt.Errorf("BindAddress %s in ssh_config: %w", s.bindAddress, err)
		}
		dialer.LocalAddr = local
	}
	connection, err := dialer.DialContext(ctx, network, net.JoinHostPort(s.host, strconv.Itoa(s.port)))
	if err != nil {
		return nil, err
	}
	return &wire{Conn: connection}, nil
}

// proxy is a connection through the user's ProxyCommand.
type proxy struct {
	net.Conn // of a pair of sockets; the other is the command's input and output
	command  *exec.Cmd
	ended    chan struct{}
	once     sync.Once
	err      error
}

// proxyGrace is how long a ProxyCommand may take to end by itself.
const proxyGrace = 2 * time.Second

// startProxy starts a ProxyCommand in a shell, as OpenSSH does. The command comes from the
// user's own configuration. It has a process group of its own, so that Ctrl-C does not
// end the connection.
func startProxy(line string) (*wire, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("making sockets for the ProxyCommand: %w", err)
	}
	for _, descriptor := range pair {
		syscall.CloseOnExec(descriptor)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "proxy"), os.NewFile(uintptr(pair[1]), "proxy")
	defer theirs.Close()
	connection, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		return nil, fmt.Errorf("making a connection of the ProxyCommand: %w", err)
	}
	said := execution.NewHead(4096)
	command := exec.Command("/bin/sh", "-c", "exec "+line)
	command.Stdin, command.Stdout, command.Stderr = theirs, theirs, said
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.WaitDelay = proxyGrace
	if err := command.Start(); err != nil {
		connection.Close()
		return nil, fmt.Errorf("starting the ProxyCommand: %w", err)
	}
	started := &proxy{Conn: connection, command: command, ended: make(chan struct{})}
	go func() {
		started.err = command.Wait()
		close(started.ended)
	}()
	return &wire{Conn: started, said: func() string { return started.outcome(said) }}, nil
}

// outcome returns the error output of the command, and how it ended, if it has.
func (p *proxy) outcome(errorOutput *execution.Head) string {
	ended := execution.ClosesWithin(p.ended, proxyGrace)
	said := visible(strings.TrimSpace(errorOutput.String()), 1000)
	if !ended || p.err == nil {
		return said
	}
	return strings.TrimPrefix(said+": "+p.err.Error(), ": ")
}

// Close ends the command and waits for it.
func (p *proxy) Close() error {
	err := p.Conn.Close()
	p.once.Do(func() {
		if execution.IsClosed(p.ended) {
			return
		}
		// The end of its input is what a command such as nc or ssh -W ends by.
		timer := time.AfterFunc(proxyGrace, func() {
			if killed := syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL); killed != nil && !errors.Is(killed, syscall.ESRCH) {
				err = errors.Join(err, fmt.Errorf("ending the ProxyCommand: %w", killed))
			}
		})
		defer timer.Stop()
		<-p.ended
	})
	return err
}
