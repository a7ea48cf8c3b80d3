package collect_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/stacks/collect"
	"github.com/rmctl/rmctl/internal/stacks/stackstest"
)

func TestMain(m *testing.M) {
	stackstest.Main()
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
		guard.Serve(context.Background(), os.Stdin, os.Stdout, guard.Silence)
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "collect" {
		collectForever(os.Args[2], os.Args[3:])
	}
	os.Exit(m.Run())
}

// collectForever plays a relay that somebody kills.
func collectForever(debugger string, pids []string) {
	targets := make([]collect.Target, len(pids))
	for i, pid := range pids {
		targets[i].Rank = i
		targets[i].PID, _ = strconv.Atoi(pid)
	}
	for {
		_ = collect.Collect(context.Background(), options(), stacks.Request{Debugger: debugger}, targets, func(collect.Result) {})
	}
}

func options() collect.Options {
	return collect.Options{Guard: []string{os.Args[0], "guard"}}
}

// compile compiles a program in C. It skips the test if gdb or the compiler is missing.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	for _, needed := range []string{"gdb", "gcc"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not installed: testdata/clusters/install.sh installs it", needed)
		}
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "program.c"), []byte(source), 0o600))
	command := exec.Command("gcc", append([]string{"-g", "-O0", "-pthread", "-w", "-o", "program", "program.c"}, flags...)...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return filepath.Join(folder, "program")
}

// start starts a program that prints a line when it is ready.
func start(t *testing.T, path string, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(path, arguments...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	_, err = output.Read(make([]byte, 1))
	require.NoError(t, err)
	return command
}

// waiting is a program that recurses, and waits with some threads.
const waiting = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *wait_in_thread(void *x) { for (;;) pause(); }
static int recurse(int n) { if (n > 0) return recurse(n - 1) + 1; puts("ready"); fflush(stdout); for (;;) pause(); }
int main(int count, char **words) {
	pthread_t thread;
	for (int i = 0; i < atoi(words[2]); i++) pthread_create(&thread, 0, wait_in_thread, 0);
	return recurse(atoi(words[1]));
}`

// read collects from processes and returns the results by rank and sample.
func read(t *testing.T, request stacks.Request, pids ...int) []collect.Result {
	t.Helper()
	targets := make([]collect.Target, len(pids))
	for i, pid := range pids {
		targets[i] = collect.Target{Rank: i, PID: pid}
	}
	var results []collect.Result
	require.NoError(t, collect.Collect(t.Context(), options(), request, targets, func(result collect.Result) { results = append(results, result) }))
	for _, pid := range pids {
		requireRuns(t, pid)
	}
	return results
}

// requireRuns checks that a process is neither stopped nor under a debugger.
func requireRuns(t *testing.T, pid int) {
	t.Helper()
	status, exists := guard.ReadStatus(pid)
	if exists && !status.HasEnded() {
		require.Zero(t, status.Tracer)
		require.NotContains(t, "tT", string(status.State))
		require.False(t, status.StopPending)
	}
}

func decode(t *testing.T, result collect.Result) stacks.Stack {
	t.Helper()
	require.Empty(t, result.Problem)
	stack, err := stacks.Decode(result.Stack)
	require.NoError(t, err)
	return stack
}

func functions(thread stacks.Thread) string {
	names := make([]string, len(thread.Frames))
	for i, frame := range thread.Frames {
		names[i] = frame.Function
	}
	return strings.Join(names, " ")
}

func TestEqualProcessesHaveEqualBytes(t *testing.T) {
	program := compile(t, waiting)
	var pids []int
	for range 4 {
		pids = append(pids, start(t, program, "3", "2").Process.Pid)
	}
	results := read(t, stacks.Request{Samples: 2}, pids...)
	require.Len(t, results, 8)
	for _, result := range results {
		stack := decode(t, result)
		require.Contains(t, functions(stack.Threads[0]), "main recurse recurse recurse recurse")
		require.Len(t, stack.Threads, 2)
		require.Equal(t, 2, stack.Threads[1].Count)
		require.Contains(t, functions(stack.Threads[1]), "wait_in_thread")
		stack.Sample = 0
		first := decode(t, results[0])
		require.Equal(t, string(first.Encode()), string(stack.Encode()))
	}
}

// TestStacksAreThoseOfBareDebuggers generates programs, and compares their stacks with the output of gdb.
func TestStacksAreThoseOfBareDebuggers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds(4, 30) {
		var source strings.Builder
		source.WriteString("#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n#include <sys/prctl.h>\n#include <semaphore.h>\nstatic sem_t ready;\n")
		threads := random.IntN(4)
		for thread := range threads + 1 {
			depth := 1 + random.IntN(6)
			for level := range depth {
				call := "sem_post(&ready); for (;;) pause();"
				if level > 0 {
					call = fmt.Sprintf("if (n > 0) f%d_%d(n - 1, s); else f%d_%d(%d, s);", thread, level, thread, level-1, random.IntN(3))
				}
				fmt.Fprintf(&source, "%sstatic void f%d_%d(int n, const char *s) { %s }\n", strings.Repeat("\n", random.IntN(3)), thread, level, call)
			}
			fmt.Fprintf(&source, "static void *t%d(void *x) { prctl(PR_SET_NAME, \"name %d\"); f%d_%d(%d, \"a)b\\\"\"); return 0; }\n", thread, random.IntN(100), thread, depth-1, random.IntN(5))
		}
		source.WriteString("static void *announce(void *x) {")
		for range threads + 1 {
			source.WriteString("sem_wait(&ready);")
		}
		source.WriteString("puts(\"ready\"); fflush(stdout); return 0; }\nint main() { pthread_t t; pthread_attr_t a; sem_init(&ready, 0, 0); pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED); pthread_create(&t, &a, announce, 0);")
		for thread := range threads {
			fmt.Fprintf(&source, "pthread_create(&t, 0, t%d, 0);", thread+1)
		}
		source.WriteString("t0(0); }\n")
		process := start(t, compile(t, source.String())).Process
		require.Eventually(t, func() bool {
			tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", process.Pid))
			return len(tasks) == threads+1
		}, 10*time.Second, time.Millisecond, "the announcing thread ends")

		stack := decode(t, read(t, stacks.Request{}, process.Pid)[0])
		want := bare(t, process.Pid)
		require.Equal(t, string(want.Encode()), string(stack.Encode()), source.String())
	}
}

var (
	bareThread = regexp.MustCompile(`^Thread (\d+) \(.*\(LWP \d+\)(?: "(.*)")?\):$`)
	bareFrame  = regexp.MustCompile(`^#\d+ +(?:0x[0-9a-f]+ in )?(\S+) \(.*\)(?: at (.*):(\d+)| from (.*))?$`)
)

