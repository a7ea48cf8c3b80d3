package server_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/dap"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/server"
)

// openDAP opens a real debugger that speaks DAP.
func openDAP(kind string, rank int) server.Open {
	return func(ctx context.Context, notify func(debug.Notice)) (server.Engine, error) {
		engine, err := dap.OpenEngine(ctx, dap.EngineOptions{Kind: kind, Rank: rank, Notify: notify})
		if err != nil {
			return nil, err
		}
		return engine, nil
	}
}

const countingInGo = `package main

import (
	"os"
	"strconv"
	"time"
)

//go:noinline
func count(i int) int {
	return i * 2
}

func main() {
	total, last := 0, 0
	last, _ = strconv.Atoi(os.Args[1])
	for i := 1; i <= last; i++ {
		total += count(i)
	}
	os.Stdout.WriteString("total " + strconv.Itoa(total) + "\n")
	for len(os.Args) > 2 {
		time.Sleep(time.Millisecond)
	}
	os.Exit(total)
}
`

// compileGo compiles the program in Go for Debian's delve.
func compileGo(t testing.TB) string {
	t.Helper()
	const compiler = "/usr/lib/go-1.19/bin/go"
	needPrograms(t, "dlv", compiler)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "program.go"), []byte(countingInGo), 0o600))
	command := exec.Command(compiler, "build", "-gcflags=all=-N -l", "-o", "program", "program.go")
	command.Dir = folder
	command.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=", "GO111MODULE=off")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return filepath.Join(folder, "program")
}

// compiled returns the counting program for a debugger, and the line within the function that counts.
func compiled(t testing.TB, kind string) (program, file string, line int) {
	t.Helper()
	if kind == server.DLV {
		program = compileGo(t)
		return program, filepath.Join(filepath.Dir(program), "program.go"), 11
	}
	needPrograms(t, "lldb-vscode-14")
	program = compile(t, counting)
	return program, filepath.Join(filepath.Dir(program), "program.c"), 6
}

func TestOtherDebuggersFromMainToTheEnd(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{server.LLDB, server.DLV} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			program, file, line := compiled(t, kind)
			options := usualOptions(t, program, "10")
			options.Open = openDAP(kind, options.Rank)
			f := serves(t, options)
			placed := f.does(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{
				{ID: 1, File: file, Line: line, Condition: "i == $rank"}, {ID: 2, File: file, Line: line, Hits: "%5", Log: "{i} of $rank"},
			}})
			require.Len(t, placed.Breakpoints, 2)
			f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
			require.Contains(t, f.stops(debug.ReasonMain).Frame.Function, "main")
			f.does(debug.Request{Verb: debug.Continue})
			require.Contains(t, f.stops(debug.ReasonBreakpoint).Breakpoints, 1)
			require.Equal(t, "3", f.does(debug.Request{Verb: debug.Evaluate, Text: "i"}).Variables[0].Value)
			f.does(debug.Request{Verb: debug.Continue})
			logs := ""
			for notice := range f.notices {
				require.NotEqual(t, debug.ReportStopped, notice.Report)
				if notice.Stream == debug.StreamLog {
					logs += notice.Text
				}
			}
			require.Equal(t, "5 of 3\n10 of 3\n", logs)
			require.Equal(t, server.Ending{Code: 110}, f.ends())
		})
	}
}

func TestOtherDebuggersEndInEachWay(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{server.LLDB, server.DLV} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			program, _, _ := compiled(t, kind)
			for i, how := range []string{"kill", "detach", "release", "end", "SIGTERM", "crash"} {
				options := usualOptions(t, program, "3", "wait")
				var engine server.Engine
				open := openDAP(kind, 3)
				options.Open = func(ctx context.Context, notify func(debug.Notice)) (server.Engine, error) {
					var err error
					engine, err = open(ctx, notify)
					return engine, err
				}
				if how == "release" {
					options.WhenLeft = server.Release
				}
				f := serves(t, options)
				f.does(debug.Request{Verb: debug.Start, Stop: debug.StopNot})
				require.Equal(t, "total 12\n", f.gets(debug.ReportOutput).Text)
				pid := processesOf(t, program)[0]
				if i%2 == 0 {
					f.does(debug.Request{Verb: debug.Halt})
					f.stops(debug.ReasonHalt)
				}
				want := syscall.SIGKILL
				switch how {
				case "kill":
					f.does(debug.Request{Verb: debug.Kill})
				case "detach":
					f.does(debug.Request{Verb: debug.Detach})
					requireRuns(t, pid)
					f.does(debug.Request{Verb: debug.Kill})
				case "release":
					require.NoError(t, f.conn.Close())
					requireRuns(t, pid)
					f.signals <- syscall.SIGTERM
					want = syscall.SIGTERM
				case "end":
					require.NoError(t, f.conn.Close())
				case "SIGTERM":
					f.signals <- syscall.SIGTERM
					want = syscall.SIGTERM
				case "crash":
					require.NoError(t, syscall.Kill(engine.PID(), syscall.SIGKILL))
					f.gets(debug.ReportGone)
					requireRuns(t, pid)
					status, exists := guard.ReadStatus(pid)
					require.True(t, exists && !status.HasEnded())
					f.does(debug.Request{Verb: debug.Kill})
				}
				require.Equal(t, server.Ending{Signal: want}, f.ends(), how)
				requireEnds(t, pid)
			}
		})
	}
}
