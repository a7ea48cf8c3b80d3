package adapter_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
)

func TestFurtherThreadsOfARank(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	f.on(1, func(r *rank) { r.threads = 3 })
	e.start()
	ids := e.threads("rank 0", "rank 1", "rank 1 thread 2", "rank 1 thread 3")
	stops := map[int]dap.StoppedEventBody{}
	for len(stops) < 3 { // that of rank 0 has been taken
		body := next[*dap.StoppedEvent](e).Body
		stops[body.ThreadId] = body
	}
	require.Equal(t, "Stopped with rank 1", stops[ids[3]].Description)
	ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": ids[2]})
	f.on(1, func(r *rank) {
		require.Equal(t, 2, r.asked[len(r.asked)-1].Thread)
		r.threads, r.endsAt = 2, 10000
	})
	// All threads of the process continue. The editor knows that of the one that it continued.
	ask[*dap.ContinueResponse](e, "continue", map[string]any{"threadId": ids[1]})
	gone := map[int]bool{next[*dap.ContinuedEvent](e).Body.ThreadId: true, next[*dap.ContinuedEvent](e).Body.ThreadId: true}
	require.Equal(t, map[int]bool{ids[2]: true, ids[3]: true}, gone)
	require.Contains(t, e.failing("stackTrace", map[string]any{"threadId": ids[1]}), "must be stopped")
	require.Contains(t, e.failing("next", map[string]any{"threadId": ids[1]}), "must be stopped")
	ask[*dap.PauseResponse](e, "pause", map[string]any{"threadId": ids[1]})
	require.Equal(t, "pause", next[*dap.StoppedEvent](e).Body.Reason)
	require.Equal(t, ids[:3], e.threads("rank 0", "rank 1", "rank 1 thread 2"))
}

func TestTheFocusStopsFirst(t *testing.T) {
	f := &fleet{size: 3}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	for body := e.start().Body; body.ThreadId != 3; body = next[*dap.StoppedEvent](e).Body {
		require.Equal(t, body.ThreadId != 1, body.PreserveFocusHint)
	}
	ask[*dap.NextResponse](e, "next", map[string]any{"threadId": 3})
	body := next[*dap.StoppedEvent](e).Body
	require.Equal(t, 3, body.ThreadId)
	require.False(t, body.PreserveFocusHint)
	f.on(0, func(r *rank) { r.resume(); r.stop(debug.Notice{Reason: debug.ReasonBreakpoint}) })
	body = next[*dap.StoppedEvent](e).Body
	require.Equal(t, 1, body.ThreadId)
	require.True(t, body.PreserveFocusHint, "the user looks at rank 2")
}

func TestStacksThatDifferShowWhatTheyHaveInCommon(t *testing.T) {
	f := &fleet{size: 100, differ: func(rank int) int { return rank / 50 }}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	id := e.threads("ranks 0-99: work at solver.c:10")[0]
	body := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id}).Body
	require.Len(t, body.StackFrames, 2)
	require.Equal(t, 2, body.TotalFrames)
	require.Equal(t, "work", body.StackFrames[0].Name)
	require.Equal(t, "different callers: 0-49: call0 at solver.c:40 | 50-99: call0 at solver.c:41", body.StackFrames[1].Name)
	require.Equal(t, "label", body.StackFrames[1].PresentationHint)
	label := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id, "startFrame": 1, "levels": 10}).Body
	require.Len(t, label.StackFrames, 1)
	require.Equal(t, body.StackFrames[1].Name, label.StackFrames[0].Name)
	f.on(7, func(r *rank) { r.member.Leave("the node is down") })
	e.threads("ranks 0-6,8-99: work at solver.c:10")
	value := ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "me", "context": "watch"}).Body
	require.Contains(t, value.Result, "0: 0.1 | 1: 1.1")
	require.LessOrEqual(t, len(value.Result), 1100)
	copied := ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "me", "context": "clipboard"}).Body
	require.Equal(t, 98, strings.Count(copied.Result, "|"))
	classes := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": value.VariablesReference, "start": 90, "count": 5}).Body.Variables
	require.Len(t, classes, 5)
	require.Equal(t, "91.1", classes[0].Value)
}

