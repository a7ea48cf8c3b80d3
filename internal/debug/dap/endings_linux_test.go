package dap_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/dap"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// debuggees are a program for each kind of debugger that runs until it is ended.
var debuggees = map[string][]string{"lldb": {"ticks.c"}, "dlv": {"pieces.go", "forever"}}

func eachKind(t *testing.T, test func(t *testing.T, kind string, words []string)) {
	for kind, words := range debuggees {
		t.Run(kind, func(t *testing.T) {
			need(t, map[string]string{"lldb": "lldb-vscode-14", "dlv": "dlv"}[kind])
			test(t, kind, append([]string{compile(t, words[0])}, words[1:]...))
		})
	}
}

func (s *session) goOn() {
	s.t.Helper()
	s.do(debug.Request{Verb: debug.Continue})
	require.Equal(s.t, debug.ReportRunning, s.next().Report)
}

func TestAProcessRunsOnWithoutItsDebugger(t *testing.T) {
	endings := map[string]func(s *session){
		"closed at once":   func(s *session) { s.Close() },
		"closed running":   func(s *session) { s.goOn(); s.Close() },
		"detached at once": func(s *session) { s.do(debug.Request{Verb: debug.Detach}) },
		"detached running": func(s *session) { s.goOn(); s.do(debug.Request{Verb: debug.Detach}) },
		"killed at once":   func(s *session) { require.NoError(s.t, syscall.Kill(s.PID(), syscall.SIGKILL)) },
		"killed running":   func(s *session) { s.goOn(); require.NoError(s.t, syscall.Kill(s.PID(), syscall.SIGKILL)) },
	}
	eachKind(t, func(t *testing.T, kind string, words []string) {
		for name, end := range endings {
			for _, isStopped := range []bool{true, false} {
				if isStopped && strings.HasPrefix(name, "killed") {
					continue // lldb then has its breakpoint in the loader, which stays there
				}
				s := open(t, kind, isStopped, words...)
				end(s)
				if !strings.HasPrefix(name, "closed") {
					require.Equal(t, debug.ReportGone, s.next().Report, name)
					require.Equal(t, debug.NotRunning, s.Do(t.Context(), debug.Request{Verb: debug.Stack}).Problem, name)
				}
				requireFree(t, s.pid)
			}
		}
	})
}

func TestKillEndsAProcess(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string, words []string) {
		for _, isRunning := range []bool{false, true} {
			s := open(t, kind, true, words...)
			if isRunning {
				s.goOn()
			}
			s.do(debug.Request{Verb: debug.Kill})
			require.Equal(t, debug.Notice{Report: debug.ReportExited, Signal: "SIGKILL"}, s.next())
			require.Equal(t, debug.NotRunning, s.Do(t.Context(), debug.Request{Verb: debug.Kill}).Problem)
			require.Eventually(t, func() bool { status, exists := guard.ReadStatus(s.pid); return !exists || status.HasEnded() }, patience, time.Millisecond)
		}
	})
}

func TestASignalFromOutsideEndsAProcess(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string, words []string) {
		s := open(t, kind, false, words...)
		s.goOn()
		require.NoError(t, syscall.Kill(s.pid, syscall.SIGTERM))
		notice := s.next()
		if notice.Report == debug.ReportStopped { // lldb shows it first
			require.Equal(t, "SIGTERM", notice.Signal)
			notice = s.run()
		}
		require.Equal(t, debug.ReportExited, notice.Report)
	})
}

// TestRanksInTheSameStateAnswerTheSame compares bytes, as sessions do. It compares only values without
// addresses, which differ because of the program.
func TestRanksInTheSameStateAnswerTheSame(t *testing.T) {
	programs := map[string][]debug.Breakpoint{
		"points.c":  {{ID: 1, File: "points.c", Line: lineOf(t, "points.c", "in the loop")}, {ID: 2, Function: "nowhere"}},
		"pieces.go": {{ID: 1, File: "pieces.go", Line: lineOf(t, "pieces.go", "in the loop")}, {ID: 2, Function: "nowhere"}},
	}
	requests := []debug.Request{
		{Verb: debug.Stack}, {Verb: debug.Threads}, {Verb: debug.Variables, Text: "locals"}, {Verb: debug.Evaluate, Text: "first"}, {Verb: debug.Evaluate, Text: "missing"},
		{Verb: debug.Variables, Reference: 1}, {Verb: debug.Variables, Reference: 2}, {Verb: debug.TypeOf, Text: "first"}, {Verb: debug.Variables, Text: "globals"},
	}
	for file, breakpoints := range programs {
		kind := map[string]string{".c": "lldb", ".go": "dlv"}[filepath.Ext(file)]
		program := compile(t, file)
		var answers [2][]string
		for rank := range answers {
			s := open(t, kind, true, program)
			requested := []debug.Answer{{Breakpoints: s.set(breakpoints...)}}
			stop := s.run()
			requested = append(requested, debug.Answer{Frames: []debug.Frame{*stop.Frame}, Text: stop.Text})
			for _, request := range requests {
				answer := s.Do(t.Context(), request)
				for i := range answer.Variables {
					if strings.Contains(answer.Variables[i].Value, "0x7f") {
						answer.Variables[i].Value = "an address"
					}
				}
				if kind == "dlv" && request.Verb == debug.Threads {
					answer.Threads = answer.Threads[:1] // how many goroutines the runtime has by then differs
				}
				requested = append(requested, answer)
			}
			for _, answer := range requested {
				text, err := json.Marshal(answer)
				require.NoError(t, err)
				answers[rank] = append(answers[rank], string(text))
			}
		}
		require.Equal(t, answers[0], answers[1])
	}
}

func TestAttachToMissingProcesses(t *testing.T) {
	need(t, "lldb-vscode-14")
	engine, err := dap.OpenEngine(t.Context(), dap.EngineOptions{Kind: "lldb", Notify: func(debug.Notice) {}})
	require.NoError(t, err)
	defer engine.Close()
	require.Regexp(t, `^lldb \d+`, engine.Version(), "before it is attached")
	require.Equal(t, debug.NotRunning, engine.Do(t.Context(), debug.Request{Verb: debug.Continue}).Problem)
	require.ErrorContains(t, engine.Attach(t.Context(), 1<<30, ""), "has ended")
	_, err = dap.OpenEngine(t.Context(), dap.EngineOptions{Kind: "windbg"})
	require.ErrorContains(t, err, "use lldb or dlv")
	_, err = dap.OpenEngine(t.Context(), dap.EngineOptions{Kind: "dlv", Path: "/nonexistent/dlv"})
	require.ErrorContains(t, err, "debugger not found")
}
