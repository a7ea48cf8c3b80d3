package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/server"
)

// usedByChildren returns the time on processors of processes that have ended.
func usedByChildren(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

const working = `
#include <stdio.h>
#include <math.h>
static int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
int main(void) { printf("%d\n", work(20)); return 0; }
`

// TestServersCostLittleMoreThanBareDebuggers compares the time on processors for eight programs with that of eight
// debuggers that do the same.
func TestServersCostLittleMoreThanBareDebuggers(t *testing.T) {
	const target, most, count = 1.10, 1.5, 8
	ratio := 10.0
	for try := 0; try < 3 && ratio > target; try++ { // others use the machine, too
		d := newDebugging(t)
		program := d.compiles(working, "/usr/lib/*/libm.so.6")
		file := d.writes(server.Pass{Arguments: []string{program}})
		begin := usedByChildren(t)
		var running sync.WaitGroup
		for range count {
			running.Go(func() {
				command := exec.Command("gdb", "-batch", "-nx", "-ex", "set startup-with-shell off", "-ex", "break main", "-ex", "run", "-ex", "bt", "-ex", "info locals", "-ex", "continue", program)
				output, err := command.Output()
				require.NoError(t, err)
				require.Contains(t, string(output), "exited normally")
			})
		}
		running.Wait()
		middle := usedByChildren(t)
		for number := range count {
			running.Go(func() {
				command := exec.Command(d.node, "debug", "--pass", file)
				command.Env = append(os.Environ(), "PMI_RANK="+strconv.Itoa(number), "PMI_SIZE="+strconv.Itoa(count))
				output, err := command.Output()
				require.NoError(t, err)
				require.Equal(t, "6765", strings.TrimSpace(string(output)))
			})
		}
		d.session.Start(d.ctx, debug.Request{Stop: debug.StopAtMain})
		d.awaits(count, debug.Stopped, "main")
		d.asks(debug.Request{Verb: debug.Stack, Count: 20})
		d.asks(debug.Request{Verb: debug.Variables, Text: "locals"})
		d.asks(debug.Request{Verb: debug.Continue})
		running.Wait()
		end := usedByChildren(t)
		t.Logf("8 programs: bare gdb %s, debugged %s", middle-begin, end-middle)
		ratio = min(ratio, float64(end-middle)/float64(middle-begin))
	}
	require.LessOrEqual(t, ratio, most, "the target is %.2f on an idle machine", target)
}
