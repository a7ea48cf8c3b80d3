package dap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

func TestLldbRunsAProgramFromItsFirstInstruction(t *testing.T) {
	s := open(t, "lldb", true, compile(t, "points.c"))
	require.Regexp(t, `^lldb \d+\.\d`, s.Version())
	placed := s.set(debug.Breakpoint{Function: "main", Temporary: true}, debug.Breakpoint{File: "points.c", Line: lineOf(t, "points.c", "in add")},
		debug.Breakpoint{Function: "nowhere"}, debug.Breakpoint{Exception: "panic"}, debug.Breakpoint{File: "points.c", Line: 1, Disabled: true})
	require.True(t, placed[0].Verified)
	require.Equal(t, lineOf(t, "points.c", "in add"), placed[1].Line)
	require.False(t, placed[2].Verified)
	require.Equal(t, "not found yet", placed[2].Text)
	require.False(t, placed[3].Verified)
	require.Equal(t, debug.Placement{ID: 5, Text: "disabled"}, placed[4])

	stop := s.run()
	require.Equal(t, debug.ReasonBreakpoint, stop.Reason)
	require.Equal(t, []int{1}, stop.Breakpoints)
	require.Equal(t, "main", stop.Frame.Function)
	stop = s.run()
	require.Equal(t, []int{2}, stop.Breakpoints)
	require.Equal(t, "add", stop.Frame.Function)

	stack := s.do(debug.Request{Verb: debug.Stack})
	require.Equal(t, "add", stack.Frames[0].Function)
	require.Equal(t, "main", stack.Frames[1].Function)
	require.Len(t, stack.Frames, stack.Total)
	require.Equal(t, stack.Frames[1:2], s.do(debug.Request{Verb: debug.Stack, First: 1, Count: 1}).Frames)

	require.Equal(t, "main", s.runTo(debug.Request{Verb: debug.Step, Text: debug.StepOut}).Frame.Function)
	line := s.runTo(debug.Request{Verb: debug.Step, Text: debug.StepOver}).Frame.Line
	require.Equal(t, lineOf(t, "points.c", "ratio += first.x"), line)
	s.set()
	require.Equal(t, "add", s.runTo(debug.Request{Verb: debug.Step, Text: debug.StepInto, Count: 4}).Frame.Function)
	end := s.run()
	require.Equal(t, debug.ReportExited, end.Report)
	require.Equal(t, 7, *end.Code)
	require.Equal(t, debug.NotRunning, s.Do(t.Context(), debug.Request{Verb: debug.Stack}).Problem)
}

