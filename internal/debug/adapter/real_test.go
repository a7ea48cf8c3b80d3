package adapter_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
	dapengine "github.com/rmctl/rmctl/internal/debug/dap"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/debug/server"
)

// serveWord makes the test binary an adapter for real programs, on its standard streams.
const serveWord = "serve-editor"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
		guard.Serve(context.Background(), os.Stdin, os.Stdout, guard.Silence)
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == serveWord {
		stream := struct {
			io.Reader
			io.Writer
		}{os.Stdin, os.Stdout}
		if err := adapter.Serve(context.Background(), stream, adapter.Options{Launch: launchReal}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// launchReal starts ranks under gdb in this process, each with its number in OMPI_COMM_WORLD_RANK.
func launchReal(ctx context.Context, arguments adapter.LaunchArguments, report func(string)) (*adapter.Launched, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	devNull, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	session := &debug.Session{}
	done := make(chan struct{})
	var servers, readers sync.WaitGroup
	joined := make(chan struct{}, arguments.Processes)
	for number := range arguments.Processes {
		near, far := net.Pipe()
		options := server.Options{
			Rank: number, Size: arguments.Processes, Host: "here", Debugger: "gdb", WhenLeft: server.End,
			Program:     &debug.Program{Arguments: append([]string{arguments.Program}, arguments.Arguments...)},
			Environment: append(os.Environ(), fmt.Sprintf("OMPI_COMM_WORLD_RANK=%d", number)),
			Guard:       []string{self, "guard"}, Find: exec.LookPath, Output: devNull, Errors: devNull,
			Open: func(ctx context.Context, notify func(debug.Notice)) (server.Engine, error) {
				return openEngine(ctx, arguments, number, notify)
			},
		}
		servers.Go(func() {
			if _, err := server.Serve(ctx, far, options); err != nil && ctx.Err() == nil {
				report(err.Error())
			}
		})
		readers.Go(func() { relay(session, near, joined) })
	}
	go func() { servers.Wait(); readers.Wait(); devNull.Close(); close(done) }()
	for range arguments.Processes {
		select {
		case <-joined:
		case <-done:
			cancel()
			return nil, errors.New("the servers have ended")
		}
	}
	end := func(ctx context.Context, kill bool) error {
		verb := debug.Detach
		if kill {
			verb = debug.Kill
		}
		session.Ask(ctx, debug.Question{Ranks: session.Ranks(debug.Ready, debug.Running, debug.Stopped), Request: debug.Request{Verb: verb}})
		cancel()
		<-done
		return nil
	}
	return &adapter.Launched{Session: session, Size: arguments.Processes, Done: done, End: end}, nil
}

// openEngine opens a debugger.
func openEngine(ctx context.Context, arguments adapter.LaunchArguments, rank int, notify func(debug.Notice)) (server.Engine, error) {
	if arguments.Debugger == "" {
		return mi.OpenEngine(ctx, mi.EngineOptions{Rank: rank, Notify: notify})
	}
	return dapengine.OpenEngine(ctx, dapengine.EngineOptions{Kind: arguments.Debugger, Path: arguments.DebuggerPath, Rank: rank, Notify: notify})
}

// relay passes lines between a session and a rank.
func relay(session *debug.Session, conn net.Conn, joined chan<- struct{}) {
	defer conn.Close()
	lines := make(chan []byte, 1024)
	member := session.Join(func(line []byte) error { lines <- line; return nil })
	var writer sync.WaitGroup
	defer writer.Wait()
	defer close(lines)
	writer.Go(func() {
		for line := range lines {
			if _, err := conn.Write(line); err != nil {
				conn.Close()
			}
		}
	})
	scanner := bufio.NewScanner(conn)
	scanner.Buffer(nil, debug.MostLine)
	for isFirst := true; scanner.Scan(); isFirst = false {
		if member.Receive(scanner.Bytes()) != nil {
			break
		}
		if isFirst {
			joined <- struct{}{}
		}
	}
	member.Leave("the connection has ended")
}

const solver = `#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct grid { int rows, columns; double cells[300]; };

static double relax(struct grid *g, int rank, int sweep) {
	double sum = 0;
	for (int i = 0; i < 300; i++)
		sum += g->cells[i] * rank;
	return sum + sweep; /* relaxed */
}

int main(void) {
	int rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
	struct grid grid = {3, 100};
	double result = 0;
	for (int sweep = 0; sweep < 3; sweep++)
		result += relax(&grid, rank, sweep);
	printf("rank %d: %g\n", rank, result);
	fflush(stdout);
	return rank == 2 ? 7 : 0; /* end */
}
`

// compileC compiles a program, and returns its path and that of its source.
func compileC(t testing.TB, source string) (program, file string) {
	t.Helper()
	for _, name := range []string{"gdb", "gcc"} {
		needProgram(t, name)
	}
	folder := t.TempDir()
	file, program = filepath.Join(folder, "solver.c"), filepath.Join(folder, "solver")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	output, err := exec.Command("gcc", "-g", "-O0", "-pthread", "-o", program, file).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return program, file
}

// needProgram skips the test if a program is missing, and fails it where all are installed.
func needProgram(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("RMCTL_CLUSTERS") == "1" {
			require.NoError(t, err)
		}
		t.Skipf("%s is not installed: testdata/clusters/install.sh installs it", name)
	}
}

// lineOf returns the line of a text that has a mark.
func lineOf(source, mark string) int {
	before, _, _ := strings.Cut(source, mark)
	return strings.Count(before, "\n") + 1
}

func TestRanksOfAProgramUnderGDB(t *testing.T) {
	program, file := compileC(t, solver)
	e := open(t, adapter.Options{Launch: launchReal})
	e.begin(map[string]any{"program": program, "processes": 4})
	relaxed := lineOf(solver, "/* relaxed */")
	set := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{
		"source":      map[string]any{"path": file},
		"breakpoints": []any{map[string]any{"line": relaxed, "condition": "sweep == $rank % 3"}},
	}).Body.Breakpoints
	require.Equal(t, "not set yet", set[0].Message)
	ask[*dap.ConfigurationDoneResponse](e, "configurationDone", nil)
	for verified := false; !verified; {
		verified = next[*dap.BreakpointEvent](e).Body.Breakpoint.Verified
	}
	stops := map[int]bool{}
	for len(stops) < 4 {
		stopped := next[*dap.StoppedEvent](e).Body
		require.Equal(t, "breakpoint", stopped.Reason)
		require.Equal(t, []int{set[0].Id}, stopped.HitBreakpointIds)
		stops[stopped.ThreadId] = true
	}
	e.threads("rank 0", "rank 1", "rank 2", "rank 3")
	trace := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": 3, "levels": 1}).Body
	require.Equal(t, "relax", trace.StackFrames[0].Name)
	require.Equal(t, relaxed, trace.StackFrames[0].Line)
	require.Equal(t, file, trace.StackFrames[0].Source.Path)
	require.Equal(t, 2, trace.TotalFrames)
	frame := trace.StackFrames[0].Id
	require.Equal(t, "2", ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "sweep", "frameId": frame, "context": "hover"}).Body.Result)
	scopes := ask[*dap.ScopesResponse](e, "scopes", map[string]any{"frameId": frame}).Body.Scopes
	locals := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": scopes[0].VariablesReference}).Body.Variables
	require.Equal(t, "sum", locals[0].Name, "%+v", locals)
	arguments := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": scopes[1].VariablesReference}).Body.Variables
	require.Equal(t, "g", arguments[0].Name)
	grid := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": arguments[0].VariablesReference}).Body.Variables
	names := map[string]dap.Variable{}
	for _, each := range grid {
		names[each.Name] = each
	}
	require.Equal(t, "3", names["rows"].Value, "%+v", grid)
	require.Equal(t, 300, names["cells"].IndexedVariables)
	cells := ask[*dap.VariablesResponse](e, "variables", map[string]any{
		"variablesReference": names["cells"].VariablesReference, "filter": "indexed", "start": 290, "count": 10,
	}).Body.Variables
	require.Len(t, cells, 10)
	set2 := ask[*dap.SetVariableResponse](e, "setVariable", map[string]any{"variablesReference": scopes[0].VariablesReference, "name": "sum", "value": "5"}).Body
	require.Equal(t, "5", set2.Value)
	ask[*dap.NextResponse](e, "next", map[string]any{"threadId": 3})
	require.Equal(t, "step", next[*dap.StoppedEvent](e).Body.Reason)
	require.Contains(t, e.failing("scopes", map[string]any{"frameId": frame}), "the ranks have run since")
	ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{"source": map[string]any{"path": file}, "breakpoints": []any{}})
	for id := 1; id <= 4; id++ {
		ask[*dap.ContinueResponse](e, "continue", map[string]any{"threadId": id})
	}
	require.Equal(t, 7, next[*dap.ExitedEvent](e).Body.ExitCode)
	e.output("stdout", "[2] rank 2: 8\n")
	ask[*dap.DisconnectResponse](e, "disconnect", nil)
	require.NoError(t, e.end())
}

