//go:build linux

package mi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/mi"
)

const large = `
#include <stdlib.h>
#include <string.h>
char *text; int big[100000000]; int *wild = (int *)16; struct node { int n; struct node *next; } loop;
int deep(int n) { return n == 0 ? *wild : deep(n - 1) + 1; }
int main() {
	int many[3000] = {1};
	text = malloc(1 << 30); memset(text, 'x', 1 << 26);
	loop.next = &loop;
	return deep(20000);
}`

func TestLargeValuesAndDeepStacksAreBounded(t *testing.T) {
	path := compile(t, "gcc", "large.c", large)
	s, _ := attach(t, path)
	stop := s.until()
	require.Equal(t, []string{debug.ReasonSignal, "SIGSEGV", "Segmentation fault"}, []string{stop.Reason, stop.Signal, stop.Text})
	text := s.evaluate("text").Value
	require.Less(t, len(text), 400)
	require.Contains(t, text, "'x' <repeats 200 times>...")
	require.LessOrEqual(t, len(s.evaluate("*text@4000").Value), 4<<10)
	refused := s.Do(within(t), debug.Request{Verb: debug.Evaluate, Text: "big"})
	require.Equal(t, debug.Failed, refused.Problem)
	require.Contains(t, refused.Text, "max-value-size")
	globals := s.ask(debug.Request{Verb: debug.Variables, Text: "globals"}).Variables
	require.Contains(t, globals[0].Value, "<error: ")
	stack := s.ask(debug.Request{Verb: debug.Stack})
	require.Len(t, stack.Frames, 1000)
	require.Equal(t, 10_000, stack.Total, "no more are counted")
	require.Len(t, s.ask(debug.Request{Verb: debug.Stack, First: 15_000, Count: 3}).Frames, 3)
	last := s.ask(debug.Request{Verb: debug.Stack, First: 20_001, Count: 3}).Frames
	require.Equal(t, "main", last[0].Function)
	many := s.ask(debug.Request{Verb: debug.Evaluate, Frame: 20_001, Text: "many"}).Variables[0]
	children := s.ask(debug.Request{Verb: debug.Variables, Reference: many.Reference})
	require.Len(t, children.Variables, 1000)
	require.Equal(t, 3000, children.Total)
	rest := s.ask(debug.Request{Verb: debug.Variables, Reference: many.Reference, First: 2999, Count: 100})
	require.Equal(t, "2999", rest.Variables[0].Name)
	require.Len(t, s.ask(debug.Request{Verb: debug.Memory, Text: "text", Count: 1 << 30}).Text, 2*64<<10)
	require.Equal(t, debug.Failed, s.Do(within(t), debug.Request{Verb: debug.Evaluate, Text: "*wild"}).Problem)
	require.Equal(t, debug.Notice{Report: debug.ReportExited, Signal: "SIGSEGV"}, s.until())
}

func TestFixedExecutablesAndScripts(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting, "-no-pie", "-static")
	s, _ := attach(t, path)
	require.Equal(t, 16, s.toMain().Frame.Line)
	require.Equal(t, 3, *s.until().Code)

	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nexec "+path+"\n"), 0o700))
	s, started := attach(t, script)
	require.False(t, s.place(debug.Breakpoint{ID: 1, Function: "factorial", Temporary: true})[0].Verified, "the shell has no such function")
	stop := s.until()
	require.Equal(t, "factorial", stop.Frame.Function, "after exec")
	require.Equal(t, 3, *s.until().Code)
	require.Equal(t, 3, started.wait().ExitStatus())

	stripped := compile(t, "gcc", "count.c", counting, "-s")
	s, _ = attach(t, stripped)
	require.False(t, s.place(debug.Breakpoint{ID: 1, Function: "main"})[0].Verified)
	require.Equal(t, 3, *s.until().Code)
}

func TestRunningProcessesAreAttachedAndLeftAsTheyWere(t *testing.T) {
	path := compile(t, "gcc", "threads.c", threads, "-pthread")
	command := exec.Command(path)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	_, err = output.Read(make([]byte, 1))
	require.NoError(t, err)
	pid := command.Process.Pid
	for range 5 {
		s := open(t, mi.EngineOptions{Directory: filepath.Dir(path)})
		require.NoError(t, s.Attach(within(t), pid, ""))
		require.Len(t, s.ask(debug.Request{Verb: debug.Threads}).Threads, 4)
		require.Equal(t, filepath.Dir(path)+".\n", s.ask(debug.Request{Verb: debug.Raw, Text: "pwd"}).Text[len("Working directory "):])
		s.place(debug.Breakpoint{ID: 1, Function: "work"})
		require.Equal(t, []int{1}, s.until().Breakpoints)
		s.ask(debug.Request{Verb: debug.Detach})
		requireRuns(t, pid)
		s.Close()
	}
	// Another debugger has it.
	first, second := open(t, mi.EngineOptions{}), open(t, mi.EngineOptions{})
	require.NoError(t, first.Attach(within(t), pid, ""))
	require.Error(t, second.Attach(within(t), pid, ""))
	second.Close()
	first.Close()
	requireRuns(t, pid)
}

func TestAKilledDebuggerIsNoticed(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	s, started := attach(t, path, "forever")
	s.toMain()
	require.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
	require.Equal(t, debug.Notice{Report: debug.ReportGone, Text: "the debugger crashed"}, s.next(debug.ReportGone))
	require.Equal(t, debug.Silent, s.Do(within(t), debug.Request{Verb: debug.Stack}).Problem)
	s.Close()
	status, _ := guard.ReadStatus(started.pid)
	require.Zero(t, status.Tracer)
}
