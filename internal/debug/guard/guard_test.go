package guard_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/guard"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		guard.Serve(context.Background(), os.Stdin, os.Stdout, guard.Silence)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startSleeper starts a process in a separate group, which ends with the test.
func startSleeper(t *testing.T) (int, guard.Status) {
	t.Helper()
	command := exec.Command("sleep", "1000")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	status, exists := guard.ReadStatus(command.Process.Pid)
	require.True(t, exists)
	return command.Process.Pid, status
}

func isStopped(pid int) bool {
	status, _ := guard.ReadStatus(pid)
	return status.IsStopped()
}

func stop(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	require.Eventually(t, func() bool { return isStopped(pid) }, 10*time.Second, time.Millisecond)
}

func TestGuardReleasesWhenTheClientIsGone(t *testing.T) {
	for _, ending := range []string{"closed", "silent", "signal"} {
		debugger, debuggerStatus := startSleeper(t)
		left, leftStatus := startSleeper(t)
		stopped, stoppedStatus := startSleeper(t)
		done, doneStatus := startSleeper(t)
		for _, pid := range []int{left, stopped, done} {
			stop(t, pid)
		}
		client, pipe := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		silence := time.Minute
		if ending == "silent" {
			silence = 50 * time.Millisecond
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			guard.Serve(ctx, client, io.Discard, silence)
		}()
		_, err := fmt.Fprintf(pipe, "debugger %d %d\nattach %d %d false\nattach %d %d true\nattach %d %d false\ndetached %d\nnonsense\nbeat\n", debugger, debuggerStatus.Start,
			left, leftStatus.Start, stopped, stoppedStatus.Start, done, doneStatus.Start, done)
		require.NoError(t, err)
		switch ending {
		case "closed":
			require.NoError(t, pipe.Close())
		case "signal":
			cancel()
		}
		<-served
		cancel()
		require.NoError(t, pipe.Close())
		status, _ := guard.ReadStatus(debugger)
		require.True(t, status.HasEnded(), ending)
		require.False(t, isStopped(left), ending)
		require.True(t, isStopped(stopped), ending)
		require.True(t, isStopped(done), "a process that is detached is not the guard's: "+ending)
	}
}

func TestProgramsEndWithTheClient(t *testing.T) {
	for _, ending := range []string{"closed", "silent", "signal"} {
		program, status := startSleeper(t)
		stop(t, program)
		ended, endedStatus := startSleeper(t)
		other, otherStatus := startSleeper(t)
		client, pipe := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		silence := time.Minute
		if ending == "silent" {
			silence = 50 * time.Millisecond
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			guard.Serve(ctx, client, io.Discard, silence)
		}()
		_, err := fmt.Fprintf(pipe, "program %d %d\nattach %d %d false\nprogram %d %d\nended %d\nprogram %d %d\nbeat\n",
			program, status.Start, program, status.Start, ended, endedStatus.Start, ended, other, otherStatus.Start+1)
		require.NoError(t, err)
		if ending == "signal" {
			cancel()
		}
		if ending != "closed" {
			require.Eventually(t, func() bool { return !isStopped(program) }, 10*time.Second, time.Millisecond, "it is never left stopped: "+ending)
			now, _ := guard.ReadStatus(program)
			require.False(t, now.HasEnded(), "the client lives: "+ending)
		}
		require.NoError(t, pipe.Close())
		<-served
		cancel()
		require.Eventually(t, func() bool { now, _ := guard.ReadStatus(program); return now.HasEnded() }, 10*time.Second, time.Millisecond, ending)
		for _, pid := range []int{ended, other} {
			now, _ := guard.ReadStatus(pid)
			require.False(t, now.HasEnded(), ending)
		}
	}
}

func TestAnotherProcessWithTheSamePidIsLeftAlone(t *testing.T) {
	pid, status := startSleeper(t)
	stop(t, pid)
	guard.Serve(t.Context(), strings.NewReader(fmt.Sprintf("debugger %d %d\nattach %d %d false\n", pid, status.Start+1, pid, status.Start+1)), io.Discard, time.Minute)
	require.True(t, isStopped(pid))
}

func TestStoppedChildrenOfADebuggerThatWasKilledEnd(t *testing.T) {
	command := exec.Command("sh", "-c", "sleep 1000 >/dev/null & echo $!; exec sleep 1000 >/dev/null")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	var child int
	_, err = fmt.Fscan(output, &child)
	require.NoError(t, err)
	stop(t, child)
	debugger, _ := guard.ReadStatus(command.Process.Pid)
	require.NoError(t, command.Process.Kill())
	require.Error(t, command.Wait())
	guard.End(command.Process.Pid, debugger.Start)
	require.Eventually(t, func() bool { status, exists := guard.ReadStatus(child); return !exists || status.HasEnded() }, 10*time.Second, time.Millisecond)
}

func TestClientAndGuard(t *testing.T) {
	started, err := guard.Start(t.Context(), []string{os.Args[0], "guard"})
	require.NoError(t, err)
	debugger, _ := startSleeper(t)
	require.NoError(t, started.AddDebugger(debugger))
	pid, before := startSleeper(t)
	require.NoError(t, started.Attach(pid, before))
	stop(t, pid)
	program, _ := startSleeper(t)
	require.NoError(t, started.AddProgram(program))
	gone, _ := startSleeper(t)
	require.NoError(t, started.AddProgram(gone))
	started.RemoveProgram(gone)
	started.Close()
	require.False(t, isStopped(pid))
	require.Eventually(t, func() bool { now, _ := guard.ReadStatus(program); return now.HasEnded() }, 10*time.Second, time.Millisecond)
	now, _ := guard.ReadStatus(gone)
	require.False(t, now.HasEnded())
	require.Error(t, started.Attach(pid, before), "the guard has ended")

	_, err = guard.Start(t.Context(), []string{"/nonexistent/guard"})
	require.ErrorContains(t, err, "could not start the guard: ")
	_, err = guard.Start(t.Context(), []string{"true"})
	require.ErrorContains(t, err, "could not start the guard: it did not become ready")
}

func TestReleaseRestoresTheStateOfAProcess(t *testing.T) {
	pid, before := startSleeper(t)
	stop(t, pid)
	require.True(t, guard.Release(t.Context(), pid, before.Start, false))
	require.False(t, isStopped(pid))
	require.True(t, guard.Release(t.Context(), pid, before.Start, true))
	require.True(t, isStopped(pid))
	require.True(t, guard.Release(t.Context(), 1<<30, 1, false), "there is no such process")
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("debugger 99999999 1\nattach 99999999 1 true\nprogram 99999999 1\ndetached 99999999\nended 99999999\nbeat\n"))
	f.Add([]byte("attach -1 1 true\ndebugger 0 0\n\x00"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		var ready bytes.Buffer
		guard.Serve(t.Context(), bytes.NewReader(lines), &ready, time.Minute)
		require.Equal(t, "ready\n", ready.String())
	})
}