// bare returns the output of gdb for a process.
func bare(t *testing.T, pid int) stacks.Stack {
	t.Helper()
	command := exec.Command("gdb", "-batch", "-nx", "-p", strconv.Itoa(pid), "-ex", "thread apply all -ascending bt")
	command.Env = append(os.Environ(), "LC_ALL=C")
	output, err := command.Output()
	require.NoError(t, err)
	var stack stacks.Stack
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSuffix(line, "\n")
		if found := bareThread.FindStringSubmatch(line); found != nil {
			stack.Threads = append(stack.Threads, stacks.Thread{Name: found[2]})
		}
		if found := bareFrame.FindStringSubmatch(line); found != nil && len(stack.Threads) > 0 {
			thread := &stack.Threads[len(stack.Threads)-1]
			lineNumber, _ := strconv.Atoi(found[3])
			frame := stacks.Frame{Function: strings.TrimPrefix(found[1], "??"), File: found[2], Line: lineNumber, Module: found[4]}
			thread.Frames = append([]stacks.Frame{frame}, thread.Frames...)
		}
	}
	return stack
}

func TestProgramsWithoutSymbols(t *testing.T) {
	program := compile(t, waiting)
	for _, flags := range [][]string{{"-s"}, {"-s", "-static"}} {
		stripped := compile(t, waiting, flags...)
		pids := []int{start(t, stripped, "3", "1").Process.Pid, start(t, program, "3", "1").Process.Pid}
		for _, result := range read(t, stacks.Request{}, pids...) {
			stack := decode(t, result)
			require.NotEmpty(t, stack.Threads[0].Frames, "%v", flags)
			require.NotContains(t, string(result.Stack), "0x", "no addresses: %v", flags)
			require.Equal(t, result.Rank == 1, strings.Contains(functions(stack.Threads[0]), "main recurse"), "each program has its own symbols")
		}
	}
}

