package collect_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stacks"
)

const pythonProgram = `
import os, threading, time
def deepest():
    print("ready", flush=True)
    time.sleep(1000)
def middle(n):
    if n: middle(n - 1)
    else: deepest()
middle(1)
`

// startPython starts the program with the system's Python, which may have its extension for gdb.
func startPython(t *testing.T) (pid int, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "program.py")
	require.NoError(t, os.WriteFile(path, []byte(pythonProgram), 0o600))
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("no Python of the system")
	}
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip("gdb is not installed: testdata/clusters/install.sh installs it")
	}
	return start(t, "/usr/bin/python3", path).Process.Pid, path
}

func requirePythonFrames(t *testing.T, path string, thread stacks.Thread) {
	t.Helper()
	require.Equal(t, []stacks.Frame{
		{Function: "<module>", File: path, Line: 9, Python: true}, {Function: "middle", File: path, Line: 7, Python: true},
		{Function: "middle", File: path, Line: 8, Python: true}, {Function: "deepest", File: path, Line: 5, Python: true},
	}, thread.Frames[:4])
	require.Greater(t, len(thread.Frames), 4, "the calls of C inside follow")
	for _, frame := range thread.Frames[4:] {
		require.False(t, frame.Python)
		require.NotContains(t, frame.Function, "_PyEval_EvalFrame")
	}
}

func TestPythonFramesComeFromItsExtensionForGdb(t *testing.T) {
	if found, _ := filepath.Glob("/usr/share/gdb/auto-load/usr/bin/python3*-gdb.py"); len(found) == 0 {
		t.Skip("Python's extension for gdb is not installed: package python3-dbg")
	}
	pid, path := startPython(t)
	requirePythonFrames(t, path, decode(t, read(t, stacks.Request{}, pid)[0]).Threads[0])
}

func TestPythonFramesComeFromPySpy(t *testing.T) {
	pid, path := startPython(t)
	folder := t.TempDir()
	printed := fmt.Sprintf(`[{"pid":%d,"thread_id":1,"thread_name":"MainThread","os_thread_id":%d,"frames":[{"name":"deepest","filename":%q,"line":5},{"name":"middle","filename":%q,"line":8},{"name":"middle","filename":%q,"line":7},{"name":"<module>","filename":%q,"line":9}]}]`,
		pid, pid, path, path, path, path)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "py-spy"), []byte("#!/bin/sh\ncat <<'END'\n"+printed+"\nEND\n"), 0o700)) //nolint:gosec // a program
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	requirePythonFrames(t, path, decode(t, read(t, stacks.Request{}, pid)[0]).Threads[0])
}

func TestPythonWithoutHelpersShowsItsCalls(t *testing.T) {
	pid, _ := startPython(t)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "py-spy"), []byte("#!/bin/sh\nyes '[['\n"), 0o700)) //nolint:gosec // a program
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	require.NotEmpty(t, decode(t, read(t, stacks.Request{}, pid)[0]).Threads[0].Frames, "py-spy prints without end")
}
