package channel_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// localDialer opens channels at this machine as sshd would: a login shell gets
// the command line.
type localDialer struct {
	shell    []string // the login shell, which gets "-c" and the line
	banner   string   // printed on both streams before the line runs, in terms of printf
	limit    int      // of channels, as MaxSessions of sshd
	sftp     string   // program of the subsystem; empty for none
	replace  func(line string) string
	forgets  bool               // what a terminal had to say is lost when its shell has ended
	discards bool               // the first words on a terminal about the end of a program are lost
	hasten   bool               // a terminal has said its first words when it is opened
	tardy    time.Duration      // how late it reports the end of a channel
	hears    func(input []byte) // called before somebody writes into a channel; may be nil

	mutex  sync.Mutex
	open   map[*localChannel]bool
	opened int // in all
	lost   bool
	silent bool
	full   bool // nothing more can run there

	listeners []*execution.Listener
	carried   []net.Conn // that these accepted; nil after failures
}

// refuse lets channels end at once that are opened from now on.
func (d *localDialer) refuse() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.full = true
}

func (d *localDialer) Open(ctx context.Context, line string, options channel.Options) (channel.Channel, error) {
	if options.Subsystem {
		if d.sftp == "" || line != "sftp" {
			return nil, channel.ErrNoSubsystem
		}
		return d.start(ctx, []string{d.sftp}, options)
	}
	if d.replace != nil {
		line = d.replace(line)
	}
	if d.banner != "" {
		line = fmt.Sprintf("printf '%s'; printf '%s' >&2; %s", d.banner, d.banner, line)
	}
	return d.start(ctx, append(append([]string{}, d.shell...), "-c", line), options)
}

func (d *localDialer) Ended() <-chan struct{} { return nil }

func (d *localDialer) start(ctx context.Context, words []string, options channel.Options) (channel.Channel, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.silent && !d.lost {
		d.mutex.Unlock()
		<-ctx.Done()
		d.mutex.Lock()
	}
	if d.lost || ctx.Err() != nil {
		return nil, errors.Join(d.disconnected(), ctx.Err())
	}
	if d.full {
		words = []string{"sh", "-c", "echo no processes left; exit 1"}
	}
	if d.limit > 0 && len(d.open) >= d.limit {
		return nil, channel.ErrTooManyChannels
	}
	c := &localChannel{dialer: d, child: exec.Command(words[0], words[1:]...), ended: make(chan struct{})}
	if err := c.start(options); err != nil {
		return nil, err
	}
	if d.open == nil {
		d.open = map[*localChannel]bool{}
	}
	d.open[c] = true
	d.opened++
	return c, nil
}

func (d *localDialer) disconnected() error {
	return &remote.ConnectError{Host: "here", Reason: remote.Disconnected, Err: errors.New("cut")}
}

// Listen listens on this machine, as a server does that forwards a port.
func (d *localDialer) Listen(ctx context.Context) (net.Listener, error) {
	source, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	listener := execution.NewListener(ctx, carrying{source, d}, source.Addr(), func() error { return nil })
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.listeners = append(d.listeners, listener)
	return listener, nil
}

// carrying accepts connections that end with the connection to the host.
type carrying struct {
	net.Listener
	dialer *localDialer
}

func (c carrying) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	c.dialer.mutex.Lock()
	defer c.dialer.mutex.Unlock()
	c.dialer.carried = append(c.dialer.carried, conn)
	return conn, err
}

