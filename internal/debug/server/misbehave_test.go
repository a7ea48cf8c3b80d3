package server_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/debugtest"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/debug/server"
)

func TestDebuggersThatFailAtEachPlace(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	binary, err := os.ReadFile(sleep)
	require.NoError(t, err)
	all := []string{"start", "attach", "breakpoints", "continue", "stopped", "threads", "frames", "detach", "exit"}
	for how, places := range map[string][]string{"crash": all, "garbage": all, "hang": {"attach", "breakpoints", "detach", "exit"}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "program")
			require.NoError(t, os.WriteFile(program, binary, 0o700))
			for _, place := range places {
				path, err := debugtest.Debugger(t.TempDir(), how+"-"+place)
				require.NoError(t, err)
				options := usualOptions(t, program, "1000")
				options.WhenLeft, options.Linger = server.Release, 500*time.Millisecond
				options.Open = func(ctx context.Context, notify func(debug.Notice)) (server.Engine, error) {
					engine, err := mi.OpenEngine(ctx, mi.EngineOptions{Path: path, Notify: notify})
					if err != nil {
						return nil, err
					}
					return engine, nil
				}
				f := serves(t, options)
				f.sends(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 1, File: "main.c", Line: 12}}})
				f.sends(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
				f.sends(debug.Request{Verb: debug.Threads})
				f.sends(debug.Request{Verb: debug.Stack, Count: 3})
				<-time.After(150 * time.Millisecond) // most of it was done
				require.NoError(t, f.conn.Close())
				require.Eventually(t, func() bool { return hasEnded(f) || runsAlone(t, program) }, patience, 5*time.Millisecond, place)
				f.signals <- syscall.SIGTERM
				f.ends()
				require.Empty(t, processesOf(t, program), place)
			}
		})
	}
}

func hasEnded(f *fixture) bool {
	select {
	case <-f.ended:
		return true
	default:
		return false
	}
}

// runsAlone reports whether a program runs without a debugger.
func runsAlone(t testing.TB, program string) bool {
	t.Helper()
	pids := processesOf(t, program)
	if len(pids) != 1 {
		return false
	}
	status, exists := guard.ReadStatus(pids[0])
	return exists && !status.IsStopped() && status.State != 't' && status.Tracer == 0 && !status.StopPending
}
