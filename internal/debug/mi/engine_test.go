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
)

const counting = `
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int shared_function(int x);
int global = 7;
static double hidden = 2.5;
struct node { int value; double weight; char name[16]; struct node *next; };
int factorial(int n) {
	int r;
	if (n < 2) return 1;
	r = n * factorial(n - 1);
	return r;
}
int main(int argc, char **argv) {
	int i, sum = 0;
	int numbers[5] = {1, 2, 3, 4, 5};
	struct node last = {2, 0.5, "last", 0}, first = {1, 1.5, "first", &last};
	for (i = 0; i < 5; i++)
		sum += numbers[i];
	sum = factorial(5);
	global = sum;
	printf("sum %d\n", sum); fflush(stdout);
	if (argc > 1) for (;;) usleep(1000);
	return 3;
}`

func TestProgramRunsFromItsFirstInstructionToItsEnd(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	source := filepath.Join(filepath.Dir(path), "count.c")
	s, started := attach(t, path)
	require.Regexp(t, `^gdb \d+\.\d+`, s.Version())
	require.Equal(t, []debug.Placement{
		{ID: 1, Verified: true, File: source, Line: 16},
		{ID: 2, Verified: true, File: source, Line: 11},
		{ID: 3, Text: "not found in the program yet"},
		{ID: 4, Text: `No symbol "nothing" in current context.`},
		{ID: 5, Verified: true, File: source, Line: 20},
	}, s.place(
		debug.Breakpoint{ID: 1, Function: "main", Temporary: true}, debug.Breakpoint{ID: 2, Function: "factorial", Condition: "n == 2"}, debug.Breakpoint{ID: 3, Function: "absent"},
		debug.Breakpoint{ID: 4, Watch: "nothing"}, debug.Breakpoint{ID: 5, File: source, Line: 20, Disabled: true}))
	s.ask(debug.Request{Verb: debug.Continue})
	require.Equal(t, debug.Notice{Report: debug.ReportRunning}, s.next(debug.ReportRunning, debug.ReportStopped))
	at := func(line int, function string) *debug.Frame {
		return &debug.Frame{Function: function, File: source, Line: line}
	}
	require.Equal(t, debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonBreakpoint, Thread: 1, Frame: at(16, "main"), Breakpoints: []int{1}}, s.next(debug.ReportStopped))
	s.ask(debug.Request{Verb: debug.Step, Text: debug.StepOver, Count: 2})
	require.Equal(t, debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonStep, Thread: 1, Frame: at(18, "main")}, s.next(debug.ReportStopped))
	require.Equal(t, debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonBreakpoint, Thread: 1, Frame: at(11, "factorial"), Breakpoints: []int{2}}, s.until())

	stack := s.ask(debug.Request{Verb: debug.Stack})
	require.Equal(t, debug.Answer{Total: 5, Frames: []debug.Frame{*at(11, "factorial"), *at(12, "factorial"), *at(12, "factorial"), *at(12, "factorial"), *at(21, "main")}}, stack)
	require.Equal(t, debug.Answer{Total: 5, Frames: stack.Frames[3:]}, s.ask(debug.Request{Verb: debug.Stack, First: 3, Count: 10}))
	require.Equal(t, debug.Answer{Total: 5}, s.ask(debug.Request{Verb: debug.Stack, First: 5}))
	s.ask(debug.Request{Verb: debug.Step, Text: debug.StepOut, Count: 4})
	require.Equal(t, at(21, "main"), s.next(debug.ReportStopped).Frame)

	notice := s.until()
	require.Equal(t, debug.ReportExited, notice.Report)
	require.Equal(t, 3, *notice.Code)
	require.Equal(t, 3, started.wait().ExitStatus())
	require.Equal(t, "sum 120\n", started.output.String())
	for _, verb := range []debug.Verb{debug.Continue, debug.Step, debug.Threads, debug.Stack, debug.Halt, debug.Kill, debug.Detach, debug.Raw} {
		require.Equal(t, debug.NotRunning, s.Do(within(t), debug.Request{Verb: verb}).Problem, verb)
	}
}

func TestRunningProcessIsHaltedAndDetached(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	s, started := attach(t, path, "forever")
	for range 20 {
		s.ask(debug.Request{Verb: debug.Continue})
		require.Equal(t, debug.ReportRunning, s.next(debug.ReportRunning, debug.ReportStopped).Report)
		for _, verb := range []debug.Verb{debug.Continue, debug.Step, debug.Threads, debug.Stack, debug.Evaluate, debug.Raw} {
			require.Equal(t, debug.IsRunning, s.Do(within(t), debug.Request{Verb: verb}).Problem, verb)
		}
		s.ask(debug.Request{Verb: debug.Halt})
		s.ask(debug.Request{Verb: debug.Halt})
		stop := s.next(debug.ReportRunning, debug.ReportStopped)
		require.Equal(t, debug.ReportStopped, stop.Report)
		require.Equal(t, debug.ReasonHalt, stop.Reason)
		require.Empty(t, stop.Signal)
	}
	s.ask(debug.Request{Verb: debug.Continue})
	s.ask(debug.Request{Verb: debug.Detach})
	requireRuns(t, started.pid)
	require.Equal(t, debug.Notice{Report: debug.ReportGone, Text: "detached"}, s.next(debug.ReportStopped, debug.ReportGone))
	require.Equal(t, debug.NotRunning, s.Do(within(t), debug.Request{Verb: debug.Stack}).Problem)
}

