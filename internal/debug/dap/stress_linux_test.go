package dap_test

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/dap"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// TestNoProcessStaysStopped ends engines and their debuggers at random moments.
func TestNoProcessStaysStopped(t *testing.T) {
	const rounds = 2
	random := rand.New(rand.NewPCG(1, 2))
	eachKind(t, func(t *testing.T, kind string, words []string) {
		for range rounds {
			process := start(t, false, words...)
			endAtRandom(t, kind, process, random)
			require.Eventually(t, func() bool {
				status, _ := guard.ReadStatus(process.Process.Pid)
				// A killed debugger leaves its breakpoints behind, which may end the process.
				return status.HasEnded() || status.Tracer == 0 && !status.IsStopped() && !status.StopPending
			}, patience, time.Millisecond)
		}
	})
}

func endAtRandom(t *testing.T, kind string, process *exec.Cmd, random *rand.Rand) {
	t.Helper()
	engine, err := dap.OpenEngine(t.Context(), dap.EngineOptions{Kind: kind, Notify: func(debug.Notice) {}})
	require.NoError(t, err)
	defer engine.Close()
	isKilled := random.IntN(2) == 0
	timer := time.AfterFunc(time.Duration(random.IntN(700))*time.Millisecond, func() {
		if isKilled {
			_ = syscall.Kill(engine.PID(), syscall.SIGKILL)
		}
	})
	defer timer.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if engine.Attach(ctx, process.Process.Pid, "") != nil {
		return
	}
	for range 1 + random.IntN(5) {
		engine.Do(ctx, debug.Request{Verb: debug.Continue})
		engine.Do(ctx, debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 1, Function: "main"}}})
		engine.Do(ctx, debug.Request{Verb: debug.Halt})
		engine.Do(ctx, debug.Request{Verb: debug.Stack})
	}
}