// BenchmarkStep measures a step of one rank under gdb in an editor, and the same by the session alone.
func BenchmarkStep(b *testing.B) {
	program, _ := compileC(b, "int main(void) {\n\tvolatile int i = 0;\n\tfor (;;) {\n\t\ti++;\n\t\ti--;\n\t}\n}\n")
	b.Run("editor", func(b *testing.B) {
		e := open(b, adapter.Options{Launch: launchReal})
		e.check = false
		e.begin(map[string]any{"program": program, "processes": 2, "stop": "main"})
		e.start()
		next[*dap.StoppedEvent](e)
		for b.Loop() {
			e.send("next", map[string]any{"threadId": 1})
			next[*dap.StoppedEvent](e)
		}
	})
	b.Run("session", func(b *testing.B) {
		launched, err := launchReal(b.Context(), adapter.LaunchArguments{Program: program, Processes: 2}, func(string) {})
		require.NoError(b, err)
		session := launched.Session
		session.Start(b.Context(), debug.Request{Stop: debug.StopAtMain})
		await(b, session, 2)
		one := debug.Ranks{{First: 0, Last: 0}}
		for b.Loop() {
			session.Ask(b.Context(), debug.Question{Ranks: one, Request: debug.Request{Verb: debug.Step, Text: debug.StepOver, Count: 1}})
			await(b, session, 1)
		}
		require.NoError(b, launched.End(b.Context(), true))
	})
}

// await waits for stops.
func await(b *testing.B, session *debug.Session, count int) {
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for count > 0 {
		updates, err := session.Next(ctx)
		require.NoError(b, err)
		for _, update := range updates {
			if update.Report == debug.ReportStopped {
				count--
			}
		}
	}
}
