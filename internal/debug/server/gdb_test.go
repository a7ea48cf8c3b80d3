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
	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/debug/server"
)

// needPrograms skips the test if a program is missing, and fails it where all are installed.
func needPrograms(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("RMCTL_CLUSTERS") == "1" {
				require.NoError(t, err)
			}
			t.Skipf("%s is not installed: testdata/clusters/install.sh installs it", name)
		}
	}
}

// compile compiles a program in C for gdb.
func compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	needPrograms(t, "gdb", "gcc")
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "program.c"), []byte(source), 0o600))
	command := exec.Command("gcc", append([]string{"-g", "-O0", "-w", "-o", "program", "program.c"}, flags...)...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return filepath.Join(folder, "program")
}

// openGDB opens a real gdb.
func openGDB(rank int) server.Open {
	return func(ctx context.Context, notify func(debug.Notice)) (server.Engine, error) {
		engine, err := mi.OpenEngine(ctx, mi.EngineOptions{Rank: rank, Notify: notify})
		if err != nil {
			return nil, err
		}
		return engine, nil
	}
}

// gdbServes starts a server with gdb.
func gdbServes(t testing.TB, words ...string) *fixture {
	t.Helper()
	options := usualOptions(t, words...)
	options.Open = openGDB(options.Rank)
	return serves(t, options)
}

const counting = `
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int count(int i) {
	return i * 2;
}
int main(int argc, char **argv) {
	int total = 0;
	for (int i = 1; i <= atoi(argv[1]); i++)
		total += count(i);
	printf("total %d\n", total);
	fflush(stdout);
	if (argc > 2) for (;;) pause();
	return total;
}
`

func TestGDBFromMainToTheEnd(t *testing.T) {
	t.Parallel()
	program := compile(t, counting)
	f := gdbServes(t, program, "4")
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
	stop := f.stops(debug.ReasonMain)
	require.Equal(t, "main", stop.Frame.Function)
	source := f.does(debug.Request{Verb: debug.Source, Text: stop.Frame.File})
	require.Equal(t, counting, source.Text)
	placed := f.does(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{
		{ID: 1, File: stop.Frame.File, Line: 6, Condition: "i == $rank"},
		{ID: 2, File: stop.Frame.File, Line: 6, Log: "rank $rank: {i} {i*2} {nothing}"},
		{ID: 3, File: stop.Frame.File, Line: 6, Hits: "=4"},
	}})
	require.Len(t, placed.Breakpoints, 3)
	for _, each := range placed.Breakpoints {
		require.True(t, each.Verified, "%+v", each)
	}
	f.does(debug.Request{Verb: debug.Continue})
	stop = f.stops(debug.ReasonBreakpoint)
	require.Equal(t, []int{1}, stop.Breakpoints)
	require.Equal(t, "3", f.does(debug.Request{Verb: debug.Evaluate, Text: "i"}).Variables[0].Value)
	f.does(debug.Request{Verb: debug.Continue})
	require.Equal(t, []int{3}, f.stops(debug.ReasonBreakpoint).Breakpoints)
	f.does(debug.Request{Verb: debug.Step, Text: debug.StepOut})
	require.Equal(t, "main", f.stops(debug.ReasonStep).Frame.Function)
	f.does(debug.Request{Verb: debug.Continue})
	require.Equal(t, 20, *f.gets(debug.ReportExited).Code)
	require.Equal(t, server.Ending{Code: 20}, f.ends())
	require.Equal(t, "total 20\n", text(t, f.output))
}

func TestGDBPrintsAtLogPoints(t *testing.T) {
	t.Parallel()
	program := compile(t, counting)
	f := gdbServes(t, program, "50")
	f.does(debug.Request{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 1, Function: "count", Log: "at {i} of $rank", Hits: "%10"}}})
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopNot})
	output := map[string]string{}
	for notice := range f.notices {
		require.NotEqual(t, debug.ReportStopped, notice.Report)
		output[notice.Stream] += notice.Text
	}
	require.Equal(t, "at 10 of 3\nat 20 of 3\nat 30 of 3\nat 40 of 3\nat 50 of 3\n", output[debug.StreamLog])
	require.Equal(t, "total 2550\n", output[debug.StreamOutput])
	require.Equal(t, server.Ending{Code: 2550 & 255}, f.ends())
}

