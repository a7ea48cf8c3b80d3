package server_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

// hits lets a program hit breakpoints, and returns its number of stops and its log.
func hits(t *testing.T, count int, breakpoints ...debug.Breakpoint) (stops []int, logs []string) {
	t.Helper()
	engine := &fakeEngine{}
	options := usualOptions(t, "sleep", "1000")
	options.Open = openFake(t, engine)
	f := serves(t, options)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtEntry})
	f.stops(debug.ReasonEntry)
	f.does(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: breakpoints})
	var ids []int
	for _, each := range breakpoints {
		ids = append(ids, each.ID)
	}
	f.does(debug.Request{Verb: debug.Continue})
	f.gets(debug.ReportRunning)
	for hit := 1; hit <= count; hit++ {
		engine.stops(debug.Notice{Reason: debug.ReasonBreakpoint, Breakpoints: ids})
		engine.notify(debug.Notice{Report: debug.ReportPlaced, Placements: []debug.Placement{{ID: hit}}})
		isStopped := false
		for isDone := false; !isDone; {
			switch notice := <-f.notices; notice.Report {
			case debug.ReportOutput:
				require.Equal(t, debug.StreamLog, notice.Stream)
				logs = append(logs, notice.Text)
			case debug.ReportStopped:
				stops, isStopped = append(stops, hit), true
			case debug.ReportPlaced: // the stop was served before
				isDone = true
			default:
				require.Fail(t, "unexpected notice", "%+v", notice)
			}
		}
		if isStopped {
			f.does(debug.Request{Verb: debug.Continue})
			f.gets(debug.ReportRunning)
		}
	}
	f.does(debug.Request{Verb: debug.Kill})
	return stops, logs
}

func TestHitCounts(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string][]int{"3": {3, 4, 5, 6}, ">=5": {5, 6}, "=2": {2}, "%2": {2, 4, 6}} {
		stops, _ := hits(t, 6, debug.Breakpoint{ID: 1, Line: 5, Hits: rule})
		require.Equal(t, want, stops, rule)
	}
	stops, _ := hits(t, 4, debug.Breakpoint{ID: 1, Line: 5, Hits: "9"}, debug.Breakpoint{ID: 2, Line: 5, Hits: "%2"})
	require.Equal(t, []int{2, 4}, stops, "another breakpoint at the same place")
}

func TestLogPoints(t *testing.T) {
	t.Parallel()
	stops, logs := hits(t, 2, debug.Breakpoint{ID: 1, Line: 5, Log: `rank $rank: x={x[$rank]} \{y} {`})
	require.Empty(t, stops)
	require.Equal(t, []string{"rank 3: x=<x[3]> {y} {\n", "rank 3: x=<x[3]> {y} {\n"}, logs)
	stops, logs = hits(t, 4, debug.Breakpoint{ID: 1, Line: 5, Log: "here", Hits: "%2"}, debug.Breakpoint{ID: 2, Line: 5, Hits: "=3"})
	require.Equal(t, []int{3}, stops)
	require.Len(t, logs, 2)
}

func TestBreakpointsAsTheDebuggerGetsThem(t *testing.T) {
	t.Parallel()
	engine := &fakeEngine{}
	options := usualOptions(t, "sleep", "1000")
	options.Open = openFake(t, engine)
	f := serves(t, options)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtEntry})
	placed := f.does(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{
		{ID: 2, Line: 5, Condition: `n == $rank && s == "$rank" && $rank2`, Temporary: true},
		{ID: 1, Line: 6, Hits: "often"}, {ID: 3, Line: 7, Hits: "=1", Temporary: true}, {ID: 0, Line: 8},
	}}).Breakpoints
	require.Equal(t, []debug.Breakpoint{{ID: 2, Line: 5, Condition: `n == 3 && s == "$rank" && $rank2`, Temporary: true}, {ID: 3, Line: 7}}, engine.breakpoints)
	require.Len(t, placed, 4)
	require.True(t, placed[0].Verified)
	require.Contains(t, placed[1].Text, `invalid hit count "often"`)
	require.Contains(t, placed[3].Text, "invalid id")

	f.does(debug.Request{Verb: debug.Continue})
	engine.stops(debug.Notice{Reason: debug.ReasonBreakpoint, Breakpoints: []int{3}})
	f.gets(debug.ReportRunning)
	require.Equal(t, []int{3}, f.stops(debug.ReasonBreakpoint).Breakpoints)
	require.Len(t, engine.breakpoints, 1, "temporary breakpoint")
}

func TestHaltAtABreakpointThatDoesNotCount(t *testing.T) {
	t.Parallel()
	for i := range 50 {
		engine := &fakeEngine{}
		options := usualOptions(t, "sleep", "1000")
		options.Open = openFake(t, engine)
		f := serves(t, options)
		f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtEntry})
		f.does(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 1, Line: 5, Hits: "1000"}}})
		answer := f.sends(debug.Request{Verb: debug.Continue})
		f.gets(debug.ReportRunning)
		<-answer
		halted := make(chan struct{})
		go func() {
			defer close(halted)
			f.asks(debug.Request{Verb: debug.Halt})
		}()
		engine.stops(debug.Notice{Reason: debug.ReasonBreakpoint, Breakpoints: []int{1}})
		f.stops(debug.ReasonHalt)
		<-halted
		f.does(debug.Request{Verb: debug.Kill})
		require.NotZero(t, f.ends().Signal, strconv.Itoa(i))
	}
}

func TestAStepEndsAtABreakpointThatDoesNotCount(t *testing.T) {
	t.Parallel()
	engine := &fakeEngine{}
	options := usualOptions(t, "sleep", "1000")
	options.Open = openFake(t, engine)
	f := serves(t, options)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtEntry})
	f.does(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 1, Line: 5, Log: "seen"}}})
	f.stops(debug.ReasonEntry)
	f.does(debug.Request{Verb: debug.Step, Text: debug.StepOver})
	f.gets(debug.ReportRunning)
	engine.stops(debug.Notice{Reason: debug.ReasonBreakpoint, Breakpoints: []int{1}})
	require.Equal(t, "seen\n", f.gets(debug.ReportOutput).Text)
	require.Empty(t, f.stops(debug.ReasonStep).Breakpoints)
}
