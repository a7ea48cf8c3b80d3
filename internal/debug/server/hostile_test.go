package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/server"
)

func TestClientsThatBreakTheProtocolHaveLeft(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"nonsense", "0 {}", "-1 {}", "99999999999 {}", "1{}", "\x00\xff", "1 " + strings.Repeat(" ", debug.MostLine)} {
		options := usualOptions(t, "sleep", "1000")
		options.Open = openFake(t, &fakeEngine{})
		f := serves(t, options)
		f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtEntry})
		_, _ = fmt.Fprintln(f.conn, line) // the server may close it before the end
		require.NotZero(t, f.ends().Signal, "%.20q", line)
	}
}

func TestInvalidRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	options := usualOptions(t, "sleep", "1000")
	options.Open = openFake(t, &fakeEngine{})
	f := serves(t, options)
	answer := make(chan string, 1)
	f.mutex.Lock()
	f.number, f.answers[7] = 7, answer
	f.mutex.Unlock()
	for _, body := range []string{`{"verb":`, `[]`, `{"count":"many"}`, `{"breakpoints":[` + strings.Repeat(`{},`, 1000) + `{}]}`, strings.Repeat("[", 20_000)} {
		_, err := fmt.Fprintf(f.conn, "7 %s\n", body)
		require.NoError(t, err)
		require.Contains(t, <-answer, `"problem":"failed"`, "%.30s", body)
	}
	for range 2000 {
		_, err := fmt.Fprintf(f.conn, "1000000 {\"verb\":\"stack\"}\n")
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return f.asks(debug.Request{Verb: debug.Stack}).Problem == debug.NotRunning }, patience, time.Millisecond, "it still serves")
}

func TestAClientThatDoesNotReadHasLeft(t *testing.T) {
	t.Parallel()
	near, far := socketPair(t)
	options := usualOptions(t, "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo done >&2; exec sleep 1000")
	options.Open, options.Linger = openFake(t, &fakeEngine{}), 500*time.Millisecond
	ended := make(chan server.Ending)
	go func() {
		ending, _ := server.Serve(t.Context(), far, options)
		ended <- ending
	}()
	_, err := fmt.Fprintln(near, `1 {"verb":"start","stop":"no"}`)
	require.NoError(t, err)
	select {
	case ending := <-ended:
		require.NotZero(t, ending.Signal)
	case <-time.After(patience):
		require.Fail(t, "the server waits for a client that does not read")
	}
	require.Equal(t, "done\n", text(t, options.Errors), "the program did not wait for the client")
	require.NoError(t, near.Close())
}

func TestDebuggersAndGuardsThatDoNotStart(t *testing.T) {
	t.Parallel()
	options := usualOptions(t, "echo", "ran")
	options.Open = func(context.Context, func(debug.Notice)) (server.Engine, error) {
		return nil, errors.New("debugger not found: gdb")
	}
	f := serves(t, options)
	require.Equal(t, "debugger not found: gdb", f.asks(debug.Request{Verb: debug.Start}).Text)
	require.NoError(t, f.conn.Close())
	require.Equal(t, server.Ending{Code: 1}, f.ends())
	require.Empty(t, text(t, f.output))

	options.Guard = []string{"false"}
	near, far := socketPair(t)
	_, err := server.Serve(t.Context(), far, options)
	require.ErrorContains(t, err, "could not start the guard")
	_, err = near.Read(make([]byte, 1))
	require.Error(t, err, "the connection has ended")
}

func TestAProgramThatPermitsDebuggersStopsInItself(t *testing.T) {
	t.Parallel()
	program := compile(t, counting)
	options := usualOptions(t, program, "4")
	scope := filepath.Join(t.TempDir(), "ptrace_scope")
	require.NoError(t, os.WriteFile(scope, []byte("1\n"), 0o600))
	server.SetScope(&options, scope)
	options.Open, options.Permit = openGDB(0), []string{os.Args[0], "traceable"}
	f := serves(t, options)
	f.does(debug.Request{Verb: debug.Start, Stop: debug.StopAtMain})
	require.Equal(t, "main", f.stops(debug.ReasonMain).Frame.Function)
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", processesOf(t, program)[0]))
	require.NoError(t, err)
	require.Contains(t, string(environment), "PERMITTED=1")
	f.does(debug.Request{Verb: debug.Continue})
	require.Equal(t, server.Ending{Code: 20}, f.ends())
	require.Equal(t, "total 20\n", text(t, f.output))
}