func TestGDBEndsInEachWay(t *testing.T) {
	t.Parallel()
	program := compile(t, counting)
	for _, isStopped := range []bool{false, true} {
		for _, how := range []string{"kill", "detach", "leave", "end", "SIGTERM"} {
			options := usualOptions(t, program, "3", "wait")
			options.Open = openGDB(3)
			if how == "leave" {
				options.WhenLeft = server.Release
			}
			f := serves(t, options)
			f.does(debug.Request{Verb: debug.Start, Stop: debug.StopNot})
			require.Equal(t, "total 12\n", f.gets(debug.ReportOutput).Text)
			pid := processesOf(t, program)[0]
			if isStopped {
				f.does(debug.Request{Verb: debug.Halt})
				f.stops(debug.ReasonHalt)
			}
			want := syscall.SIGKILL
			switch how {
			case "kill":
				f.does(debug.Request{Verb: debug.Kill})
				require.Equal(t, "SIGKILL", f.gets(debug.ReportExited).Signal)
			case "detach":
				f.does(debug.Request{Verb: debug.Detach})
				f.gets(debug.ReportGone)
				requireRuns(t, pid)
				f.does(debug.Request{Verb: debug.Kill})
			case "leave":
				require.NoError(t, f.conn.Close())
				requireRuns(t, pid)
				f.signals <- syscall.SIGTERM
				want = syscall.SIGTERM
			case "end":
				require.NoError(t, f.conn.Close())
			case "SIGTERM":
				f.signals <- syscall.SIGTERM
				want = syscall.SIGTERM
			}
			require.Equal(t, server.Ending{Signal: want}, f.ends(), "%s %t", how, isStopped)
			requireEnds(t, pid)
		}
	}
}

func TestGDBShowsAStringOfAGigabyte(t *testing.T) {
	t.Parallel()
	program := compile(t, `
#include <stdlib.h>
#include <string.h>
int main(void) {
	char *huge = malloc(1 << 30);
	memset(huge, 'x', 1 << 20);
	char *end = huge;
	return 0;
}`)
	f := gdbServes(t, program)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
	f.stops(debug.ReasonMain)
	for range 3 {
		f.does(debug.Request{Verb: debug.Step, Text: debug.StepOver})
		f.stops(debug.ReasonStep)
	}
	begin := time.Now()
	for _, expression := range []string{"huge", "*huge@1073741824", "(char (*)[1073741824])huge", "*(char (*)[1073741824])huge"} {
		answer := f.raw(debug.Request{Verb: debug.Evaluate, Text: expression})
		require.Less(t, len(answer), 20_000, expression)
	}
	require.Less(t, time.Since(begin), 10*time.Second)
	f.does(debug.Request{Verb: debug.Kill})
	f.ends()
}

func TestGDBAndProgramsWithoutSymbols(t *testing.T) {
	t.Parallel()
	program := compile(t, counting, "-s")
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nexit 5\n"), 0o700))
	for _, words := range [][]string{{program, "1"}, {script}} {
		f := gdbServes(t, words...)
		f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
		require.Contains(t, f.stops(debug.ReasonEntry).Text, "no function main", "%v", words)
		f.does(debug.Request{Verb: debug.Continue})
		f.gets(debug.ReportRunning)
		require.NotEqual(t, 0, *f.gets(debug.ReportExited).Code)
		f.ends()
	}
}

func TestRanksInOneStateAnswerWithEqualBytes(t *testing.T) {
	t.Parallel()
	program := compile(t, counting)
	requests := []debug.Request{
		{Verb: debug.SetBreakpoints, Breakpoints: []debug.Breakpoint{{ID: 4, Function: "count"}}},
		{Verb: debug.Threads}, {Verb: debug.Stack, Count: 20}, {Verb: debug.Variables, Text: "locals"}, {Verb: debug.Variables, Text: "arguments"},
		{Verb: debug.Evaluate, Text: "argv"}, {Verb: debug.Evaluate, Text: "&argc"}, {Verb: debug.TypeOf, Text: "argv"}, {Verb: debug.Memory, Text: "&argc", Count: 4}, {Verb: debug.Raw, Text: "info line main"},
	}
	var answers [2][]string
	for i := range answers {
		options := usualOptions(t, program, "2")
		options.Open = openGDB(3)
		f := serves(t, options)
		f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
		f.stops(debug.ReasonMain)
		for _, request := range requests {
			answers[i] = append(answers[i], f.raw(request))
		}
		f.does(debug.Request{Verb: debug.Kill})
		f.ends()
	}
	require.Equal(t, answers[0], answers[1])
	for _, answer := range answers[0] {
		require.NotContains(t, answer, "problem")
	}
}