func TestStacksComeInPages(t *testing.T) {
	for _, size := range []int{1, 100} {
		f := &fleet{size: size}
		e := open(t, adapter.Options{Launch: f.launch})
		e.begin(program)
		id := e.start().Body.ThreadId
		if size > 1 {
			id = e.threads("ranks 0-99: work at solver.c:10")[0]
		}
		var names []string
		for first := 0; first < 6; first += 4 {
			body := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id, "startFrame": first, "levels": 4}).Body
			require.Equal(t, 6, body.TotalFrames)
			for _, each := range body.StackFrames {
				names = append(names, each.Name)
			}
		}
		require.Equal(t, []string{"work", "call0", "call1", "call2", "main", "__libc_start_main in libc.so.6"}, names)
	}
}

// locals opens the variables of the innermost frame of a thread.
func (e *editor) locals(id int) (frame, number int, byName map[string]dap.Variable) {
	e.t.Helper()
	frame = ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id, "levels": 1}).Body.StackFrames[0].Id
	number = ask[*dap.ScopesResponse](e, "scopes", map[string]any{"frameId": frame}).Body.Scopes[0].VariablesReference
	byName = map[string]dap.Variable{}
	for _, each := range ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": number}).Body.Variables {
		byName[each.Name] = each
	}
	return frame, number, byName
}

func TestVariablesOfRanksThatDiffer(t *testing.T) {
	f := &fleet{size: 70}
	e := open(t, adapter.Options{Launch: f.launch, AllowRaw: true})
	e.begin(program)
	e.start()
	id := e.threads("ranks 0-69: work at solver.c:10")[0]
	frame, number, all := e.locals(id)
	require.Equal(t, "0-2,4-69: 8 | 3: -1", all["n"].Value)
	require.Equal(t, "equal", all["me"].Value)
	require.Equal(t, "n", all["n"].EvaluateName)

	// An array comes in pages. An editor without pages opens the rest.
	require.Equal(t, 250, all["a"].IndexedVariables)
	some := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": all["a"].VariablesReference, "start": 100, "count": 100}).Body.Variables
	require.Len(t, some, 100)
	require.Equal(t, "[100]", some[0].Name)
	members := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": all["s"].VariablesReference}).Body.Variables
	require.Equal(t, "0-2,4-69: 8 | 3: -1", members[1].Value)

	// Setting one value sets it on its ranks, setting the variable on all.
	ask[*dap.SetVariableResponse](e, "setVariable", map[string]any{"variablesReference": all["n"].VariablesReference, "name": "3", "value": "5"})
	f.on(3, func(r *rank) { require.Equal(t, "5", r.variable["n"]) })
	f.on(4, func(r *rank) { require.Empty(t, r.variable["n"]) })
	next[*dap.InvalidatedEvent](e)
	require.Equal(t, "6", ask[*dap.SetVariableResponse](e, "setVariable", map[string]any{"variablesReference": number, "name": "n", "value": "6"}).Body.Value)
	f.on(4, func(r *rank) { require.Equal(t, "6", r.variable["n"]) })
	require.Equal(t, "7", ask[*dap.SetExpressionResponse](e, "setExpression", map[string]any{"frameId": frame, "expression": "me", "value": "7"}).Body.Value)
	require.Contains(t, e.failing("setVariable", map[string]any{"variablesReference": all["n"].VariablesReference, "name": "99", "value": "5"}), "cannot set")
	require.Equal(t, "raw info", ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "raw info", "frameId": frame, "context": "repl"}).Body.Result)
}

func TestSourcesThatTheEditorCannotRead(t *testing.T) {
	f := &fleet{size: 3}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	id := e.start().Body.ThreadId
	source := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id}).Body.StackFrames[0].Source
	require.Equal(t, "/src/solver.c", source.Path)
	require.Positive(t, source.SourceReference)
	text := ask[*dap.SourceResponse](e, "source", map[string]any{"sourceReference": source.SourceReference}).Body.Content
	require.Equal(t, "int work;\n", text)
	shown := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
		"source": map[string]any{"sourceReference": source.SourceReference}, "breakpoints": []any{map[string]any{"line": 20}},
	}).Body.Breakpoints
	require.True(t, shown[0].Verified)

	readable := filepath.Join(t.TempDir(), "local.c")
	require.NoError(t, os.WriteFile(readable, nil, 0o600))
	shown = ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
		"source": map[string]any{"path": readable}, "breakpoints": []any{map[string]any{"line": 20}},
	}).Body.Breakpoints
	require.Zero(t, shown[0].Source.SourceReference)
}

