package dap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	connectWithin = 10 * time.Second
	endWithin     = 2 * time.Second
)

// A debugger is a running program that speaks the protocol.
type debugger struct {
	*client
	command *exec.Cmd
	closers []func() error
	reading sync.WaitGroup
}

// startDebugger starts a debugger of a kind. observe gets its events, from one goroutine.
func startDebugger(ctx context.Context, dialect dialect, path string, observe func(message) bool) (*debugger, error) {
	if path == "" {
		path = dialect.program()
	}
	path, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("debugger not found: %w", err)
	}
	started := &debugger{}
	if dialect.connects() {
		err = started.startConnecting(ctx, path)
	} else {
		err = started.startWithPipes(path)
	}
	if err != nil {
		return nil, fmt.Errorf("could not start %s: %w", path, err)
	}
	started.observe = observe
	started.reading.Go(started.read)
	return started, nil
}

// prepare returns the command of a debugger, in a separate process group.
func prepare(path string, arguments ...string) *exec.Cmd {
	command := exec.Command(path, arguments...) //nolint:noctx // close ends it
	command.Dir, command.Env = "/", environment()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return command
}

// environment returns the few variables of a debugger, because variables of users change what it does. Nobody
// can read or create files below this HOME, not even root.
func environment() []string {
	variables := []string{"LC_ALL=C", "TERM=dumb", "HOME=/dev/null", "PYTHONNOUSERSITE=1"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "TMPDIR"} {
		if value, isSet := os.LookupEnv(name); isSet {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

// pipes are the standard input and output of a debugger.
type pipes struct{ input, output *os.File }

// Read reads what the debugger prints.
func (p pipes) Read(buffer []byte) (int, error) { return p.output.Read(buffer) }

// Write writes to the input of the debugger.
func (p pipes) Write(buffer []byte) (int, error) { return p.input.Write(buffer) }

// SetWriteDeadline bounds writes to a debugger that does not read.
func (p pipes) SetWriteDeadline(limit time.Time) error { return p.input.SetWriteDeadline(limit) }

func (d *debugger) startWithPipes(path string) error {
	childInput, input, err := os.Pipe()
	if err != nil {
		return err
	}
	defer childInput.Close()
	output, childOutput, err := os.Pipe()
	if err != nil {
		_ = input.Close()
		return err
	}
	defer childOutput.Close()
	d.closers = []func() error{input.Close, output.Close}
	d.command = prepare(path)
	d.command.Stdin, d.command.Stdout = childInput, childOutput
	if err := d.command.Start(); err != nil {
		d.closeStreams()
		return err
	}
	d.client = newClient(pipes{input, output}, nil)
	return nil
}

// startConnecting starts a debugger that connects to a port of this host. Other processes can
// connect there too: only the connection of the debugger counts.
func (d *debugger) startConnecting(ctx context.Context, path string) error {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	defer listener.Close()
	d.command = prepare(path, "dap", "--client-addr="+listener.Addr().String())
	if err := d.command.Start(); err != nil {
		return err
	}
	connection, err := acceptFrom(ctx, listener, d.command.Process.Pid)
	if err != nil {
		d.kill()
		_ = d.command.Wait()
		return err
	}
	d.closers = []func() error{connection.Close}
	d.client = newClient(connection, nil)
	return nil
}

// acceptFrom accepts the connection of a process, and refuses those of others.
func acceptFrom(ctx context.Context, listener *net.TCPListener, pid int) (net.Conn, error) {
	limit := time.Now().Add(connectWithin)
	if latest, isSet := ctx.Deadline(); isSet && latest.Before(limit) {
		limit = latest
	}
	_ = listener.SetDeadline(limit)
	stop := context.AfterFunc(ctx, func() { _ = listener.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		connection, err := listener.AcceptTCP()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, errors.New("it did not connect in time")
		}
		if err != nil {
			return nil, err
		}
		if isConnectionOf(connection, pid) {
			return connection, nil
		}
		_ = connection.Close()
	}
}

func (d *debugger) kill() { _ = syscall.Kill(-d.command.Process.Pid, syscall.SIGKILL) }

func (d *debugger) closeStreams() {
	for _, closeStream := range d.closers {
		_ = closeStream()
	}
}

// close ends the debugger: after a while by a signal to its group.
func (d *debugger) close(patience time.Duration) {
	timer := time.AfterFunc(patience, d.kill)
	_ = d.command.Wait()
	timer.Stop()
	d.closeStreams()
	d.reading.Wait()
}
