package server_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/server"
)

// requireRuns waits until a process runs on without a debugger.
func requireRuns(t testing.TB, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, exists := guard.ReadStatus(pid)
		return !exists || !status.IsStopped() && status.State != 't' && status.Tracer == 0 && !status.StopPending
	}, patience, time.Millisecond)
}

func requireEnds(t testing.TB, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, exists := guard.ReadStatus(pid)
		return !exists || status.HasEnded()
	}, patience, time.Millisecond)
}

// pidOf returns the process that a program prints first.
func (f *fixture) pidOf() int {
	f.t.Helper()
	return atoi(f.t, strings.TrimSpace(f.gets(debug.ReportOutput).Text))
}

func atoi(t testing.TB, text string) int {
	t.Helper()
	number, err := strconv.Atoi(text)
	require.NoError(t, err)
	return number
}

const printPID = "echo $$; exec sleep 1000"

func TestAProgramRunsFromItsEntryToItsEnd(t *testing.T) {
	engine := &fakeEngine{}
	options := usualOptions(t, "sh", "-c", "cat; echo wrong >&2; exit 7")
	options.Open = openFake(t, engine)
	f := serves(t, options)
	require.Equal(t, debug.NotRunning, f.asks(debug.Request{Verb: debug.Stack}).Problem)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtEntry})
	stop := f.stops(debug.ReasonEntry)
	require.Equal(t, "_start", stop.Frame.Function)
	require.Equal(t, 7, stop.Thread)
	require.True(t, func() bool { status, _ := guard.ReadStatus(engine.pid); return status.IsStopped() }())
	require.Empty(t, text(t, f.output))
	require.Equal(t, debug.Failed, f.asks(debug.Request{Verb: debug.Start}).Problem, "only one start")
	require.Equal(t, debug.Unsupported, f.asks(debug.Request{Verb: "dance"}).Problem)

	f.does(debug.Request{Verb: debug.Continue})
	f.gets(debug.ReportRunning)
	require.Equal(t, "wrong\n", f.gets(debug.ReportOutput).Text)
	require.Equal(t, 7, *f.gets(debug.ReportExited).Code)
	require.Equal(t, server.Ending{Code: 7}, f.ends())
	require.Equal(t, "wrong\n", text(t, f.errors))
}

func TestTheSignalThatEndsAProgramIsKnown(t *testing.T) {
	options := usualOptions(t, "sh", "-c", "echo last; kill -SEGV $$")
	options.Open = openFake(t, &fakeEngine{})
	f := serves(t, options)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopNot})
	require.Equal(t, "last\n", f.gets(debug.ReportOutput).Text, "before the end")
	require.Equal(t, "SIGSEGV", f.gets(debug.ReportExited).Signal)
	require.Equal(t, server.Ending{Signal: syscall.SIGSEGV}, f.ends())
}

func TestStopInMain(t *testing.T) {
	for _, hasNoMain := range []bool{false, true} {
		engine := &fakeEngine{hasNoMain: hasNoMain}
		options := usualOptions(t, "sleep", "1000")
		options.Open = openFake(t, engine)
		f := serves(t, options)
		placed := f.does(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 5, File: "/a.c", Line: 5}}}).Breakpoints
		require.Equal(t, []debug.Placement{{ID: 5}}, placed, "it is not known yet where that is")
		f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
		require.Equal(t, []debug.Placement{{ID: 5, Verified: true, File: "/a.c", Line: 5}}, f.gets(debug.ReportPlaced).Placements)
		if hasNoMain {
			require.Contains(t, f.stops(debug.ReasonEntry).Text, "no function main")
			require.Len(t, engine.breakpoints, 1, "nothing is left of it")
		} else {
			main := engine.breakpoints[1]
			require.Equal(t, "main", main.Function)
			require.True(t, main.Temporary)
			f.gets(debug.ReportRunning)
			engine.stops(debug.Notice{Reason: debug.ReasonBreakpoint, Breakpoints: []int{main.ID}, Frame: &debug.Frame{File: "/a.c"}})
			require.Empty(t, f.stops(debug.ReasonMain).Breakpoints)
		}
		f.does(debug.Request{Verb: debug.Kill})
		require.Equal(t, "SIGKILL", f.gets(debug.ReportExited).Signal)
		require.Equal(t, server.Ending{Signal: syscall.SIGKILL}, f.ends())
	}
}

func TestProgramsThatDoNotStart(t *testing.T) {
	for name, problem := range map[string]string{
		"/nonexistent": `starting "/nonexistent": no such file or directory`,
		"true":         "attaching the debugger: ptrace: Operation not permitted.",
	} {
		options := usualOptions(t, name)
		options.Open = openFake(t, &fakeEngine{})
		f := serves(t, options)
		answer := f.asks(debug.Request{Verb: debug.Start})
		require.Equal(t, debug.Failed, answer.Problem)
		require.Contains(t, answer.Text, problem)
		require.NoError(t, f.conn.Close())
		require.Equal(t, server.Ending{Code: 1}, f.ends())
		require.Error(t, f.err)
	}
}