func TestLinesFromZero(t *testing.T) {
	f := &fleet{size: 1}
	e := open(t, adapter.Options{Launch: f.launch})
	ask[*dap.InitializeResponse](e, "initialize", map[string]any{"adapterID": "rmctl", "linesStartAt1": false, "columnsStartAt1": false})
	ask[*dap.LaunchResponse](e, "launch", map[string]any{"program": "a"})
	set := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
		"source": map[string]any{"path": "/src/solver.c"}, "breakpoints": []any{map[string]any{"line": 19}},
	}).Body.Breakpoints
	require.Equal(t, 19, set[0].Line)
	id := e.start().Body.ThreadId
	f.on(0, func(r *rank) { require.Equal(t, 20, r.line) })
	frame := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id}).Body.StackFrames[0]
	require.Equal(t, [2]int{19, 0}, [2]int{frame.Line, frame.Column})
}

// An editor without paging gets many children bit by bit.
func TestChildrenBeyondAnAnswer(t *testing.T) {
	f := &fleet{size: 1, cells: 2500}
	e := open(t, adapter.Options{Launch: f.launch})
	ask[*dap.InitializeResponse](e, "initialize", map[string]any{"adapterID": "rmctl"})
	ask[*dap.LaunchResponse](e, "launch", program)
	_, _, all := e.locals(e.start().Body.ThreadId)
	number, count := all["a"].VariablesReference, 0
	for number > 0 {
		some := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": number}).Body.Variables
		last := some[len(some)-1]
		number = last.VariablesReference
		count += len(some)
		if number > 0 {
			require.Equal(t, "(more)", last.Name)
			count--
		}
	}
	require.Equal(t, 2500, count)
}

func TestRunWithoutDebugging(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(map[string]any{"program": "a", "noDebug": true, "stop": "main"})
	shown := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
		"source": map[string]any{"path": "/src/solver.c"}, "breakpoints": []any{map[string]any{"line": 20}},
	}).Body.Breakpoints
	require.False(t, shown[0].Verified)
	ask[*dap.ConfigurationDoneResponse](e, "configurationDone", nil)
	require.Equal(t, 1, next[*dap.ExitedEvent](e).Body.ExitCode)
}

// A rank that joins late has the breakpoints, and reports their places.
func TestLateRanks(t *testing.T) {
	f := &fleet{size: 3, late: 1}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	set := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
		"source": map[string]any{"path": "/src/solver.c"}, "breakpoints": []any{map[string]any{"line": 502}},
	}).Body.Breakpoints
	require.True(t, set[0].Verified)
	e.start()
	f.on(2, func(r *rank) { r.hello("build") })
	changed := next[*dap.BreakpointEvent](e).Body.Breakpoint
	require.Equal(t, "rank 2: no such place", changed.Message)
	e.threads("rank 0", "rank 1", "rank 2")
}

func TestRanksWithoutAnAnswerAreNamed(t *testing.T) {
	f := &fleet{size: 66}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	id := e.threads("ranks 0-65: work at solver.c:10")[0]
	frame, _, _ := e.locals(id)
	number := e.send("evaluate", map[string]any{"expression": "n", "frameId": frame})
	e.response(number)
	f.on(9, func(r *rank) { r.silent = true })
	number = e.send("evaluate", map[string]any{"expression": "n", "frameId": frame})
	ask[*dap.CancelResponse](e, "cancel", map[string]any{"requestId": number})
	failed, hasFailed := e.response(number).(*dap.ErrorResponse)
	require.True(t, hasFailed)
	require.Equal(t, "cancelled", failed.Message)
}