// cut breaks the connection.
func (d *localDialer) cut() {
	d.mutex.Lock()
	d.lost = true
	open := make([]*localChannel, 0, len(d.open))
	for c := range d.open {
		open = append(open, c)
	}
	d.mutex.Unlock()
	for _, c := range open {
		// What ran for the channel itself ends with it, what it started does not.
		// It ends first: a host that is gone does not report the end of what it
		// read.
		_ = syscall.Kill(-c.child.Process.Pid, syscall.SIGKILL)
		_ = c.Close()
	}
	d.mutex.Lock()
	listeners, carried := d.listeners, d.carried
	d.mutex.Unlock()
	for _, listener := range listeners {
		_ = listener.End(d.disconnected())
	}
	for _, conn := range carried {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

// silence lets nothing come any more, though the connection stands.
func (d *localDialer) silence() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.silent = true
	for c := range d.open {
		_ = syscall.Kill(-c.child.Process.Pid, syscall.SIGSTOP)
	}
}

func (d *localDialer) Close() error {
	d.cut()
	return nil
}

// counts returns how many channels are open, and how many have been.
func (d *localDialer) counts() (open, all int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(d.open), d.opened
}

// ids returns those of the login shells that are open.
func (d *localDialer) ids() []int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var ids []int
	for c := range d.open {
		ids = append(ids, c.child.Process.Pid)
	}
	return ids
}

// markerAndTTY is how long the first words on a terminal are.
const markerAndTTY = int64(1 + 32 + len(" tty\n"))

type localChannel struct {
	dialer *localDialer
	child  *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File // nil with a terminal
	first  bytes.Buffer
	ended  chan struct{}
	close  sync.Once
}

func (c *localChannel) start(options channel.Options) error {
	if terminal := options.Terminal; terminal != nil {
		c.child.Env = append(os.Environ(), "TERM="+terminal.Type)
		master, err := pty.StartWithSize(c.child, &pty.Winsize{Rows: uint16(terminal.Size.Rows), Cols: uint16(terminal.Size.Columns)})
		if err != nil {
			return err
		}
		// What package pty opens blocks, so that closing it would not end a read.
		// A child that begins meanwhile must not keep it open.
		descriptor, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(syscall.SetNonblock(descriptor, true), master.Close()); err != nil {
			return err
		}
		master = os.NewFile(uintptr(descriptor), "terminal")
		c.stdin, c.stdout = master, master
		if c.dialer.hasten {
			if _, err := io.CopyN(&c.first, master, markerAndTTY); err != nil {
				return err
			}
		}
	} else {
		ends := make([]*os.File, 0, 6)
		for range 3 {
			reader, writer, err := os.Pipe()
			if err != nil {
				return err
			}
			ends = append(ends, reader, writer)
		}
		c.child.Stdin, c.stdin = ends[0], ends[1]
		c.stdout, c.child.Stdout = ends[2], ends[3]
		c.stderr, c.child.Stderr = ends[4], ends[5]
		c.child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err := c.child.Start()
		for _, end := range []*os.File{ends[0], ends[3], ends[5]} {
			_ = end.Close()
		}
		if err != nil {
			return err
		}
	}
	go func() {
		_ = c.child.Wait()
		if c.dialer.tardy > 0 {
			<-time.After(c.dialer.tardy)
		}
		if c.stderr != nil {
			_ = c.stdin.Close() // sshd feeds nobody whose command has ended
		}
		c.dialer.mutex.Lock()
		delete(c.dialer.open, c)
		c.dialer.mutex.Unlock()
		close(c.ended)
	}()
	return nil
}

func (c *localChannel) Stdin() io.WriteCloser {
	if c.stderr == nil {
		return terminalInput{c.stdin}
	}
	return heardInput{c.stdin, c.dialer.hears}
}

// heardInput reports what is about to be written.
type heardInput struct {
	io.WriteCloser
	hears func([]byte)
}

func (i heardInput) Write(data []byte) (int, error) {
	if i.hears != nil {
		i.hears(data)
	}
	return i.WriteCloser.Write(data)
}

// terminalInput does not close the terminal with the input.
type terminalInput struct{ *os.File }

func (terminalInput) Close() error { return nil }

func (c *localChannel) Stdout() io.Reader {
	switch {
	case c.stderr != nil:
		return c.stdout
	case c.dialer.forgets:
		return forgetful{c}
	case c.dialer.discards:
		return &discarding{source: bufio.NewReader(terminalOutput{c.stdout})}
	case c.dialer.hasten:
		return io.MultiReader(&c.first, terminalOutput{c.stdout})
	}
	return terminalOutput{c.stdout}
}

// forgetful reads a terminal slowly, and drops its output once its shell has ended.
type forgetful struct{ *localChannel }

