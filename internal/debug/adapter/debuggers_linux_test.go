package adapter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/adapter"
)

const countingGo = `package main

import (
	"fmt"
	"os"
)

func twice(n int) int {
	n *= 2
	return n // doubled
}

func main() {
	n := len(os.Getenv("OMPI_COMM_WORLD_RANK"))
	fmt.Println("twice", twice(n))
}
`

// goOf119 is the Go of Debian, whose programs Debian's delve can debug.
const goOf119 = "/usr/lib/go-1.19/bin/go"

func TestRanksUnderOtherDebuggers(t *testing.T) {
	t.Run("lldb", func(t *testing.T) {
		needProgram(t, "lldb-vscode-14")
		program, file := compileC(t, solver)
		tryDebugger(t, map[string]any{"program": program, "debugger": "lldb", "debuggerPath": "lldb-vscode-14"}, file, lineOf(solver, "/* relaxed */"), "relax", "rank", "1")
	})
	t.Run("delve", func(t *testing.T) {
		needProgram(t, "dlv")
		needProgram(t, goOf119)
		folder := t.TempDir()
		file, program := filepath.Join(folder, "main.go"), filepath.Join(folder, "counting")
		require.NoError(t, os.WriteFile(file, []byte(countingGo), 0o600))
		build := exec.Command(goOf119, "build", "-gcflags=all=-N -l", "-o", program, file)
		build.Env = append(os.Environ(), "GOROOT=/usr/lib/go-1.19", "GO111MODULE=off", "CGO_ENABLED=0", "GOFLAGS=")
		output, err := build.CombinedOutput()
		require.NoError(t, err, "%s", output)
		tryDebugger(t, map[string]any{"program": program, "debugger": "dlv", "debuggerPath": "dlv"}, file, lineOf(countingGo, "// doubled"), "main.twice", "n", "2")
	})
}

// tryDebugger stops two ranks at a line of a function, where rank 1 has a value, and lets them end.
func tryDebugger(t *testing.T, configuration map[string]any, file string, line int, function, variable, value string) {
	t.Helper()
	configuration["processes"] = 2
	e := open(t, adapter.Options{Launch: launchReal})
	e.begin(configuration)
	source := map[string]any{"path": file}
	ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{"source": source, "breakpoints": []any{map[string]any{"line": line}}})
	e.start()
	next[*dap.StoppedEvent](e)
	trace := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": 2, "levels": 1}).Body.StackFrames[0]
	require.Equal(t, function, trace.Name)
	require.Equal(t, line, trace.Line)
	require.Equal(t, value, ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": variable, "frameId": trace.Id, "context": "hover"}).Body.Result)
	ask[*dap.NextResponse](e, "next", map[string]any{"threadId": 2})
	require.Equal(t, "step", next[*dap.StoppedEvent](e).Body.Reason)
	ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{"source": source, "breakpoints": []any{}})
	for id := 1; id <= 2; id++ {
		ask[*dap.ContinueResponse](e, "continue", map[string]any{"threadId": id})
	}
	require.Zero(t, next[*dap.ExitedEvent](e).Body.ExitCode)
	ask[*dap.DisconnectResponse](e, "disconnect", nil)
	require.NoError(t, e.end())
}
