//go:build linux

package mi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// stopAtEnd stops a counting program before it prints.
func stopAtEnd(t *testing.T, path string) session {
	t.Helper()
	s, _ := attach(t, path)
	s.place(debug.Breakpoint{ID: 1, File: "count.c", Line: 23})
	stop := s.until()
	require.Equal(t, []int{1}, stop.Breakpoints, "%+v", stop)
	return s
}

func TestVariablesAndTheirChildren(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	s := stopAtEnd(t, path)
	locals := s.ask(debug.Request{Verb: debug.Variables, Text: "locals"})
	require.Equal(t, 5, locals.Total)
	byName := map[string]debug.Variable{}
	for _, variable := range locals.Variables {
		byName[variable.Name] = variable
	}
	require.Equal(t, debug.Variable{Name: "sum", Value: "120", Type: "int", Expression: "sum"}, byName["sum"])
	require.Equal(t, "{1, 2, 3, 4, 5}", byName["numbers"].Value)
	require.Equal(t, "int [5]", byName["numbers"].Type)
	require.Contains(t, byName["first"].Value, `{value = 1, weight = 1.5, name = "first\000`)

	numbers := s.ask(debug.Request{Verb: debug.Variables, Reference: byName["numbers"].Reference, First: 1, Count: 2})
	require.Equal(t, debug.Answer{Total: 5, Variables: []debug.Variable{{Name: "1", Value: "2", Type: "int", Expression: "(numbers)[1]"}, {Name: "2", Value: "3", Type: "int", Expression: "(numbers)[2]"}}}, numbers)
	fields := s.ask(debug.Request{Verb: debug.Variables, Reference: byName["first"].Reference})
	require.Equal(t, 4, fields.Total)
	require.Equal(t, `"first\000\000\000\000\000\000\000\000\000\000"`, fields.Variables[2].Value)
	next := s.ask(debug.Request{Verb: debug.Variables, Reference: fields.Variables[3].Reference})
	require.Equal(t, debug.Variable{Name: "weight", Value: "0.5", Type: "double", Expression: "((first).next)->weight"}, next.Variables[1])
	require.Zero(t, next.Variables[3].Reference, "the pointer is null")
	require.Equal(t, "0.5", s.evaluate(next.Variables[1].Expression).Value)
	require.Equal(t, fields, s.ask(debug.Request{Verb: debug.Variables, Reference: byName["first"].Reference}))

	assigned := s.ask(debug.Request{Verb: debug.Assign, Reference: fields.Variables[3].Reference, Text: "weight", Value: "1.0/8"})
	require.Equal(t, []debug.Variable{{Name: "weight", Value: "0.125", Type: "double", Expression: "((first).next)->weight"}}, assigned.Variables)
	require.Equal(t, "0.125", s.evaluate("last.weight").Value)
	require.Equal(t, "8", s.ask(debug.Request{Verb: debug.Assign, Text: "numbers[2]", Value: "sum / 15"}).Variables[0].Value)

	arguments := s.ask(debug.Request{Verb: debug.Variables, Text: "arguments"})
	require.Equal(t, "argc", arguments.Variables[0].Name)
	require.Equal(t, "1", arguments.Variables[0].Value)
	globals := s.ask(debug.Request{Verb: debug.Variables, Text: "globals"})
	require.Len(t, globals.Variables, 2)
	require.Equal(t, []string{"global", "120", "int"}, []string{globals.Variables[0].Name, globals.Variables[0].Value, globals.Variables[0].Type})
	require.Equal(t, []string{"hidden", "2.5", "double"}, []string{globals.Variables[1].Name, globals.Variables[1].Value, globals.Variables[1].Type})
	require.Equal(t, "2.5", s.evaluate(globals.Variables[1].Expression).Value)

	s.ask(debug.Request{Verb: debug.Step, Text: debug.StepOver})
	s.next(debug.ReportStopped)
	gone := s.Do(within(t), debug.Request{Verb: debug.Variables, Reference: byName["first"].Reference})
	require.Equal(t, debug.Failed, gone.Problem, "references end when the process runs")
	require.Equal(t, 1, s.ask(debug.Request{Verb: debug.Evaluate, Text: "first"}).Variables[0].Reference)
}

