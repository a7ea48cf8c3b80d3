package adapter_test

import (
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
)

var program = map[string]any{"program": "/home/me/solver", "stop": "main", "__sessionId": "added by the editor"}

func TestEachRankIsAThread(t *testing.T) {
	f := &fleet{size: 4}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	stopped := e.start()
	require.Equal(t, dap.StoppedEventBody{Reason: "entry", Description: "Stopped in main", ThreadId: 1}, stopped.Body)
	for id := 2; id <= 4; id++ {
		stopped := next[*dap.StoppedEvent](e)
		require.Equal(t, id, stopped.Body.ThreadId)
		require.True(t, stopped.Body.PreserveFocusHint)
	}
	threads := ask[*dap.ThreadsResponse](e, "threads", nil).Body.Threads
	require.Equal(t, []dap.Thread{{Id: 1, Name: "rank 0"}, {Id: 2, Name: "rank 1"}, {Id: 3, Name: "rank 2"}, {Id: 4, Name: "rank 3"}}, threads)

	// A step moves one rank.
	ask[*dap.NextResponse](e, "next", map[string]any{"threadId": 3})
	require.Equal(t, dap.StoppedEventBody{Reason: "step", Description: "Stepped", ThreadId: 3}, next[*dap.StoppedEvent](e).Body)
	trace := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": 3}).Body
	require.Equal(t, 11, trace.StackFrames[0].Line)
	require.Equal(t, 6, trace.TotalFrames)
	require.Equal(t, 10, ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": 1}).Body.StackFrames[0].Line)

	// The exit code is that of the worst rank.
	for id := 1; id <= 4; id++ {
		require.False(t, ask[*dap.ContinueResponse](e, "continue", map[string]any{"threadId": id}).Body.AllThreadsContinued)
	}
	require.Equal(t, 3, next[*dap.ExitedEvent](e).Body.ExitCode)
	next[*dap.TerminatedEvent](e)
	ask[*dap.DisconnectResponse](e, "disconnect", nil)
	require.NoError(t, e.end())
	require.Equal(t, []bool{true}, f.kills)
}

func TestVariablesShowTheRanksThatDiffer(t *testing.T) {
	f := &fleet{size: 5}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	evaluate := func(expression string) dap.EvaluateResponseBody {
		return ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": expression, "context": "repl"}).Body
	}
	for range 4 {
		next[*dap.StoppedEvent](e)
	}
	require.Equal(t, "8", evaluate("n").Result, "the focus is rank 0")
	require.Equal(t, "no such variable", e.failing("evaluate", map[string]any{"expression": "m"}))
}

func TestManyRanksAreThreadsByClass(t *testing.T) {
	f := &fleet{size: 512}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	id := e.threads("ranks 0-511: work at solver.c:10")[0]
	trace := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id}).Body
	require.Len(t, trace.StackFrames, 6)
	frame := trace.StackFrames[0].Id
	value := ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "n", "frameId": frame, "context": "watch"}).Body
	require.Equal(t, "0-2,5-511: 8 | 3: -1 | 4: no such variable", value.Result)
	classes := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": value.VariablesReference}).Body.Variables
	require.Len(t, classes, 3)
	require.Equal(t, "3", classes[1].Name)
	require.Equal(t, "-1", classes[1].Value)
	ask[*dap.SetVariableResponse](e, "setVariable", map[string]any{"variablesReference": value.VariablesReference, "name": "3", "value": "9"})
	f.on(3, func(r *rank) { require.Equal(t, "9", r.variable["n"]) })
	f.on(5, func(r *rank) { require.Empty(t, r.variable["n"]) })

	// One rank moves on, and becomes a separate thread.
	f.on(7, func(r *rank) {
		r.line = 30
		r.resume()
		r.stop(debug.Notice{Reason: debug.ReasonSignal, Signal: "SIGSEGV"})
	})
	ids := e.threads("ranks 0-6,8-511: work at solver.c:10", "rank 7: work at solver.c:30")
	for event := (&dap.ThreadEvent{}); event.Body != (dap.ThreadEventBody{Reason: "exited", ThreadId: id}); {
		event = next[*dap.ThreadEvent](e)
	}
	require.Contains(t, e.failing("stackTrace", map[string]any{"threadId": id}), "no thread")
	require.Contains(t, e.failing("scopes", map[string]any{"frameId": frame}), "the ranks have run since")
	info := ask[*dap.ExceptionInfoResponse](e, "exceptionInfo", map[string]any{"threadId": ids[1]}).Body
	require.Equal(t, "SIGSEGV", info.ExceptionId)
}

func TestClassesThatRunHaveOtherNames(t *testing.T) {
	f := &fleet{size: 100, late: 99}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	id := e.threads("rank 0: work at solver.c:10")[0]
	f.on(0, func(r *rank) { r.endsAt = 10000 })
	ask[*dap.ContinueResponse](e, "continue", map[string]any{"threadId": id})
	require.Equal(t, []dap.InvalidatedAreas{"threads"}, next[*dap.InvalidatedEvent](e).Body.Areas)
	require.Equal(t, id, e.threads("rank 0: running")[0])
	ask[*dap.PauseResponse](e, "pause", map[string]any{"threadId": id})
	require.Equal(t, "pause", next[*dap.StoppedEvent](e).Body.Reason)
}

// A user makes ranks of a class threads of their own, and joins them again.
func TestAClassSplitsOnDemand(t *testing.T) {
	f := &fleet{size: 512}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	e.threads("ranks 0-511: work at solver.c:10")
	console := func(line string) map[string]any { return map[string]any{"expression": line, "context": "repl"} }
	ask[*dap.EvaluateResponse](e, "evaluate", console("split 7,9"))
	ids := e.threads("ranks 0-6,8,10-511: work at solver.c:10", "rank 7: work at solver.c:10", "rank 9: work at solver.c:10")
	ask[*dap.NextResponse](e, "next", map[string]any{"threadId": ids[1]})
	e.threads("ranks 0-6,8,10-511: work at solver.c:10", "rank 7: work at solver.c:11", "rank 9: work at solver.c:10")
	ask[*dap.EvaluateResponse](e, "evaluate", console("join 9"))
	e.threads("ranks 0-6,8-511: work at solver.c:10", "rank 7: work at solver.c:11")
	ask[*dap.EvaluateResponse](e, "evaluate", console("join all"))
	e.threads("ranks 0-6,8-511: work at solver.c:10", "rank 7: work at solver.c:11")
	require.Contains(t, e.failing("evaluate", console("split 0-64")), "at most 64 ranks")
	require.Contains(t, e.failing("evaluate", console("split n")), "no such variable")
}
