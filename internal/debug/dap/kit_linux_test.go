package dap_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/dap"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

const patience = 20 * time.Second

// need returns the path of an installed program.
func need(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	text := names[0] + " is not installed: testdata/clusters/install.sh installs it"
	if os.Getenv("RMCTL_CLUSTERS") == "1" {
		t.Fatal(text)
	}
	t.Skip(text)
	return ""
}

// programs are the folder of the programs of all tests.
var programs string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "dap")
	if err != nil {
		panic(err)
	}
	programs = folder
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// compile compiles a file of testdata once.
func compile(t *testing.T, file string) string {
	t.Helper()
	program := filepath.Join(programs, strings.TrimSuffix(file, filepath.Ext(file)))
	if _, err := os.Stat(program); err == nil {
		return program
	}
	var command *exec.Cmd
	switch filepath.Ext(file) {
	case ".go":
		// Debian's delve knows Go until 1.19.
		command = exec.Command(need(t, "/usr/lib/go-1.19/bin/go"), "build", "-gcflags=all=-N -l", "-o", program, file)
		command.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=", "GO111MODULE=off")
	case ".cc":
		command = exec.Command(need(t, "g++"), "-g", "-O0", "-pthread", "-o", program, file)
	default:
		command = exec.Command(need(t, "gcc"), "-g", "-O0", "-pthread", "-o", program, file)
	}
	command.Dir = "testdata"
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return program
}

// start starts a program that ends with the test.
func start(t *testing.T, isStopped bool, words ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(words[0], words[1:]...)
	command.SysProcAttr = &syscall.SysProcAttr{Ptrace: isStopped, Setpgid: true}
	output, err := os.CreateTemp(t.TempDir(), "output")
	require.NoError(t, err)
	command.Stdout, command.Stderr = output, output
	runtime.LockOSThread() // the thread traces the program
	defer runtime.UnlockOSThread()
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = output.Close()
	})
	if !isStopped {
		require.Eventually(t, func() bool { info, err := output.Stat(); return err == nil && info.Size() > 0 }, patience, time.Millisecond)
		return command
	}
	var status syscall.WaitStatus
	_, err = syscall.Wait4(command.Process.Pid, &status, 0, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, syscall.PTRACE_DETACH, uintptr(command.Process.Pid), 0, uintptr(syscall.SIGSTOP), 0, 0)
	require.Zero(t, errno)
	require.Eventually(t, func() bool { status, _ := guard.ReadStatus(command.Process.Pid); return status.IsStopped() }, patience, time.Millisecond)
	return command
}

// A session is an engine with its notices.
type session struct {
	*dap.Engine
	t       *testing.T
	pid     int
	notices chan debug.Notice
}

// open attaches to a program: stopped at its first instruction, or running.
func open(t *testing.T, kind string, isStopped bool, words ...string) *session {
	t.Helper()
	need(t, map[string]string{"lldb": "lldb-vscode-14", "dlv": "dlv"}[kind])
	return attach(t, kind, start(t, isStopped, words...).Process.Pid)
}

func attach(t *testing.T, kind string, pid int) *session {
	t.Helper()
	opened := &session{t: t, pid: pid, notices: make(chan debug.Notice, 10_000)}
	engine, err := dap.OpenEngine(t.Context(), dap.EngineOptions{Kind: kind, Rank: 3, Notify: func(notice debug.Notice) { opened.notices <- notice }})
	require.NoError(t, err)
	opened.Engine = engine
	t.Cleanup(opened.Close)
	require.NoError(t, engine.Attach(t.Context(), pid, ""))
	return opened
}

// do sends a request that must succeed.
func (s *session) do(request debug.Request) debug.Answer {
	s.t.Helper()
	answer := s.Do(context.Background(), request)
	require.Empty(s.t, answer.Problem, "%s: %s", request.Verb, answer.Text)
	return answer
}

// next returns the next notice that is no output and no placement.
func (s *session) next() debug.Notice {
	s.t.Helper()
	for {
		select {
		case notice := <-s.notices:
			if notice.Report != debug.ReportOutput && notice.Report != debug.ReportPlaced {
				return notice
			}
		case <-time.After(patience):
			require.FailNow(s.t, "no notice")
		}
	}
}

// runTo does a request that lets the process run, and returns the notice of the end of that.
func (s *session) runTo(request debug.Request) debug.Notice {
	s.t.Helper()
	s.do(request)
	require.Equal(s.t, debug.ReportRunning, s.next().Report)
	return s.next()
}

func (s *session) run() debug.Notice {
	s.t.Helper()
	return s.runTo(debug.Request{Verb: debug.Continue})
}

func (s *session) set(breakpoints ...debug.Breakpoint) []debug.Placement {
	s.t.Helper()
	for i := range breakpoints {
		if breakpoints[i].ID == 0 {
			breakpoints[i].ID = i + 1
		}
	}
	return s.do(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: breakpoints}).Breakpoints
}

func (s *session) value(expression string) string {
	s.t.Helper()
	return s.do(debug.Request{Verb: debug.Evaluate, Text: expression}).Variables[0].Value
}

// requireFree requires that a process runs without a debugger.
func requireFree(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, exists := guard.ReadStatus(pid)
		return exists && !status.HasEnded() && status.Tracer == 0 && !status.IsStopped() && !status.StopPending
	}, patience, time.Millisecond)
}

// lineOf returns the line of a file of testdata that has a text.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	line := slices.IndexFunc(strings.Split(string(content), "\n"), func(line string) bool { return strings.Contains(line, text) })
	require.NotEqual(t, -1, line, text)
	return line + 1
}
