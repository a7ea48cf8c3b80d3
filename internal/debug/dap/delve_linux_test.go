package dap_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

func TestDelveRunsAProgramFromItsFirstInstruction(t *testing.T) {
	program := compile(t, "pieces.go")
	s := open(t, "dlv", true, program)
	require.Regexp(t, `^dlv \d+\.\d`, s.Version())
	threads := s.do(debug.Request{Verb: debug.Threads}).Threads
	require.Len(t, threads, 1)
	require.Equal(t, "_rt0_amd64_linux", threads[0].Frame.Function)
	require.Equal(t, debug.Failed, s.Do(t.Context(), debug.Request{Verb: debug.Step, Text: debug.StepOver}).Problem)

	placed := s.set(debug.Breakpoint{Function: "main", Temporary: true}, debug.Breakpoint{File: "pieces.go", Line: lineOf(t, "pieces.go", "in add")},
		debug.Breakpoint{Function: "main.nowhere"}, debug.Breakpoint{File: "nowhere.go", Line: 1}, debug.Breakpoint{Watch: "main.total"}, debug.Breakpoint{Exception: "throw"})
	require.True(t, placed[0].Verified)
	require.Equal(t, debug.Placement{ID: 2, Verified: true, File: placed[0].File, Line: lineOf(t, "pieces.go", "in add")}, placed[1])
	require.Equal(t, "pieces.go", filepath.Base(placed[1].File))
	for _, each := range placed[2:] {
		require.False(t, each.Verified)
		require.NotEmpty(t, each.Text)
	}
	stop := s.run()
	require.Equal(t, debug.ReasonBreakpoint, stop.Reason)
	require.Equal(t, []int{1}, stop.Breakpoints)
	require.Equal(t, "main.main", stop.Frame.Function)
	require.Equal(t, 1, stop.Thread)
	require.Equal(t, []int{2}, s.run().Breakpoints)
	require.Equal(t, "main.main", s.do(debug.Request{Verb: debug.Stack}).Frames[1].Function)
	require.Equal(t, "main.main", s.runTo(debug.Request{Verb: debug.Step, Text: debug.StepOut}).Frame.Function)
	s.set()
	require.Equal(t, debug.ReasonStep, s.runTo(debug.Request{Verb: debug.Step, Text: debug.StepOver, Count: 2}).Reason)
	end := s.run()
	require.Equal(t, debug.ReportExited, end.Report)
	require.Equal(t, 7, *end.Code)
}

func TestDelveReadsAndSetsValues(t *testing.T) {
	s := open(t, "dlv", true, compile(t, "pieces.go"))
	s.set(debug.Breakpoint{File: "pieces.go", Line: lineOf(t, "pieces.go", "in the loop")})
	s.run()
	require.Equal(t, "[]int len: 3, cap: 3, [1,2,3]", s.value("first.Parts"))
	require.Equal(t, "5", s.value("total"))
	require.Equal(t, "8", s.value("$rank + total"))
	first := s.do(debug.Request{Verb: debug.Evaluate, Text: "first"}).Variables[0]
	require.Equal(t, "main.piece", first.Type)
	fields := s.do(debug.Request{Verb: debug.Variables, Reference: first.Reference})
	require.Len(t, fields.Variables, 4)
	require.Equal(t, `"first"`, fields.Variables[0].Value)
	require.Equal(t, fields.Variables[1].Name, s.do(debug.Request{Verb: debug.Variables, Reference: first.Reference, First: 1, Count: 1}).Variables[0].Name)
	large := s.do(debug.Request{Verb: debug.Evaluate, Text: "large"}).Variables[0]
	require.Equal(t, 5000, large.Children)
	page := s.do(debug.Request{Verb: debug.Variables, Reference: large.Reference, First: 4998, Count: 10})
	require.Equal(t, 5000, page.Total)
	require.Len(t, page.Variables, 2)
	require.Equal(t, "[4999]", page.Variables[1].Name)

	for expression, value := range map[string]string{"total": "8", "first.Parts[1]": "20", "first.Name": `"other"`, "next.Name": `"far"`, "i": "1"} {
		answer := s.Do(t.Context(), debug.Request{Verb: debug.Assign, Text: expression, Value: value})
		require.Empty(t, answer.Problem, "%s: %s", expression, answer.Text)
		require.Equal(t, value, answer.Variables[0].Value)
	}
	require.Equal(t, "20", s.do(debug.Request{Verb: debug.Variables, Reference: fields.Variables[1].Reference}).Variables[1].Value, "references show what is set")

	names := func(kind string) (found []string) {
		for _, each := range s.do(debug.Request{Verb: debug.Variables, Text: kind}).Variables {
			found = append(found, each.Name)
		}
		return found
	}
	require.Subset(t, names("locals"), []string{"next", "first", "large", "names"})
	require.Contains(t, names("globals"), "total")
	require.Empty(t, names("arguments"))
	require.Equal(t, "int", s.do(debug.Request{Verb: debug.TypeOf, Text: "first.Parts[0]"}).Text)
	require.Equal(t, debug.Unsupported, s.Do(t.Context(), debug.Request{Verb: debug.Memory, Text: "1", Count: 1}).Problem)
	require.Contains(t, s.do(debug.Request{Verb: debug.Raw, Text: "sources pieces"}).Text, "pieces.go")
	answer := s.Do(t.Context(), debug.Request{Verb: debug.Evaluate, Text: "missing"})
	require.Equal(t, debug.Answer{Problem: debug.Failed, Text: "could not find symbol value for missing"}, answer)
}

func TestDelveStopsAtPanics(t *testing.T) {
	s := open(t, "dlv", true, compile(t, "pieces.go"), "panic")
	require.True(t, s.set(debug.Breakpoint{Exception: "panic"})[0].Verified)
	stop := s.run()
	require.Equal(t, debug.ReasonException, stop.Reason)
	require.Equal(t, `panic: "broken panic"`, stop.Text)
	require.Equal(t, []int{1}, stop.Breakpoints)
	require.Equal(t, 2, *s.run().Code)
}

func TestDelveAttachesToARunningProcess(t *testing.T) {
	s := open(t, "dlv", false, compile(t, "pieces.go"), "forever")
	s.do(debug.Request{Verb: debug.Continue})
	require.Equal(t, debug.ReportRunning, s.next().Report)
	require.Equal(t, debug.IsRunning, s.Do(t.Context(), debug.Request{Verb: debug.Stack}).Problem)
	s.set(debug.Breakpoint{File: "pieces.go", Line: lineOf(t, "pieces.go", "tick")}) // while it runs
	require.Equal(t, []int{1}, s.next().Breakpoints)
	s.set()
	s.do(debug.Request{Verb: debug.Continue})
	require.Equal(t, debug.ReportRunning, s.next().Report)
	s.do(debug.Request{Verb: debug.Halt})
	require.Equal(t, debug.ReasonHalt, s.next().Reason)
	require.NotEmpty(t, s.do(debug.Request{Verb: debug.Threads}).Threads)
	s.do(debug.Request{Verb: debug.Detach})
	require.Equal(t, debug.ReportGone, s.next().Report)
	requireFree(t, s.pid)
}