func TestAScriptWithoutAShellAndAnotherDirectory(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "script"), []byte("pwd; echo $1\n"), 0o700))
	options := usualOptions(t, "false")
	options.Open = openFake(t, &fakeEngine{})
	f := serves(t, options)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopNot, Program: &debug.Program{Arguments: []string{"./script", "word"}, Directory: folder}})
	require.Equal(t, server.Ending{}, f.ends())
	require.Equal(t, folder+"\nword\n", text(t, f.output))
}

func TestWhatHappensWhenTheClientLeaves(t *testing.T) {
	for _, isDeaf := range []bool{false, true} {
		for _, running := range []bool{false, true} {
			for _, whenLeft := range []string{server.Release, server.End} {
				name := fmt.Sprint(isDeaf, running, whenLeft)
				engine := &fakeEngine{isDeaf: isDeaf}
				options := usualOptions(t, "sh", "-c", printPID)
				options.Open, options.WhenLeft, options.Linger = openFake(t, engine), whenLeft, 300*time.Millisecond
				f := serves(t, options)
				f.does(debug.Request{Verb: debug.Start, Stop: debug.StopNot})
				pid := f.pidOf()
				if !running {
					f.does(debug.Request{Verb: debug.Halt})
					f.stops(debug.ReasonHalt)
				}
				require.NoError(t, f.conn.Close())
				if whenLeft == server.Release {
					requireRuns(t, pid)
					f.signals <- syscall.SIGTERM // from the launcher
					require.Equal(t, server.Ending{Signal: syscall.SIGTERM}, f.ends(), name)
				}
				require.NotZero(t, f.ends().Signal, name)
				requireEnds(t, pid)
				requireEnds(t, engine.PID())
			}
		}
	}
}

func TestALeftClientBeforeTheStart(t *testing.T) {
	options := usualOptions(t, "sh", "-c", "echo ran; exit 3")
	options.Open, options.WhenLeft = openFake(t, &fakeEngine{}), server.Release
	f := serves(t, options)
	require.NoError(t, f.conn.Close())
	require.Equal(t, server.Ending{Code: 3}, f.ends())
	require.Equal(t, "ran\n", text(t, f.output))
}

func TestSignalsReachAStoppedProgram(t *testing.T) {
	engine := &fakeEngine{}
	options := usualOptions(t, "sh", "-c", "trap 'echo caught; exit 9' TERM; echo $$; while :; do sleep 0.01; done")
	options.Open = openFake(t, engine)
	f := serves(t, options)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopNot})
	f.pidOf()
	f.does(debug.Request{Verb: debug.Halt})
	f.stops(debug.ReasonHalt)
	f.signals <- syscall.SIGTERM
	require.Equal(t, "SIGTERM arrived", f.gets(debug.ReportGone).Text)
	require.Equal(t, "caught\n", f.gets(debug.ReportOutput).Text)
	require.Equal(t, server.Ending{Code: 9}, f.ends())
}

func TestASignalBeforeTheStart(t *testing.T) {
	options := usualOptions(t, "true")
	options.Open = openFake(t, &fakeEngine{})
	f := serves(t, options)
	f.signals <- syscall.SIGTERM
	require.Equal(t, server.Ending{Signal: syscall.SIGTERM}, f.ends())
}

func TestAttachAndDetach(t *testing.T) {
	sleeper := exec.Command("sleep", "1000")
	require.NoError(t, sleeper.Start())
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	pid := sleeper.Process.Pid
	status, _ := guard.ReadStatus(pid)
	for _, ending := range []string{"detach", "leave", "signal"} {
		engine := &fakeEngine{}
		options := usualOptions(t)
		options.Program, options.PID, options.Start, options.WhenLeft = nil, pid, status.Start, server.Release
		options.Open = openFake(t, engine)
		f := serves(t, options)
		f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
		f.stops(debug.ReasonHalt)
		switch ending {
		case "detach":
			f.does(debug.Request{Verb: debug.Detach})
			f.gets(debug.ReportGone)
		case "leave":
			require.NoError(t, f.conn.Close())
		case "signal":
			f.signals <- syscall.SIGHUP
		}
		require.Equal(t, server.Ending{}, f.ends())
		requireRuns(t, pid)
	}
	options := usualOptions(t)
	options.Program, options.PID, options.Start = nil, pid, status.Start+1
	options.Open = openFake(t, &fakeEngine{})
	f := serves(t, options)
	require.Contains(t, f.asks(debug.Request{Verb: debug.Start}).Text, "the process has ended")
}

func TestADebuggerThatDiesLetsTheProcessRun(t *testing.T) {
	engine := &fakeEngine{isDeaf: true}
	options := usualOptions(t, "sh", "-c", printPID)
	options.Open = openFake(t, engine)
	f := serves(t, options)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopNot})
	pid := f.pidOf()
	f.does(debug.Request{Verb: debug.Halt})
	f.stops(debug.ReasonHalt)
	require.NoError(t, engine.debugger.Process.Kill())
	require.Contains(t, f.gets(debug.ReportGone).Text, "unexpectedly")
	requireRuns(t, pid)
	require.Equal(t, debug.NotRunning, f.asks(debug.Request{Verb: debug.Stack}).Problem)
	f.does(debug.Request{Verb: debug.Kill})
	require.Equal(t, server.Ending{Signal: syscall.SIGKILL}, f.ends())
}
