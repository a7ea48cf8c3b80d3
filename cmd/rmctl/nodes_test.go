package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Each script of testdata/script-nodes is a conversation with rmctl about the processes of
// running jobs, with a real debugger.
func TestOnNodes(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"gdb", "cc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s", program)
		}
	}
	installNodeProgram(t)
	rmctltest.Scripts(t, filepath.Join("testdata", "script-nodes"), nil)
}

// installNodeProgram installs rmctl-node next to the rmctl that scripts run.
func installNodeProgram(t *testing.T) {
	t.Helper()
	program, err := exec.LookPath("rmctl")
	require.NoError(t, err)
	rmctltest.NodeProgram(t, filepath.Dir(program))
}

func TestKillingStacksLeavesTheProcessesRunning(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip("needs gdb")
	}
	installNodeProgram(t)
	desk := rmctltest.NewDesk(t, "")
	file := filepath.Join(desk.Home, "pid")
	spool := filepath.Join(desk.Home, ".local", "state", "rmctl", "local")
	number := strconv.Itoa(os.Getpid() * 1000) // a job is found by its number, and other tests have jobs, too
	require.NoError(t, os.MkdirAll(filepath.Join(spool, "jobs", number), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(spool, "last"), []byte(number+"\n"), 0o600))
	id := strings.TrimSpace(desk.Does("submit", "--", "sh", "-c", `echo $$ >"$1.part"; mv "$1.part" "$1"; exec sleep 1000`, "sh", file))
	t.Cleanup(func() { desk.Does("cancel", id) })
	var pid string
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(file)
		pid = strings.TrimSpace(string(text))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	status := func() string {
		text, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
		if err != nil {
			return "the process of the job has ended: " + desk.Does("status", "--json", id)
		}
		return string(text)
	}
	isFree := func() bool {
		return strings.Contains(status(), "\nTracerPid:\t0\n") && strings.Contains(status(), "\nState:\tS ")
	}
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		reading := desk.Command(t.Context(), "stacks", id, "--samples", "100", "--every", "1ms")
		require.NoError(t, reading.Start())
		require.Eventually(t, func() bool { return !isFree() }, time.Minute, time.Millisecond, "no debugger has attached")
		require.NoError(t, reading.Process.Signal(signal))
		require.Error(t, reading.Wait())
		require.Eventually(t, isFree, time.Minute, time.Millisecond, "%v", signal)
	}
}
