//go:build linux

package mi_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/debugtest"
	"github.com/rmctl/rmctl/internal/debug/mi"
)

// openFake opens an engine with a fake debugger.
func openFake(t *testing.T, mode string, rank int) session {
	t.Helper()
	path, err := debugtest.Debugger(t.TempDir(), mode)
	require.NoError(t, err)
	return open(t, mi.EngineOptions{Path: path, Rank: rank})
}

func TestDebuggersThatMisbehaveAreNoticed(t *testing.T) {
	requests := map[string]debug.Request{
		"breakpoints": {Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 1, Function: "main"}}},
		"continue":    {Verb: debug.Continue},
		"threads":     {Verb: debug.Threads},
		"frames":      {Verb: debug.Stack},
		"evaluate":    {Verb: debug.Evaluate, Text: "x"},
		"detach":      {Verb: debug.Detach},
	}
	for _, how := range []string{"crash", "hang", "garbage"} {
		for place, request := range requests {
			s := openFake(t, how+"-"+place, 0)
			require.NoError(t, s.Attach(within(t), startStopped(t, "/bin/sleep", "1000").pid, ""))
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			if how != "hang" {
				ctx = within(t)
			}
			answer := s.Do(ctx, request)
			cancel()
			if how == "garbage" {
				require.Empty(t, answer.Problem, place)
				continue
			}
			require.Equal(t, debug.Silent, answer.Problem, "%s %s", how, place)
			require.Equal(t, debug.Silent, s.Do(within(t), debug.Request{Verb: debug.Threads}).Problem)
			require.NotEmpty(t, s.next(debug.ReportGone).Text)
		}
	}
}

func TestDebuggersThatDoNotStartOrAttach(t *testing.T) {
	_, err := mi.OpenEngine(t.Context(), mi.EngineOptions{Path: "/nonexistent/gdb"})
	require.ErrorContains(t, err, "debugger not found: /nonexistent/gdb")
	for _, mode := range []string{"crash-start", "crash-attach", "hang-start", "hang-attach"} {
		s := openFake(t, mode, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		require.Error(t, s.Attach(ctx, startStopped(t, "/bin/sleep", "1000").pid, ""), mode)
		cancel()
		require.NotEmpty(t, s.Do(within(t), debug.Request{Verb: debug.Threads}).Problem)
	}
	need(t, "gdb")
	s := open(t, mi.EngineOptions{})
	for _, pid := range []int{-1, 0, 1} {
		require.ErrorContains(t, s.Attach(within(t), pid, ""), "cannot attach to process")
	}
	require.Error(t, s.Attach(within(t), 1<<22+1, ""), "there is no such process")
	require.Equal(t, debug.NotRunning, s.Do(within(t), debug.Request{Verb: debug.Threads}).Problem)
}

func TestManyFakesStopInMainAtOnce(t *testing.T) {
	const ranks = 64
	path, err := debugtest.Debugger(t.TempDir(), "different")
	require.NoError(t, err)
	sleeper := startStopped(t, "/bin/sleep", "1000")
	var group sync.WaitGroup
	answers := make([]debug.Answer, ranks)
	for rank := range ranks {
		group.Go(func() {
			stops := make(chan debug.Notice, 100)
			engine, err := mi.OpenEngine(t.Context(), mi.EngineOptions{Path: path, Rank: rank, Notify: func(notice debug.Notice) {
				if notice.Report == debug.ReportStopped {
					stops <- notice
				}
			}})
			if err != nil {
				return
			}
			defer engine.Close()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_ = engine.Attach(ctx, sleeper.pid, "")
			engine.Do(ctx, debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 1, Function: "main", Temporary: true}}})
			engine.Do(ctx, debug.Request{Verb: debug.Continue})
			select {
			case <-stops:
				answers[rank] = engine.Do(ctx, debug.Request{Verb: debug.Evaluate, Text: "x"})
			case <-ctx.Done():
			}
		})
	}
	group.Wait()
	for rank, answer := range answers {
		require.Len(t, answer.Variables, 1)
		require.Equal(t, fmt.Sprint(10+rank), answer.Variables[0].Value)
	}
}
