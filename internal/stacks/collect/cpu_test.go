package collect_test

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/stacks/collect"
)

// used returns the time on processors of this process and its children that have ended.
func used(t *testing.T) time.Duration {
	t.Helper()
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		require.NoError(t, syscall.Getrusage(who, &usage))
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return total
}

// TestCollectingCostsLittleMoreThanBareDebuggers compares the time on processors for eight processes with that
// of eight debuggers that print the same.
func TestCollectingCostsLittleMoreThanBareDebuggers(t *testing.T) {
	program := compile(t, waiting)
	var pids []int
	for range 8 {
		pids = append(pids, start(t, program, "20", "2").Process.Pid)
	}
	const most = 1.10
	ratio := 10.0
	for try := 0; try < 3 && ratio > most; try++ { // others use the machine, too
		begin := used(t)
		for _, pid := range pids {
			command := exec.Command("gdb", "-batch", "-nx", "-p", strconv.Itoa(pid), "-ex", "thread apply all bt")
			output, err := command.Output()
			require.NoError(t, err)
			require.Contains(t, string(output), "main")
		}
		middle := used(t)
		results := read(t, stacks.Request{}, pids...)
		end := used(t)
		require.Len(t, results, 8)
		for _, result := range results {
			require.Contains(t, functions(decode(t, result).Threads[0]), "main")
		}
		t.Logf("8 processes: bare gdb %s, collected %s", middle-begin, end-middle)
		ratio = min(ratio, float64(end-middle)/float64(middle-begin))
	}
	t.Logf("ratio %.2f", ratio)
	require.LessOrEqual(t, ratio, most)
}

func BenchmarkEightProcesses(b *testing.B) {
	path := b.TempDir() + "/program"
	require.NoError(b, os.WriteFile(path+".c", []byte(waiting), 0o600))
	require.NoError(b, exec.Command("gcc", "-g", "-pthread", "-w", "-o", path, path+".c").Run())
	var targets []collect.Target
	for range 8 {
		command := exec.Command(path, "20", "2")
		command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		require.NoError(b, command.Start())
		defer func() { _ = command.Process.Kill(); _ = command.Wait() }()
		targets = append(targets, collect.Target{Rank: len(targets), PID: command.Process.Pid})
	}
	for b.Loop() {
		require.NoError(b, collect.Collect(b.Context(), options(), stacks.Request{}, targets, func(collect.Result) {}))
	}
}