func TestLldbReadsAndSetsValues(t *testing.T) {
	s := open(t, "lldb", true, compile(t, "points.c"))
	s.set(debug.Breakpoint{File: "points.c", Line: lineOf(t, "points.c", "in the loop")})
	require.Equal(t, debug.ReasonBreakpoint, s.run().Reason)

	require.Equal(t, `{x = 1, y = 2, name = "first\0\0", next = `+s.value("first.next")+`}`, s.value("first"))
	require.Equal(t, "{1, 2, 3, 4, 5}", s.value("list"))
	require.Regexp(t, "^0x[1-9a-f]", s.value("&other"))
	require.Equal(t, "0.5", s.value("ratio"))
	require.Equal(t, "3", s.value("$rank"))
	require.Equal(t, debug.Failed, s.Do(t.Context(), debug.Request{Verb: debug.Evaluate, Text: "$ranks"}).Problem)
	require.Equal(t, "int[5]", s.do(debug.Request{Verb: debug.TypeOf, Text: "list"}).Text)

	locals := s.do(debug.Request{Verb: debug.Variables, Text: "locals"})
	names := []string{}
	for _, each := range locals.Variables {
		names = append(names, each.Name)
	}
	require.Subset(t, names, []string{"other", "first", "list", "ratio", "count"})
	require.NotContains(t, names, "argc")
	arguments := s.do(debug.Request{Verb: debug.Variables, Text: "arguments"})
	require.Len(t, arguments.Variables, 2)
	require.Equal(t, debug.Variable{Name: "argc", Value: "1", Type: "int", Expression: "argc"}, arguments.Variables[0])
	globals := s.do(debug.Request{Verb: debug.Variables, Text: "globals"})
	require.Contains(t, globals.Variables, debug.Variable{Name: "counter", Value: "0", Type: "int", Expression: "counter"})

	large := s.do(debug.Request{Verb: debug.Evaluate, Text: "large"}).Variables[0]
	require.Equal(t, 100000, large.Children)
	page := s.do(debug.Request{Verb: debug.Variables, Reference: large.Reference, First: 99998, Count: 10})
	require.Equal(t, 100000, page.Total)
	require.Equal(t, []debug.Variable{{Name: "[99998]", Value: "0", Type: "int", Expression: "large[99998]"}, {Name: "[99999]", Value: "1", Type: "int", Expression: "large[99999]"}}, page.Variables)

	set := s.do(debug.Request{Verb: debug.Assign, Text: "first.y", Value: "40 + 2"})
	require.Equal(t, "42", set.Variables[0].Value)
	first := s.do(debug.Request{Verb: debug.Evaluate, Text: "first"}).Variables[0]
	set = s.do(debug.Request{Verb: debug.Assign, Reference: first.Reference, Text: "x", Value: "9"})
	require.Equal(t, "9", set.Variables[0].Value)
	require.Equal(t, "9", s.value("first.x"))

	require.Equal(t, "09000000"+"2a000000", s.do(debug.Request{Verb: debug.Memory, Text: "&first", Count: 8}).Text)
	s.do(debug.Request{Verb: debug.Memory, Text: "&first.y", Value: "0b"})
	require.Equal(t, "11", s.value("first.y"))

	require.Contains(t, s.do(debug.Request{Verb: debug.Raw, Text: "frame variable ratio"}).Text, "(double) ratio = 0.5\n")
	answer := s.Do(t.Context(), debug.Request{Verb: debug.Evaluate, Text: " `process kill"})
	require.Equal(t, debug.Answer{Problem: debug.Failed, Text: "not an expression"}, answer)
	answer = s.Do(t.Context(), debug.Request{Verb: debug.Evaluate, Text: "missing"})
	require.Equal(t, debug.Answer{Problem: debug.Failed, Text: "use of undeclared identifier 'missing'"}, answer)
	require.Equal(t, debug.Unsupported, s.Do(t.Context(), debug.Request{Verb: debug.Source}).Problem)

	s.runTo(debug.Request{Verb: debug.Step, Text: debug.StepOver})
	require.Equal(t, debug.Failed, s.Do(t.Context(), debug.Request{Verb: debug.Variables, Reference: first.Reference}).Problem, "the process has run")
	require.Equal(t, "10", s.value("first.x"))
}

func TestLldbHasWatchpointsConditionsAndRawCommandsThatRun(t *testing.T) {
	s := open(t, "lldb", true, compile(t, "points.c"))
	s.set(debug.Breakpoint{Function: "main"})
	s.run()
	placed := s.set(debug.Breakpoint{ID: 4, Watch: "counter"}, debug.Breakpoint{ID: 5, Watch: "missing"}, debug.Breakpoint{ID: 6, Watch: "counter"}, debug.Breakpoint{ID: 7, Watch: "first.x", Condition: "first.x > 1000"})
	require.Equal(t, []debug.Placement{{ID: 4, Verified: true}, {ID: 5, Text: "use of undeclared identifier 'missing'"}, {ID: 6, Text: "another watchpoint watches this value"}}, placed[:3])
	stop := s.run()
	require.Equal(t, debug.ReasonWatch, stop.Reason)
	require.Equal(t, []int{4}, stop.Breakpoints)
	require.Equal(t, "counter: 0 → 2", stop.Text)
	require.Equal(t, "counter: 2 → 6", s.run().Text)

	s.set(debug.Breakpoint{Function: "add", Condition: "b == 4"}, debug.Breakpoint{Function: "add", Condition: "b == 5", Temporary: true})
	stop = s.run()
	require.Equal(t, []int{1}, stop.Breakpoints)
	require.Equal(t, "4", s.value("b"))
	require.Equal(t, []int{2}, s.run().Breakpoints)

	require.Equal(t, debug.Answer{Problem: debug.Failed, Text: "a command must be one line"}, s.Do(t.Context(), debug.Request{Verb: debug.Raw, Text: "help\nhelp"}))
	s.do(debug.Request{Verb: debug.Raw, Text: "thread step-out"})
	require.Equal(t, debug.ReportRunning, s.next().Report)
	require.Equal(t, "main", s.next().Frame.Function)
	s.do(debug.Request{Verb: debug.Raw, Text: "continue"})
	end := s.next()
	if end.Report == debug.ReportRunning { // unless it has ended meanwhile
		end = s.next()
	}
	require.Equal(t, 7, *end.Code)
}