func TestExpressionsTypesAndMemory(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	s := stopAtEnd(t, path)
	require.Equal(t, debug.Variable{Value: "123", Type: "int", Expression: "sum + $rank"}, s.evaluate("sum + $rank"))
	require.Equal(t, "void", s.evaluate("$nothing").Type)
	refused := s.Do(within(t), debug.Request{Verb: debug.Evaluate, Text: "absent"})
	require.Equal(t, debug.Answer{Problem: debug.Failed, Text: `No symbol "absent" in current context.`}, refused)
	require.Equal(t, debug.Failed, s.Do(within(t), debug.Request{Verb: debug.Evaluate, Text: "1\n2-gdb-exit"}).Problem)
	require.Equal(t, "struct node {\n    int value;\n    double weight;\n    char name[16];\n    struct node *next;\n}", s.ask(debug.Request{Verb: debug.TypeOf, Text: "first"}).Text)
	require.Equal(t, "0100000002000000", s.ask(debug.Request{Verb: debug.Memory, Text: "&numbers", Count: 8}).Text)
	s.ask(debug.Request{Verb: debug.Memory, Text: "&numbers[1]", Value: "0A000000"})
	require.Equal(t, "10", s.evaluate("numbers[1]").Value)
	require.Equal(t, debug.Failed, s.Do(within(t), debug.Request{Verb: debug.Memory, Text: "0", Count: 8}).Problem)
	require.Equal(t, debug.Failed, s.Do(within(t), debug.Request{Verb: debug.Memory, Text: "&numbers", Value: "0g"}).Problem)
	require.Equal(t, "$1 = 0x78\n", s.ask(debug.Request{Verb: debug.Raw, Text: "print/x sum"}).Text)
	require.Equal(t, debug.Unsupported, s.Do(within(t), debug.Request{Verb: debug.Raw, Text: "run"}).Problem)
	require.Equal(t, debug.Unsupported, s.Do(within(t), debug.Request{Verb: debug.Source}).Problem)
	s.ask(debug.Request{Verb: debug.Raw, Text: "next"})
	require.Equal(t, debug.ReasonStep, s.next(debug.ReportStopped).Reason)
	s.ask(debug.Request{Verb: debug.Raw, Text: "kill"})
	require.Equal(t, debug.Notice{Report: debug.ReportExited, Signal: "SIGKILL"}, s.next(debug.ReportExited))
}

func TestEqualStatesHaveEqualBytes(t *testing.T) {
	path := compile(t, "gcc", "count.c", strings.ReplaceAll(counting, "usleep(1000)", "pause()"))
	answers := make([][]string, 3)
	for i := range answers {
		s, started := attach(t, path, "forever")
		s.ask(debug.Request{Verb: debug.Continue})
		require.Eventually(t, func() bool {
			status, _ := guard.ReadStatus(started.pid)
			return started.output.String() != "" && status.State == 'S'
		}, timeout, pause)
		s.ask(debug.Request{Verb: debug.Halt})
		stop := s.next(debug.ReportStopped)
		for _, value := range []any{
			stop, s.ask(debug.Request{Verb: debug.Threads}), s.ask(debug.Request{Verb: debug.Stack}),
			s.ask(debug.Request{Verb: debug.Variables, Frame: 1, Text: "globals"}),
			s.ask(debug.Request{Verb: debug.Evaluate, Frame: 1, Text: "numbers"}), s.ask(debug.Request{Verb: debug.Variables, Reference: 1}),
		} {
			text, err := json.Marshal(value)
			require.NoError(t, err)
			answers[i] = append(answers[i], string(text))
		}
	}
	require.Equal(t, answers[0], answers[1])
	require.Equal(t, answers[0], answers[2])
}
