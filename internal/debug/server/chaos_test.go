package server_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/server"
)

// serveAlone is a server in a separate process, whose client is at descriptor 3. It prints the process of its
// debugger to descriptor 4. The words are a program, or the process to attach to.
func serveAlone(words []string) int {
	conn, err := net.FileConn(os.NewFile(3, "client"))
	if err != nil {
		return 2
	}
	options := server.Options{
		Host: "n1", Debugger: server.GDB, Environment: os.Environ(), Guard: []string{os.Args[0], "guard"}, Find: exec.LookPath,
		WhenLeft: server.End, Linger: 5 * time.Second, Output: os.Stdout, Errors: os.Stderr,
	}
	if options.PID, err = strconv.Atoi(words[0]); err == nil {
		options.WhenLeft = server.Release
	} else {
		options.Program = &debug.Program{Arguments: words}
	}
	options.Open = func(ctx context.Context, notify func(debug.Notice)) (server.Engine, error) {
		open := openGDB(0)
		if kind := os.Getenv("TEST_DEBUGGER"); kind != server.GDB {
			open = openDAP(kind, 0)
		}
		engine, err := open(ctx, notify)
		if err == nil {
			fmt.Fprintln(os.NewFile(4, "debugger"), engine.PID())
		}
		return engine, err
	}
	ending, err := server.Serve(context.Background(), conn, options)
	if err != nil {
		return 1
	}
	return ending.Code
}

// An alone is a server in a separate process.
type alone struct {
	*client
	*exec.Cmd
	debugger int
	ended    chan struct{}
}

func servesAlone(t testing.TB, kind string, words ...string) *alone {
	t.Helper()
	near, far := socketPair(t)
	unix, isUnix := far.(*net.UnixConn)
	require.True(t, isUnix)
	file, err := unix.File()
	require.NoError(t, err)
	require.NoError(t, far.Close())
	pids, pipe, err := os.Pipe()
	require.NoError(t, err)
	a := &alone{client: newClient(t, near), Cmd: exec.Command(os.Args[0], append([]string{"serve"}, words...)...), ended: make(chan struct{})}
	a.Env = append(os.Environ(), "TEST_DEBUGGER="+kind)
	a.ExtraFiles = []*os.File{file, pipe}
	require.NoError(t, a.Start())
	require.NoError(t, file.Close())
	require.NoError(t, pipe.Close())
	go func() {
		defer close(a.ended)
		_ = a.Wait()
	}()
	line, err := bufio.NewReader(pids).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, pids.Close())
	a.debugger = atoi(t, strings.TrimSpace(line))
	t.Cleanup(func() {
		_ = near.Close()
		<-a.ended
	})
	return a
}

// writes sends requests that may get no answer.
func (a *alone) writes(lines ...string) {
	for i, line := range lines {
		_, _ = fmt.Fprintf(a.conn, "%d %s\n", 1000+i, line)
	}
}

// rounds returns how often something is tried: more with RMCTL_CHAOS.
func rounds(usual, thorough int) int {
	if os.Getenv("RMCTL_CHAOS") != "" {
		return thorough
	}
	return usual
}

// processesOf returns the processes that run a program.
func processesOf(t testing.TB, program string) (pids []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	require.NoError(t, err)
	for _, link := range links {
		if target, _ := os.Readlink(link); target == program {
			pids = append(pids, atoi(t, strings.Split(link, "/")[2]))
		}
	}
	return pids
}

const sleeping = `
#include <unistd.h>
int main(void) { for (;;) usleep(1000); }`

// sleeps returns a program that sleeps, for a debugger, and how to run it.
func sleeps(t testing.TB, kind string) (program string, words []string) {
	t.Helper()
	if kind == server.DLV {
		program = compileGo(t)
		return program, []string{program, "3", "wait"}
	}
	if kind == server.LLDB {
		needPrograms(t, "lldb-vscode-14")
	}
	program = compile(t, sleeping)
	return program, []string{program}
}

// eachDebugger runs a test for each debugger, with how often it is tried.
func eachDebugger(t *testing.T, test func(t *testing.T, kind string, random *rand.Rand, times int)) {
	for kind, times := range map[string]int{server.GDB: rounds(6, 120), server.LLDB: rounds(3, 70), server.DLV: rounds(3, 70)} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind, rand.New(rand.NewPCG(1, 1)), times)
		})
	}
}

// waits waits until a random moment.
func waits(random *rand.Rand) {
	<-time.After(time.Duration(random.IntN([]int{40, 300, 800}[random.IntN(3)])) * time.Millisecond)
}

func TestAProgramDoesNotOutliveItsServer(t *testing.T) {
	t.Parallel()
	eachDebugger(t, func(t *testing.T, kind string, random *rand.Rand, times int) {
		program, words := sleeps(t, kind)
		for i := range times {
			victims := []string{"server", "debugger", "both"}[i%3]
			a := servesAlone(t, kind, words...)
			a.writes(`{"verb":"start","stop":"`+[]string{"main", "entry", "no"}[random.IntN(3)]+`"}`, `{"verb":"continue"}`, `{"verb":"halt"}`, `{"verb":"continue"}`)
			waits(random)
			kills(t, a, victims)
			if victims == "debugger" {
				requireAllRun(t, program)
				_ = a.conn.Close() // it may be closed
			}
			require.Eventually(t, func() bool { return len(processesOf(t, program)) == 0 }, patience, 5*time.Millisecond, "%d %s", i, victims)
			requireEnds(t, a.debugger)
			<-a.ended
		}
	})
}

func TestAProcessRunsOnWithoutItsServer(t *testing.T) {
	t.Parallel()
	eachDebugger(t, func(t *testing.T, kind string, random *rand.Rand, times int) {
		_, words := sleeps(t, kind)
		sleeper := exec.Command(words[0], words[1:]...)
		require.NoError(t, sleeper.Start())
		defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
		for i := range times {
			victims := []string{"server", "debugger", "both", "client"}[i%4]
			a := servesAlone(t, kind, strconv.Itoa(sleeper.Process.Pid))
			a.writes(`{"verb":"start","stop":"`+[]string{"entry", "no"}[random.IntN(2)]+`"}`, `{"verb":"continue"}`, `{"verb":"halt"}`)
			waits(random)
			kills(t, a, victims)
			requireRuns(t, sleeper.Process.Pid)
			_ = a.conn.Close() // it may be closed
			<-a.ended
			requireRuns(t, sleeper.Process.Pid)
			requireEnds(t, a.debugger)
			status, _ := guard.ReadStatus(sleeper.Process.Pid)
			require.False(t, status.HasEnded(), "%d %s", i, victims)
		}
	})
}

// kills kills the server, its debugger or both. The client only leaves.
func kills(t testing.TB, a *alone, victims string) {
	t.Helper()
	if victims == "debugger" || victims == "both" {
		_ = syscall.Kill(a.debugger, syscall.SIGKILL) // it may have ended
	}
	if victims == "server" || victims == "both" {
		_ = a.Process.Kill()
	}
	if victims == "client" {
		_ = a.conn.Close()
	}
}

// requireAllRun waits until no process of a program is stopped or has a debugger.
func requireAllRun(t testing.TB, program string) {
	t.Helper()
	for _, pid := range processesOf(t, program) {
		requireRuns(t, pid)
	}
}
