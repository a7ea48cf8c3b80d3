package adapter_test

import (
	"testing"
	"time"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
)

func TestBreakpointsApplyToAllRanks(t *testing.T) {
	f := &fleet{size: 4}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(map[string]any{"program": "/home/me/solver"})
	source := map[string]any{"path": "/src/solver.c"}
	set := func(breakpoints ...map[string]any) []dap.Breakpoint {
		return ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{"source": source, "breakpoints": breakpoints}).Body.Breakpoints
	}
	first := set(map[string]any{"line": 20}, map[string]any{"line": 502}, map[string]any{"line": 2000})
	require.True(t, first[0].Verified)
	require.False(t, first[1].Verified)
	require.Equal(t, "rank 2: no such place", first[1].Message)
	require.Equal(t, "no such place", first[2].Message, "of all ranks")
	second := set(map[string]any{"line": 20}, map[string]any{"line": 30, "condition": "$rank == 2", "hitCondition": "> 4", "logMessage": "n is {n}"}, map[string]any{"line": 31, "hitCondition": "x"})
	require.Equal(t, first[0].Id, second[0].Id, "an equal one stays")
	require.NotEqual(t, first[1].Id, second[1].Id)
	require.False(t, second[2].Verified)
	require.Contains(t, second[2].Message, `invalid hit count "x"`)
	f.on(3, func(r *rank) {
		require.Len(t, r.breakpoints, 2)
		require.Equal(t, debug.Breakpoint{ID: second[1].Id, File: "/src/solver.c", Line: 30, Condition: "$rank == 2", Hits: ">=5", Log: "n is {n}"}, r.breakpoints[1])
	})
	functions := ask[*dap.SetFunctionBreakpointsResponse](e, "setFunctionBreakpoints", map[string]any{"breakpoints": []any{map[string]any{"name": "work"}, map[string]any{"name": "nowhere"}}}).Body.Breakpoints
	require.True(t, functions[0].Verified)
	require.False(t, functions[1].Verified)
	exceptions := ask[*dap.SetExceptionBreakpointsResponse](e, "setExceptionBreakpoints", map[string]any{
		"filters": []string{"throw"}, "filterOptions": []any{map[string]any{"filterId": "panic", "condition": "$rank > 1"}, map[string]any{"filterId": "other"}},
	}).Body.Breakpoints
	require.True(t, exceptions[1].Verified)
	require.Contains(t, exceptions[2].Message, "unknown exception filter")

	stopped := e.start()
	require.Equal(t, "breakpoint", stopped.Body.Reason)
	require.Equal(t, []int{first[0].Id}, stopped.Body.HitBreakpointIds)

	// A rank loads a library, and no longer has a breakpoint; then all have the other one.
	f.on(1, func(r *rank) {
		r.notice(debug.Notice{Report: debug.ReportPlaced, Placements: []debug.Placement{{ID: first[0].Id, Text: "unloaded"}}})
	})
	changed := next[*dap.BreakpointEvent](e).Body
	require.Equal(t, first[0].Id, changed.Breakpoint.Id)
	require.False(t, changed.Breakpoint.Verified)
	require.Equal(t, "rank 1: unloaded", changed.Breakpoint.Message)
	for number := range 4 {
		f.on(number, func(r *rank) {
			r.notice(debug.Notice{Report: debug.ReportPlaced, Placements: []debug.Placement{{ID: functions[1].Id, Verified: true, File: "/src/late.c", Line: 7}}})
		})
	}
	for changed.Breakpoint.Id != functions[1].Id || !changed.Breakpoint.Verified {
		changed = next[*dap.BreakpointEvent](e).Body
	}
	require.Equal(t, 7, changed.Breakpoint.Line)
}

func TestReportsOfRanksAreNewerThanAnAwaitedAnswer(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	id := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
		"source": map[string]any{"path": "/src/solver.c"}, "breakpoints": []any{map[string]any{"line": 20}},
	}).Body.Breakpoints[0].Id
	reports := func(text string) {
		f.on(1, func(r *rank) {
			r.notice(debug.Notice{Report: debug.ReportPlaced, Placements: []debug.Placement{{ID: id, Text: text}}})
		})
	}
	answers := make(chan struct{})
	require.NoError(t, f.ranks[0].enqueue(func() { <-answers }))
	number := e.send("setFunctionBreakpoints", map[string]any{"breakpoints": []any{map[string]any{"name": "work"}}})
	require.Eventually(t, func() (hasAnswered bool) {
		f.on(1, func(r *rank) { hasAnswered = len(r.breakpoints) == 2 })
		return hasAnswered
	}, patience, time.Millisecond)
	reports("unloaded")
	require.Equal(t, "rank 1: unloaded", next[*dap.BreakpointEvent](e).Body.Breakpoint.Message)
	close(answers)
	wait[*dap.SetFunctionBreakpointsResponse](e, number)
	reports("gone")
	require.Equal(t, "rank 1: gone", next[*dap.BreakpointEvent](e).Body.Breakpoint.Message)
	// Once no answer is awaited, the next one counts again.
	ask[*dap.SetFunctionBreakpointsResponse](e, "setFunctionBreakpoints", map[string]any{"breakpoints": []any{}})
	require.True(t, next[*dap.BreakpointEvent](e).Body.Breakpoint.Verified)
}

func TestDataBreakpointsWatchWhatTheEditorShows(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	id := e.start().Body.ThreadId
	frame := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id}).Body.StackFrames[0].Id
	locals := ask[*dap.ScopesResponse](e, "scopes", map[string]any{"frameId": frame}).Body.Scopes[0].VariablesReference
	shown := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": locals}).Body.Variables
	members := shown[3].VariablesReference
	ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": members})
	info := ask[*dap.DataBreakpointInfoResponse](e, "dataBreakpointInfo", map[string]any{"variablesReference": members, "name": "y"}).Body
	require.Equal(t, "s.y", info.DataId)
	unknown := ask[*dap.DataBreakpointInfoResponse](e, "dataBreakpointInfo", map[string]any{"variablesReference": members, "name": "z"}).Body
	require.Nil(t, unknown.DataId)
	ask[*dap.SetDataBreakpointsResponse](e, "setDataBreakpoints", map[string]any{"breakpoints": []any{map[string]any{"dataId": "s.y", "accessType": "readWrite"}}})
	f.on(1, func(r *rank) {
		require.Equal(t, "s.y", r.breakpoints[0].Watch)
		require.Equal(t, "any", r.breakpoints[0].Access)
	})
}

func TestHitCountsOfEditors(t *testing.T) {
	f := &fleet{size: 1}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	for text, want := range map[string]string{"5": ">=5", " >= 5": ">=5", ">5": ">=6", "= 5": "=5", "==5": "=5", "%5": "%5", "": "", ">0": ">=1", "0": "!", "<5": "!", "5>": "!", "%0": "!", "99999999999": "!"} {
		shown := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
			"source": map[string]any{"path": "/src/solver.c"}, "breakpoints": []any{map[string]any{"line": 20, "hitCondition": text}},
		}).Body.Breakpoints[0]
		require.Equal(t, want != "!", shown.Verified, text)
		if want != "!" {
			f.on(0, func(r *rank) { require.Equal(t, want, r.breakpoints[0].Hits, text) })
		}
	}
}
