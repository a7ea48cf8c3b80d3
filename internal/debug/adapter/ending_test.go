package adapter_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
)

func TestProgramsEndAsTheEditorWants(t *testing.T) {
	attach := map[string]any{"job": 17, "ranks": "0-1"}
	for name, each := range map[string]struct {
		command   string
		arguments map[string]any
		wish      any
		kill      bool
	}{
		"launched":              {"launch", program, nil, true},
		"launched and released": {"launch", program, map[string]any{"terminateDebuggee": false}, false},
		"attached":              {"attach", attach, map[string]any{}, false},
		"attached and ended":    {"attach", attach, map[string]any{"terminateDebuggee": true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fleet{size: 2}
			e := open(t, adapter.Options{Launch: f.launch})
			e.initialize()
			e.response(e.send(each.command, each.arguments))
			ask[*dap.ConfigurationDoneResponse](e, "configurationDone", nil)
			require.Contains(t, e.failing("disconnect", map[string]any{"suspendDebuggee": true}), "unsupported")
			ask[*dap.DisconnectResponse](e, "disconnect", each.wish)
			require.NoError(t, e.end())
			require.Equal(t, []bool{each.kill}, f.kills)
		})
	}
}

func TestProgramsEndWithAnEditorThatVanishes(t *testing.T) {
	for _, command := range []string{"launch", "attach"} {
		f := &fleet{size: 2}
		e := open(t, adapter.Options{Launch: f.launch})
		e.initialize()
		e.response(e.send(command, map[string]any{"program": "a.out", "job": "1.n1", "stop": "main"}))
		e.start()
		require.NoError(t, e.conn.Close())
		require.NoError(t, e.end())
		require.Equal(t, []bool{command == "launch"}, f.kills)
	}
}

func TestTerminateEndsTheProgramAndThenDisconnectTheSession(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	ask[*dap.TerminateResponse](e, "terminate", nil)
	next[*dap.TerminatedEvent](e)
	require.Empty(t, ask[*dap.ThreadsResponse](e, "threads", nil).Body.Threads)
	require.Contains(t, e.failing("next", map[string]any{"threadId": 1}), "no thread")
	ask[*dap.DisconnectResponse](e, "disconnect", nil)
	require.NoError(t, e.end())
	require.Equal(t, []bool{true}, f.kills)
}

func TestFailuresToEndAreReported(t *testing.T) {
	f := &fleet{size: 1, endErr: errors.New("the scheduler does not answer")}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	require.Contains(t, e.failing("disconnect", nil), "the scheduler does not answer")
	require.NoError(t, e.end())
}

func TestTheEndOfTheJobEndsTheProgram(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	f.vanish()
	require.Equal(t, 1, next[*dap.ExitedEvent](e).Body.ExitCode)
	next[*dap.TerminatedEvent](e)
}

func TestSignalsMakeExitCodes(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	f.on(0, func(r *rank) { r.notice(debug.Notice{Report: debug.ReportExited, Signal: "SIGSEGV"}) })
	f.on(1, func(r *rank) { r.exit(3) })
	require.Equal(t, 128+11, next[*dap.ExitedEvent](e).Body.ExitCode)
}

func TestRestartLaunchesTheProgramAgain(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	set := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
		"source": map[string]any{"path": "/src/solver.c"}, "breakpoints": []any{map[string]any{"line": 20}},
	}).Body.Breakpoints
	id := e.start().Body.ThreadId
	frame := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id}).Body.StackFrames[0].Id
	changed := map[string]any{"program": "/home/me/other", "stop": "no"}
	ask[*dap.RestartResponse](e, "restart", map[string]any{"arguments": changed})
	for stopped := (&dap.StoppedEvent{}); stopped.Body.Reason != "breakpoint"; {
		stopped = next[*dap.StoppedEvent](e)
	}
	require.Equal(t, "/home/me/other", f.arguments.Program)
	require.Contains(t, e.failing("scopes", map[string]any{"frameId": frame}), "the ranks have run since")
	f.on(0, func(r *rank) { require.Equal(t, set[0].Id, r.breakpoints[0].ID) })
	ask[*dap.DisconnectResponse](e, "disconnect", nil)
	require.Equal(t, []bool{true, true}, f.kills)
}

// Nothing else is launched while a program restarts, and the end of the session ends the restart.
func TestSessionsEndWhileRestarting(t *testing.T) {
	f := &fleet{size: 1, ending: make(chan struct{})}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	e.send("restart", nil)
	require.Contains(t, e.failing("launch", program), "already")
	require.Contains(t, e.failing("restart", nil), "no program has been launched")
	disconnect := e.send("disconnect", nil)
	wait[*dap.DisconnectResponse](e, disconnect)
	close(f.ending)
	require.NoError(t, e.end())
	require.Equal(t, []bool{true}, f.kills)
}

func TestLaunchingCanBeCanceled(t *testing.T) {
	waits := func(ctx context.Context, _ adapter.LaunchArguments, report func(string)) (*adapter.Launched, error) {
		report("queued: 3 jobs before it")
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, progress := range []bool{true, false} {
		e := open(t, adapter.Options{Launch: waits})
		ask[*dap.InitializeResponse](e, "initialize", map[string]any{"adapterID": "rmctl", "supportsProgressReporting": progress})
		launch := e.send("launch", program)
		if progress {
			started := next[*dap.ProgressStartEvent](e).Body
			require.True(t, started.Cancellable)
			require.Equal(t, "queued: 3 jobs before it", next[*dap.ProgressUpdateEvent](e).Body.Message)
			ask[*dap.CancelResponse](e, "cancel", map[string]any{"progressId": started.ProgressId})
			next[*dap.ProgressEndEvent](e)
		} else {
			e.output("console", "queued: 3 jobs before it\n")
			ask[*dap.CancelResponse](e, "cancel", map[string]any{"requestId": launch})
		}
		failed, hasFailed := e.response(launch).(*dap.ErrorResponse)
		require.True(t, hasFailed)
		require.Equal(t, "cancelled", failed.Message)
	}
}

func TestSessionsEndWhileLaunching(t *testing.T) {
	started := make(chan struct{}, 1)
	waits := func(ctx context.Context, _ adapter.LaunchArguments, _ func(string)) (*adapter.Launched, error) {
		started <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	e := open(t, adapter.Options{Launch: waits})
	e.initialize()
	e.send("launch", program)
	<-started
	ask[*dap.DisconnectResponse](e, "disconnect", nil)
	require.NoError(t, e.end())
}

// A program that arrives although launching was canceled is not left behind.
func TestProgramsThatComeTooLateEnd(t *testing.T) {
	f := &fleet{size: 1}
	started := make(chan struct{}, 1)
	e := open(t, adapter.Options{Launch: func(ctx context.Context, arguments adapter.LaunchArguments, report func(string)) (*adapter.Launched, error) {
		started <- struct{}{}
		<-ctx.Done()
		return f.launch(ctx, arguments, report)
	}})
	e.initialize()
	e.send("launch", program)
	<-started
	require.NoError(t, e.conn.Close())
	require.NoError(t, e.end())
	require.Equal(t, []bool{true}, f.kills)
}

func TestSessionsEndWithTheirContext(t *testing.T) {
	f := &fleet{size: 2}
	near, far := net.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	served := make(chan error, 1)
	go func() { served <- adapter.Serve(ctx, far, adapter.Options{Launch: f.launch}) }()
	require.NoError(t, dap.WriteBaseMessage(near, []byte(`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}`))) // and nobody reads
	cancel(errors.New("interrupted"))
	require.EqualError(t, <-served, "interrupted")
	require.NoError(t, near.Close())
}