func TestLldbNumbersThreadsAndReportsSignals(t *testing.T) {
	s := open(t, "lldb", true, compile(t, "points.c"), "1", "2")
	s.set(debug.Breakpoint{File: "points.c", Line: lineOf(t, "points.c", "in work"), Temporary: true})
	stop := s.run()
	require.Equal(t, 2, stop.Thread)
	require.Equal(t, "work", stop.Frame.Function)
	threads := s.do(debug.Request{Verb: debug.Threads}).Threads
	require.Len(t, threads, 2)
	require.Equal(t, 1, threads[0].ID)
	require.Equal(t, "points", threads[0].Name)
	require.False(t, threads[0].Current)
	require.True(t, threads[1].Current)
	require.Equal(t, "0", s.value("i"))
	outer := s.do(debug.Request{Verb: debug.Stack, Thread: 1}).Frames
	require.Equal(t, "main", outer[len(outer)-4].Function)
	require.Equal(t, "3", s.do(debug.Request{Verb: debug.Evaluate, Thread: 1, Frame: len(outer) - 4, Text: "count"}).Variables[0].Value)
	require.Equal(t, debug.Failed, s.Do(t.Context(), debug.Request{Verb: debug.Stack, Thread: 9}).Problem)

	stop = s.run()
	require.Equal(t, debug.ReasonSignal, stop.Reason)
	require.Equal(t, "SIGSEGV", stop.Signal)
	require.Equal(t, lineOf(t, "points.c", "fault"), stop.Frame.Line)
	end := s.run()
	require.Equal(t, debug.ReportExited, end.Report)
	require.Equal(t, "SIGSEGV", end.Signal)
}

func TestLldbStopsAtExceptionsOfCPlusPlus(t *testing.T) {
	s := open(t, "lldb", true, compile(t, "throw.cc"))
	placed := s.set(debug.Breakpoint{Exception: "throw"}, debug.Breakpoint{Exception: "catch", Condition: "1 == 0"})
	require.True(t, placed[0].Verified)
	stop := s.run()
	require.Equal(t, debug.ReasonException, stop.Reason)
	require.Equal(t, []int{1}, stop.Breakpoints)
	require.Equal(t, "__cxa_throw", stop.Frame.Function)
	require.Contains(t, stop.Frame.Module, "libstdc++")
	require.Equal(t, []int{1}, s.run().Breakpoints, "the condition does not hold at catch")
	require.Equal(t, 0, *s.run().Code)
}

func TestLldbAttachesToARunningProcess(t *testing.T) {
	s := open(t, "lldb", false, compile(t, "ticks.c"))
	require.Equal(t, debug.ReportRunning, func() debug.Report { s.do(debug.Request{Verb: debug.Continue}); return s.next().Report }())
	for _, verb := range []debug.Verb{debug.Stack, debug.Continue, debug.Raw} {
		require.Equal(t, debug.IsRunning, s.Do(t.Context(), debug.Request{Verb: verb, Text: "help"}).Problem)
	}
	placed := s.set(debug.Breakpoint{File: "ticks.c", Line: lineOf(t, "ticks.c", "/* tick")}) // while it runs
	require.True(t, placed[0].Verified, placed[0].Text)
	require.Equal(t, []int{1}, s.next().Breakpoints)
	s.set()
	s.do(debug.Request{Verb: debug.Continue})
	require.Equal(t, debug.ReportRunning, s.next().Report)
	s.do(debug.Request{Verb: debug.Halt})
	require.Equal(t, debug.ReasonHalt, s.next().Reason)
	s.do(debug.Request{Verb: debug.Halt})
	s.do(debug.Request{Verb: debug.Detach})
	require.Equal(t, debug.ReportGone, s.next().Report)
	requireFree(t, s.pid)
	require.Equal(t, debug.NotRunning, s.Do(t.Context(), debug.Request{Verb: debug.Halt}).Problem)
}
