package clusters_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// An editor speaks the Debug Adapter Protocol with rmctl.
type editor struct {
	t      *testing.T
	input  io.Writer
	output *bufio.Reader
	last   int
}

// asks sends a request, and returns its number.
func (e *editor) asks(command string, arguments any) int {
	e.t.Helper()
	e.last++
	text, err := json.Marshal(map[string]any{"seq": e.last, "type": "request", "command": command, "arguments": arguments})
	require.NoError(e.t, err)
	require.NoError(e.t, dap.WriteBaseMessage(e.input, text))
	return e.last
}

// until reads messages until one fits.
func (e *editor) until(fits func(dap.Message) bool) dap.Message {
	e.t.Helper()
	for {
		message, err := dap.ReadProtocolMessage(e.output)
		require.NoError(e.t, err)
		if failed, isResponse := message.(*dap.ErrorResponse); isResponse {
			require.Fail(e.t, "a request failed", failed.Message)
		}
		if fits(message) {
			return message
		}
	}
}

func (e *editor) answers(number int) dap.Message {
	e.t.Helper()
	return e.until(func(message dap.Message) bool {
		response, isResponse := message.(dap.ResponseMessage)
		return isResponse && response.GetResponse().RequestSeq == number
	})
}

// An editor debugs the ranks of an MPI program through the command that its configuration names.
func TestAnEditorDebugsMPI(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	rmctltest.ClusterScript(t, "install.sh")
	d := rmctltest.NewDesk(t, "")
	program := compiled(t, "summing", summing)
	command := d.Command(t.Context(), "debug", "--dap")
	input, err := command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	var errors strings.Builder
	command.Stderr = &errors
	require.NoError(t, command.Start())
	limit := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() }) // it may have ended
	defer limit.Stop()
	e := &editor{t: t, input: input, output: bufio.NewReader(output)}
	e.answers(e.asks("initialize", map[string]any{"adapterID": "rmctl"}))
	e.asks("launch", map[string]any{"program": program, "target": "mpich", "processes": 4})
	e.until(func(message dap.Message) bool { _, isEvent := message.(*dap.InitializedEvent); return isEvent })
	e.answers(e.asks("setBreakpoints", map[string]any{"source": map[string]any{"path": program + ".c"}, "breakpoints": []any{map[string]any{"line": 6, "condition": "$rank == 3"}}}))
	e.asks("configurationDone", nil)
	stopped, isStop := e.until(func(message dap.Message) bool { _, isEvent := message.(*dap.StoppedEvent); return isEvent }).(*dap.StoppedEvent)
	require.True(t, isStop)
	require.Equal(t, "breakpoint", stopped.Body.Reason)
	trace, isTrace := e.answers(e.asks("stackTrace", map[string]any{"threadId": stopped.Body.ThreadId})).(*dap.StackTraceResponse)
	require.True(t, isTrace)
	require.Equal(t, "sum", trace.Body.StackFrames[0].Name)
	value, isValue := e.answers(e.asks("evaluate", map[string]any{"expression": "result", "frameId": trace.Body.StackFrames[0].Id})).(*dap.EvaluateResponse)
	require.True(t, isValue)
	require.Equal(t, "310", value.Body.Result, "of rank 3")
	e.asks("continue", map[string]any{"threadId": stopped.Body.ThreadId})
	exited, isExit := e.until(func(message dap.Message) bool { _, isEvent := message.(*dap.ExitedEvent); return isEvent }).(*dap.ExitedEvent)
	require.True(t, isExit)
	require.Equal(t, 3, exited.Body.ExitCode, "of the worst rank")
	e.answers(e.asks("disconnect", nil))
	require.NoError(t, command.Wait(), &errors)
	require.Empty(t, processesOf(t, program))
}