func TestCloseReleasesTheProcess(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	for _, state := range []string{"entry", "main", "running"} {
		s, started := attach(t, path, "forever")
		switch state {
		case "main":
			s.toMain()
		case "running":
			s.ask(debug.Request{Verb: debug.Continue})
		}
		s.place(debug.Breakpoint{ID: 2, Function: "usleep"})
		s.Close()
		requireRuns(t, started.pid)
		require.NoError(t, syscall.Kill(started.pid, 0))
	}
}

func TestBreakpointsOfARunningProcess(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	source := filepath.Join(filepath.Dir(path), "count.c")
	s, started := attach(t, path, "forever")
	s.ask(debug.Request{Verb: debug.Continue})
	require.Equal(t, debug.ReportRunning, s.next(debug.ReportRunning, debug.ReportStopped).Report)
	require.Eventually(t, func() bool { return started.output.String() != "" }, timeout, pause)
	for range 10 {
		require.Equal(t, []debug.Placement{{ID: 1, Verified: true, File: source, Line: 11}}, s.place(debug.Breakpoint{ID: 1, Function: "factorial"}))
		require.True(t, s.place(debug.Breakpoint{ID: 1, Watch: "global"})[0].Verified)
	}
	require.True(t, s.place(debug.Breakpoint{ID: 2, Function: "usleep"})[0].Verified)
	notice := s.next(debug.ReportRunning, debug.ReportStopped)
	require.Equal(t, debug.ReportStopped, notice.Report, "setting breakpoints is not noticed")
	require.Equal(t, []int{2}, notice.Breakpoints)
}

func TestKillEndsTheProcess(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	for _, isRunning := range []bool{false, true} {
		s, started := attach(t, path, "forever")
		s.toMain()
		if isRunning {
			s.ask(debug.Request{Verb: debug.Continue})
		}
		s.ask(debug.Request{Verb: debug.Kill})
		require.Equal(t, debug.Notice{Report: debug.ReportExited, Signal: "SIGKILL"}, s.next(debug.ReportExited))
		require.Equal(t, syscall.SIGKILL, started.wait().Signal())
	}
}

func TestBreakpointsInSharedLibrariesAndSignals(t *testing.T) {
	folder := t.TempDir()
	need(t, "gcc")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shared.c"), []byte("int shared_function(int x) {\n\tint y = 2 * x;\n\treturn y;\n}\n"), 0o600))
	library := exec.Command("gcc", "-g", "-O0", "-fPIC", "-shared", "-o", "libshared.so", "shared.c")
	library.Dir = folder
	require.NoError(t, library.Run())
	path := compile(t, "gcc", "main.c", "#include <stdlib.h>\n#include <signal.h>\nint shared_function(int x);\nint main() {\n\tint sum = shared_function(2);\n\traise(SIGSTOP);\n\traise(SIGUSR1);\n\tabort();\n}\n",
		"-L"+folder, "-lshared", "-Wl,-rpath,"+folder)
	s, _ := attach(t, path)
	require.False(t, s.place(debug.Breakpoint{ID: 1, Function: "shared_function"})[0].Verified)
	stop := s.until()
	require.Equal(t, []int{1}, stop.Breakpoints)
	require.Equal(t, 2, stop.Frame.Line)
	require.Equal(t, "main.c", filepath.Base(s.ask(debug.Request{Verb: debug.Stack}).Frames[1].File))
	for _, signal := range []string{"SIGSTOP", "SIGUSR1"} {
		stop = s.until()
		require.Equal(t, debug.ReasonSignal, stop.Reason)
		require.Equal(t, signal, stop.Signal)
	}
	require.Equal(t, debug.Notice{Report: debug.ReportExited, Signal: "SIGUSR1"}, s.until())
}

func TestPlacementsFollowWhenALibraryIsLoaded(t *testing.T) {
	folder := t.TempDir()
	need(t, "gcc")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shared.c"), []byte("int late_function(int x) {\n\treturn 2 * x;\n}\n"), 0o600))
	library := exec.Command("gcc", "-g", "-O0", "-fPIC", "-shared", "-o", "libshared.so", "shared.c")
	library.Dir = folder
	require.NoError(t, library.Run())
	path := compile(t, "gcc", "main.c", "#include <dlfcn.h>\nint main(int count, char **words) {\n\tint (*f)(int) = dlsym(dlopen(words[1], RTLD_NOW), \"late_function\");\n\treturn f(2);\n}\n", "-ldl")
	s, _ := attach(t, path, filepath.Join(folder, "libshared.so"))
	require.Equal(t, []debug.Placement{{ID: 4, Text: "not found in the program yet"}}, s.place(debug.Breakpoint{ID: 4, Function: "late_function"}))
	s.ask(debug.Request{Verb: debug.Continue})
	placed := s.next(debug.ReportPlaced).Placements
	require.Len(t, placed, 1)
	require.True(t, placed[0].Verified)
	require.Equal(t, 2, placed[0].Line)
	require.Equal(t, []int{4}, s.next(debug.ReportStopped).Breakpoints)
}
