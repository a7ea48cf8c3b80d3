package collect_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// startSleepers starts processes without a compiler.
func startSleepers(t *testing.T, count int) []int {
	t.Helper()
	pids := make([]int, count)
	for i := range pids {
		pids[i] = start(t, "sh", "-c", "echo ready; exec sleep 1000").Process.Pid
	}
	return pids
}

func TestDebuggersThatFailAtEachPlace(t *testing.T) {
	pids := startSleepers(t, 2)
	for _, how := range []string{"crash", "hang", "garbage"} {
		for _, place := range []string{"start", "attach", "attached", "threads", "frames", "detach", "detached", "exit"} {
			debugger, err := stackstest.Debugger(t.TempDir(), how+"-"+place)
			require.NoError(t, err)
			options := options()
			options.Limit = 300 * time.Millisecond
			options.AtOnce = 1
			targets := []collect.Target{{Rank: 0, PID: pids[0]}, {Rank: 1, PID: pids[1]}}
			var results []collect.Result
			require.NoError(t, collect.Collect(t.Context(), options, stacks.Request{Debugger: debugger}, targets, func(result collect.Result) { results = append(results, result) }))
			require.Len(t, results, 2, "%s %s", how, place)
			for _, result := range results {
				switch {
				case how == "garbage" || place == "exit":
					require.Empty(t, result.Problem, "%s %s", how, place)
				case how == "crash":
					require.Equal(t, "the debugger crashed", result.Problem, place)
				default:
					require.Equal(t, "the debugger did not answer in time", result.Problem, place)
				}
				requireRuns(t, pids[result.Rank])
			}
		}
	}
}

func TestADebuggerThatAlwaysHangsDoesNotTakeTheTimeOfAllProcesses(t *testing.T) {
	debugger, err := stackstest.Debugger(t.TempDir(), "hang-threads")
	require.NoError(t, err)
	options := options()
	options.Limit, options.AtOnce = 200*time.Millisecond, 1
	targets := make([]collect.Target, 100)
	pid := startSleepers(t, 1)[0]
	for i := range targets {
		targets[i] = collect.Target{Rank: i, PID: pid}
	}
	begin, count := time.Now(), 0
	require.NoError(t, collect.Collect(t.Context(), options, stacks.Request{Debugger: debugger}, targets, func(result collect.Result) {
		count++
		require.Equal(t, "the debugger did not answer in time", result.Problem)
	}))
	require.Equal(t, 100, count)
	require.Less(t, time.Since(begin), 10*time.Second)
	requireRuns(t, pid)
}

// killAtRandom collects stacks in a separate process, and kills that or its debuggers.
func killAtRandom(t *testing.T, debugger string, pids []int, rounds int, longest time.Duration) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"collect", debugger}
	for _, pid := range pids {
		words = append(words, strconv.Itoa(pid))
	}
	stopped := pids[0]
	require.NoError(t, syscall.Kill(stopped, syscall.SIGSTOP))
	for range rounds {
		client := exec.Command(os.Args[0], words...)
		client.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		require.NoError(t, client.Start())
		timer := time.NewTimer(time.Duration(random.Int64N(int64(longest))))
		<-timer.C
		if random.IntN(2) == 0 {
			for _, child := range children(client.Process.Pid) {
				if name, _ := os.Readlink("/proc/" + strconv.Itoa(child) + "/cwd"); name == "/" && debuggerIs(child, debugger) {
					_ = syscall.Kill(child, syscall.SIGKILL)
				}
			}
		}
		guards := children(client.Process.Pid)
		require.NoError(t, client.Process.Kill())
		_ = client.Wait()
		require.Eventually(t, func() bool {
			for _, child := range guards {
				if status, exists := guard.ReadStatus(child); exists && !status.HasEnded() {
					return false
				}
			}
			return true
		}, 20*time.Second, time.Millisecond, "the guard and the debuggers end")
		for _, pid := range pids[1:] {
			requireRuns(t, pid)
		}
		status, _ := guard.ReadStatus(stopped)
		require.True(t, status.IsStopped() && status.Tracer == 0, "a process that was stopped before stays stopped")
	}
}

// debuggerIs reports whether a process runs the debugger.
func debuggerIs(pid int, debugger string) bool {
	words, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return strings.Contains(string(words), filepath.Base(debugger))
}

// children returns the children of a process.
func children(pid int) []int {
	var all []int
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(word)
			all = append(all, child)
		}
	}
	return all
}

// rounds returns how often something is tried: more with RMCTL_CHAOS.
func rounds(usual, thorough int) int {
	if os.Getenv("RMCTL_CHAOS") != "" {
		return thorough
	}
	return usual
}

func TestNoProcessStaysStoppedAfterRandomKills(t *testing.T) {
	debugger, err := stackstest.Debugger(t.TempDir(), "")
	require.NoError(t, err)
	killAtRandom(t, debugger, startSleepers(t, 4), rounds(60, 500), 40*time.Millisecond)
}

func TestNoProcessStaysStoppedAfterRandomKillsOfGdb(t *testing.T) {
	program := compile(t, waiting)
	var pids []int
	for range 3 {
		pids = append(pids, start(t, program, "3", "3").Process.Pid)
	}
	killAtRandom(t, "gdb", pids, rounds(8, 50), 500*time.Millisecond)
}

func TestRanksThatEndDuringTheAttach(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	program := compile(t, waiting)
	for range 8 {
		living := start(t, program, "3", "0").Process.Pid
		dying := start(t, program, "30", "3")
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = collect.Collect(context.Background(), options(), stacks.Request{Samples: 3}, []collect.Target{{Rank: 0, PID: living}, {Rank: 1, PID: dying.Process.Pid}}, func(result collect.Result) {
				if result.Problem != "" {
					require.Equal(t, 1, result.Rank)
					require.Equal(t, "the process has ended", result.Problem)
				}
			})
		}()
		timer := time.NewTimer(time.Duration(random.Int64N(int64(400 * time.Millisecond))))
		<-timer.C
		require.NoError(t, dying.Process.Kill())
		<-done
		requireRuns(t, living)
	}
}
