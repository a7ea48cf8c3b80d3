package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/debugtest"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/track"
)

const patience = 20 * time.Second

func TestMain(m *testing.M) {
	debugtest.Main()
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
		guard.Serve(context.Background(), os.Stdin, os.Stdout, guard.Silence)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // the race detector takes a second for another end
	}
	if len(os.Args) > 1 && os.Args[1] == "traceable" {
		_ = os.Setenv("PERMITTED", "1")
		os.Exit(track.RunTraceable(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(serveAlone(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// A fakeEngine stops and continues its process by signals. Tests let it report.
type fakeEngine struct {
	notify   func(debug.Notice)
	debugger *exec.Cmd

	mutex       sync.Mutex
	pid         int
	breakpoints []debug.Breakpoint
	isDeaf      bool // Detach and Kill fail
	hasNoMain   bool
}

func openFake(t *testing.T, engine *fakeEngine) server.Open {
	t.Helper()
	return func(_ context.Context, notify func(debug.Notice)) (server.Engine, error) {
		engine.notify = notify
		engine.debugger = exec.Command("sleep", "1000")
		engine.debugger.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return engine, engine.debugger.Start()
	}
}

func (e *fakeEngine) PID() int { return e.debugger.Process.Pid }

func (e *fakeEngine) Close() {
	_ = e.debugger.Process.Kill()
	_ = e.debugger.Wait()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.pid > 0 && !e.isDeaf {
		_ = syscall.Kill(e.pid, syscall.SIGCONT)
	}
}

func (e *fakeEngine) Attach(_ context.Context, pid int, executable string) error {
	if strings.HasSuffix(executable, "/true") {
		return fmt.Errorf("ptrace: Operation not permitted.")
	}
	e.pid = pid
	return syscall.Kill(pid, syscall.SIGSTOP)
}

func (e *fakeEngine) Do(_ context.Context, request debug.Request) debug.Answer {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	switch request.Verb {
	case debug.SetBreakpoints:
		e.breakpoints = request.Breakpoints
		var answer debug.Answer
		for _, each := range request.Breakpoints {
			answer.Breakpoints = append(answer.Breakpoints, debug.Placement{ID: each.ID, Verified: each.Function != "main" || !e.hasNoMain, File: "/a.c", Line: each.Line})
		}
		return answer
	case debug.Continue, debug.Step:
		_ = syscall.Kill(e.pid, syscall.SIGCONT)
		e.notify(debug.Notice{Report: debug.ReportRunning})
	case debug.Halt:
		_ = syscall.Kill(e.pid, syscall.SIGSTOP)
		e.notify(debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonHalt})
	case debug.Detach:
		if e.isDeaf {
			return debug.Answer{Problem: debug.Silent}
		}
		_ = syscall.Kill(e.pid, syscall.SIGCONT)
		e.pid = 0
	case debug.Kill:
		if !e.isDeaf {
			_ = syscall.Kill(e.pid, syscall.SIGKILL)
		}
	case debug.Evaluate:
		return debug.Answer{Variables: []debug.Variable{{Value: "<" + request.Text + ">"}}}
	case debug.Threads:
		return debug.Answer{Threads: []debug.Thread{{ID: 7, Current: true, Frame: &debug.Frame{Function: "_start"}}}}
	}
	return debug.Answer{}
}

// stops lets the process stop as at breakpoints.
func (e *fakeEngine) stops(notice debug.Notice) {
	_ = syscall.Kill(e.pid, syscall.SIGSTOP)
	notice.Report = debug.ReportStopped
	e.notify(notice)
}

// A client is the other end of a server.
type client struct {
	t       testing.TB
	conn    net.Conn
	number  int
	answers map[int]chan string
	mutex   sync.Mutex
	notices chan debug.Notice
}

func newClient(t testing.TB, conn net.Conn) *client {
	c := &client{t: t, conn: conn, answers: map[int]chan string{}, notices: make(chan debug.Notice, 10000)}
	go func() {
		defer close(c.notices)
		lines := bufio.NewScanner(conn)
		lines.Buffer(nil, debug.MostLine)
		for lines.Scan() {
			c.take(lines.Text())
		}
	}()
	return c
}

func (c *client) take(line string) {
	var number int
	_, body, _ := strings.Cut(line, " ")
	_, _ = fmt.Sscan(line, &number)
	if number > 0 {
		c.mutex.Lock()
		answer := c.answers[number]
		c.mutex.Unlock()
		if answer != nil {
			answer <- body
		}
		return
	}
	var notice debug.Notice
	if json.Unmarshal([]byte(body), &notice) == nil {
		c.notices <- notice
	}
}

// sends sends a request, and returns where the answer will be.
func (c *client) sends(request debug.Request) chan string {
	c.t.Helper()
	body, err := json.Marshal(request)
	require.NoError(c.t, err)
	c.mutex.Lock()
	c.number++
	number, answer := c.number, make(chan string, 1)
	c.answers[number] = answer
	c.mutex.Unlock()
	_, err = fmt.Fprintf(c.conn, "%d %s\n", number, body)
	require.NoError(c.t, err)
	return answer
}

// raw returns the bytes of an answer.
func (c *client) raw(request debug.Request) string {
	c.t.Helper()
	select {
	case body := <-c.sends(request):
		return body
	case <-time.After(patience):
		require.Fail(c.t, "no answer", "%+v", request)
	}
	return ""
}

// asks returns an answer.
func (c *client) asks(request debug.Request) debug.Answer {
	c.t.Helper()
	var answer debug.Answer
	require.NoError(c.t, json.Unmarshal([]byte(c.raw(request)), &answer))
	return answer
}

// does returns an answer without a problem.
func (c *client) does(request debug.Request) debug.Answer {
	c.t.Helper()
	answer := c.asks(request)
	require.Empty(c.t, answer.Problem, "%+v: %s", request, answer.Text)
	return answer
}

// gets returns the next notice of a kind, and skips others.
func (c *client) gets(report debug.Report) debug.Notice {
	c.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case notice, isOpen := <-c.notices:
			require.True(c.t, isOpen, "the connection ended before %s", report)
			if notice.Report == report {
				return notice
			}
		case <-limit:
			require.Fail(c.t, "no notice", report)
		}
	}
}

// stops returns the next stop, and checks its reason.
func (c *client) stops(reason string) debug.Notice {
	c.t.Helper()
	notice := c.gets(debug.ReportStopped)
	require.Equal(c.t, reason, notice.Reason, "%+v", notice)
	return notice
}

// A fixture is a server with its client.
type fixture struct {
	*client
	output, errors *os.File
	signals        chan os.Signal
	ended          chan struct{}
	ending         server.Ending
	err            error
}

// usualOptions are options for a program.
func usualOptions(t testing.TB, words ...string) server.Options {
	t.Helper()
	output, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	require.NoError(t, err)
	errors, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	return server.Options{
		Rank: 3, Size: 8, Host: "n1", Debugger: "fake", Environment: os.Environ(), Guard: []string{os.Args[0], "guard"}, Find: exec.LookPath,
		Program: &debug.Program{Arguments: words}, WhenLeft: server.End, Linger: 5 * time.Second, Output: output, Errors: errors,
	}
}

// serves starts a server. Tests wait for its end with ends.
func serves(t testing.TB, options server.Options) *fixture {
	t.Helper()
	near, far := socketPair(t)
	f := &fixture{client: newClient(t, near), output: options.Output, errors: options.Errors, signals: make(chan os.Signal, 10), ended: make(chan struct{})}
	options.Signals = f.signals
	go func() {
		defer close(f.ended)
		f.ending, f.err = server.Serve(context.Background(), far, options)
	}()
	t.Cleanup(func() {
		_ = near.Close()
		<-f.ended
	})
	hello := f.gets(debug.ReportHello).Hello
	require.Equal(t, options.Rank, hello.Rank)
	require.Equal(t, debug.ProtocolVersion, hello.Version)
	return f
}

// socketPair returns both ends of a connection.
func socketPair(t testing.TB) (near, far net.Conn) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	var conns [2]net.Conn
	for i, descriptor := range pair {
		file := os.NewFile(uintptr(descriptor), "socket")
		conns[i], err = net.FileConn(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	return conns[0], conns[1]
}

// ends waits for the end of the server.
func (f *fixture) ends() server.Ending {
	f.t.Helper()
	select {
	case <-f.ended:
	case <-time.After(patience):
		require.Fail(f.t, "the server does not end")
	}
	return f.ending
}

func text(t testing.TB, file *os.File) string {
	t.Helper()
	data, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	return string(data)
}