func TestHostileNames(t *testing.T) {
	program := compile(t, `
#include <stdio.h>
#include <unistd.h>
#include <sys/prctl.h>
#line 7 "/src/\033[2J;\377.c"
void grün(void) { prctl(PR_SET_NAME, "a\033]0;\377\"\\;\nx"); puts("ready"); fflush(stdout); for (;;) pause(); }
int main(void) { grün(); }`)
	result := read(t, stacks.Request{}, start(t, program).Process.Pid)[0]
	stack := decode(t, result)
	text := stacks.NewTree([]stacks.Answer{{Stack: stack}}, nil).Text()
	require.Contains(t, functions(stack.Threads[0]), "main grün")
	require.Contains(t, string(result.Stack), `\u001b[2J`)
	require.Equal(t, "a\x1b]0;\ufffd\"\\;", stack.Threads[0].Name, "gdb reads one line")
	require.NotContains(t, text, "\x1b")
	require.Contains(t, text, "grün at [2J;\ufffd.c:7")
}

func TestDeepRecursionIsCut(t *testing.T) {
	process := start(t, compile(t, waiting), "100000", "0").Process
	frames := decode(t, read(t, stacks.Request{}, process.Pid)[0]).Threads[0].Frames
	require.Len(t, frames, stacks.KeptOutside+1+stacks.KeptInside)
	omitted := frames[stacks.KeptOutside].Omitted
	require.InDelta(t, 100_000-stacks.KeptInside-stacks.KeptOutside, omitted, 10)
	require.Equal(t, "recurse", frames[stacks.KeptOutside-1].Function)
	require.Contains(t, functions(stacks.Thread{Frames: frames[:5]}), "main recurse")
}

func TestProcessesThatCannotBeRead(t *testing.T) {
	program := compile(t, waiting)
	living := start(t, program, "1", "0").Process.Pid
	ended := start(t, program, "1", "0")
	require.NoError(t, ended.Process.Kill())
	require.Eventually(t, func() bool { status, _ := guard.ReadStatus(ended.Process.Pid); return status.HasEnded() }, 10*time.Second, time.Millisecond)
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed: testdata/clusters/install.sh installs it")
	}
	traced := start(t, program, "1", "0").Process.Pid
	strace := exec.Command("strace", "-f", "-o", "/dev/null", "-p", strconv.Itoa(traced))
	require.NoError(t, strace.Start())
	defer func() { _ = strace.Process.Kill(); _ = strace.Wait() }()
	require.Eventually(t, func() bool { status, _ := guard.ReadStatus(traced); return status.Tracer != 0 }, 10*time.Second, time.Millisecond)

	var problems [4]string
	require.NoError(t, collect.Collect(t.Context(), options(), stacks.Request{}, []collect.Target{{Rank: 0, PID: living}, {Rank: 1, PID: ended.Process.Pid}, {Rank: 2, PID: traced}, {Rank: 3, PID: living, Start: 1}},
		func(result collect.Result) { problems[result.Rank] = result.Problem }))
	require.Equal(t, [4]string{"", "the process has ended", "already traced by another process: strace", "the process has ended"}, problems)

	result := read(t, stacks.Request{Debugger: "no-such-gdb"}, living)[0]
	require.Equal(t, "no debugger: no-such-gdb not found; install gdb on the node or name it with --debugger", result.Problem)
	require.Error(t, collect.Collect(t.Context(), collect.Options{Guard: []string{"false"}}, stacks.Request{}, []collect.Target{{PID: living}}, func(collect.Result) {}), "nothing is attached without a guard")
}

func TestAStoppedProcessStaysStopped(t *testing.T) {
	pid := start(t, compile(t, waiting), "2", "1").Process.Pid
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	isStopped := func() bool { status, _ := guard.ReadStatus(pid); return status.IsStopped() && status.Tracer == 0 }
	require.Eventually(t, isStopped, 10*time.Second, time.Millisecond)
	var results []collect.Result
	require.NoError(t, collect.Collect(t.Context(), options(), stacks.Request{Samples: 3}, []collect.Target{{PID: pid}}, func(result collect.Result) { results = append(results, result) }))
	require.Len(t, results, 3)
	for _, result := range results {
		require.Contains(t, functions(decode(t, result).Threads[0]), "main recurse recurse recurse")
	}
	require.True(t, isStopped())
}

func TestCanceledQuestionsLeaveNothingBehind(t *testing.T) {
	pid := start(t, compile(t, waiting), "2", "1").Process.Pid
	for _, after := range []time.Duration{time.Nanosecond, 20 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		results := 0
		err := collect.Collect(ctx, options(), stacks.Request{Samples: 100, Every: time.Millisecond}, []collect.Target{{PID: pid}}, func(result collect.Result) {
			results++
			require.True(t, result.Problem == "" || result.Problem == "the time limit was too short", result.Problem)
		})
		require.True(t, results > 0 || strings.HasPrefix(err.Error(), "could not start the guard"))
		cancel()
		requireRuns(t, pid)
	}
}