func (f forgetful) Read(buffer []byte) (int, error) {
	soon := time.NewTimer(20 * time.Millisecond)
	defer soon.Stop()
	select {
	case <-f.ended:
		return 0, io.EOF
	case <-soon.C:
		return terminalOutput{f.stdout}.Read(buffer)
	}
}

func (c *localChannel) Stderr() io.Reader {
	if c.stderr == nil {
		return strings.NewReader("")
	}
	return c.stderr
}

// terminalOutput ends as a pipe does.
type terminalOutput struct{ *os.File }

func (o terminalOutput) Read(buffer []byte) (int, error) {
	count, err := o.File.Read(buffer)
	if errors.Is(err, syscall.EIO) {
		err = io.EOF
	}
	return count, err
}

// discarding reads a terminal on which somebody pressed the key for an interrupt: the
// first record that the program is over does not come, in however many pieces it was read.
type discarding struct {
	source *bufio.Reader
	done   bool
	rest   []byte // of what was read
}

func (d *discarding) Read(buffer []byte) (int, error) {
	for len(d.rest) == 0 {
		first, err := d.source.ReadByte()
		if err != nil {
			return 0, err
		}
		d.rest = []byte{first}
		if first == 0x1e && !d.done {
			record, _ := d.source.ReadBytes('\n') // the next read fails as well
			if d.done = bytes.Contains(record, []byte(" over ")); d.done {
				d.rest = nil
			} else {
				d.rest = append(d.rest, record...)
			}
		}
	}
	count := copy(buffer, d.rest)
	d.rest = d.rest[count:]
	return count, nil
}

func (c *localChannel) Resize(size remote.Size) error {
	connection, err := c.stdout.SyscallConn()
	if err != nil {
		return err
	}
	var resizeErr error
	err = connection.Control(func(descriptor uintptr) {
		resizeErr = unix.IoctlSetWinsize(int(descriptor), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(size.Rows), Col: uint16(size.Columns)})
	})
	return errors.Join(err, resizeErr)
}

func (c *localChannel) Signal(signal syscall.Signal) error {
	return syscall.Kill(-c.child.Process.Pid, signal)
}

func (c *localChannel) Wait() (int, error) {
	c.dialer.mutex.Lock()
	lost := c.dialer.lost
	c.dialer.mutex.Unlock()
	if lost {
		return -1, c.dialer.disconnected()
	}
	<-c.ended
	status := c.child.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

func (c *localChannel) Close() error {
	c.close.Do(func() {
		_ = c.stdin.Close()
		_ = c.stdout.Close()
		if c.stderr != nil {
			_ = c.stderr.Close()
		}
	})
	return nil
}

const sftpServer = "/usr/lib/openssh/sftp-server"

// quick are settings whose patience suits tests: what wants to end may take as long as it
// does on a busy machine.
func quick() channel.Settings {
	return channel.Settings{
		Transport: "test", Host: "here",
		Grace: 6 * time.Second, Linger: 500 * time.Millisecond, Patience: time.Minute,
	}
}

// impatient are those with which what does not want to end is soon killed, and its end
// waited for.
func impatient() channel.Settings {
	settings := quick()
	settings.Grace, settings.Linger = 300*time.Millisecond, time.Minute
	return settings
}

// unhurried are those with which a shell is kept however late it is ready for the next
// command.
func unhurried() channel.Settings {
	settings := quick()
	settings.Linger = time.Minute
	return settings
}

// hasty are those with which a host that does not answer is soon given up.
func hasty() channel.Settings {
	settings := quick()
	settings.Grace = time.Second
	return settings
}

// connect makes a connection that the test closes.
func connect(t testing.TB, dialer *localDialer, settings channel.Settings) remote.Connection {
	t.Helper()
	connection, err := channel.New(t.Context(), dialer, settings)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, connection.Close()) })
	return connection
}

func loginShell(t testing.TB, words ...string) *localDialer {
	t.Helper()
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skipf("%s is not installed", words[0])
	}
	dialer := &localDialer{shell: words}
	if _, err := os.Stat(sftpServer); err == nil {
		dialer.sftp = sftpServer
	}
	return dialer
}
