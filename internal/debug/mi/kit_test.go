//go:build linux

package mi_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/debugtest"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/mi"
)

func TestMain(m *testing.M) {
	debugtest.Main()
	os.Exit(m.Run())
}

// need skips the test if a program is not installed.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("RMCTL_CLUSTERS") == "1" {
				t.Fatalf("%s is not installed", program)
			}
			t.Skipf("%s is not installed: testdata/clusters/install.sh installs it", program)
		}
	}
}

// compile compiles a program in a separate folder and returns its path.
func compile(t *testing.T, compiler, name, source string, flags ...string) string {
	t.Helper()
	need(t, "gdb", compiler)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(source), 0o600))
	command := exec.Command(compiler, append([]string{"-g", "-O0", "-w", "-o", "program", name}, flags...)...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return filepath.Join(folder, "program")
}

// A program is a process that is stopped at its first instruction.
type program struct {
	pid    int
	output *lockedBuffer
	wait   func() syscall.WaitStatus // until it ends
}

type lockedBuffer struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}

// startStopped starts a program that SIGSTOP stops at its first instruction.
func startStopped(t *testing.T, path string, arguments ...string) program {
	t.Helper()
	started := program{output: &lockedBuffer{}}
	command := exec.Command(path, arguments...)
	command.Stdout, command.Stderr = started.output, started.output
	command.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		if err == nil {
			_, err = syscall.Wait4(command.Process.Pid, nil, syscall.WALL, nil)
		}
		if err == nil {
			if _, _, number := syscall.RawSyscall6(syscall.SYS_PTRACE, syscall.PTRACE_DETACH, uintptr(command.Process.Pid), 0, uintptr(syscall.SIGSTOP), 0, 0); number != 0 {
				err = number
			}
		}
		failed <- err
	}()
	require.NoError(t, <-failed)
	started.pid = command.Process.Pid
	var once sync.Once
	started.wait = func() syscall.WaitStatus {
		once.Do(func() { _ = command.Wait() })
		return command.ProcessState.Sys().(syscall.WaitStatus)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		started.wait()
	})
	return started
}

// A session is an engine and its notices.
type session struct {
	*mi.Engine
	t       *testing.T
	notices chan debug.Notice
}

func open(t *testing.T, options mi.EngineOptions) session {
	t.Helper()
	s := session{t: t, notices: make(chan debug.Notice, 10_000)}
	options.Notify = func(notice debug.Notice) { s.notices <- notice }
	engine, err := mi.OpenEngine(t.Context(), options)
	require.NoError(t, err)
	s.Engine = engine
	t.Cleanup(engine.Close)
	return s
}

// attach starts a program and attaches to it.
func attach(t *testing.T, path string, arguments ...string) (session, program) {
	t.Helper()
	started := startStopped(t, path, arguments...)
	s := open(t, mi.EngineOptions{Rank: 3})
	require.NoError(t, s.Attach(within(t), started.pid, path))
	return s, started
}

const (
	timeout = time.Minute
	pause   = time.Millisecond
)

// within bounds a request generously: other tests run at the same time.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// ask sends a request that must succeed.
func (s session) ask(request debug.Request) debug.Answer {
	s.t.Helper()
	answer := s.Do(within(s.t), request)
	require.Empty(s.t, answer.Problem, "%+v: %s", request, answer.Text)
	return answer
}

// place sets breakpoints.
func (s session) place(breakpoints ...debug.Breakpoint) []debug.Placement {
	s.t.Helper()
	return s.ask(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: breakpoints}).Breakpoints
}

// next returns the next notice of some reports.
func (s session) next(reports ...debug.Report) debug.Notice {
	s.t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case notice := <-s.notices:
			for _, report := range reports {
				if notice.Report == report {
					return notice
				}
			}
		case <-timeout:
			require.Fail(s.t, "no notice", "%v", reports)
		}
	}
}

// until continues and returns the next stop or end.
func (s session) until() debug.Notice {
	s.t.Helper()
	s.ask(debug.Request{Verb: debug.Continue})
	return s.next(debug.ReportStopped, debug.ReportExited, debug.ReportGone)
}

// toMain continues to the main function.
func (s session) toMain() debug.Notice {
	s.t.Helper()
	s.place(debug.Breakpoint{ID: 1, Function: "main", Temporary: true})
	return s.until()
}

func (s session) evaluate(expression string) debug.Variable {
	s.t.Helper()
	return s.ask(debug.Request{Verb: debug.Evaluate, Text: expression}).Variables[0]
}

// requireRuns checks that a process is neither stopped nor under a debugger.
func requireRuns(t *testing.T, pid int) {
	t.Helper()
	status, exists := guard.ReadStatus(pid)
	require.True(t, exists)
	require.Zero(t, status.Tracer)
	require.NotContains(t, "tTZ", string(status.State))
	require.False(t, status.StopPending)
}
