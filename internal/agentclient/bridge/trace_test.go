package bridge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

// traced returns the names of the messages in a trace.
func traced(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var names []string
	for text := range strings.Lines(string(text)) {
		line, err := proxy.ParseLine(text)
		require.NoError(t, err)
		switch {
		case line.Closed:
			names = append(names, "closed")
		case !line.FromAgent:
			names = append(names, proxy.ParseCommand(line.Frame).Name())
		default:
			update, err := proxy.ParseUpdate(line.Frame)
			require.NoError(t, err)
			names = append(names, update.Name())
		}
	}
	return names
}

func TestASessionIsTracedFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	here, err := remote.NewLocal()
	require.NoError(t, err)
	agent := agenttest.Acting(func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced)
		quit(a)
	})
	c := bridge.New(&place{here, agent}, bridge.Options{Agent: []string{"agent"}})
	_, err = bridge.KnownDefinition(t.Context(), c, "pe")
	require.ErrorContains(t, err, "there is no session with the agent")
	path := filepath.Join(t.TempDir(), "trace")
	tracer := &bridge.Tracer{File: path, Warn: func(err error) { t.Error(err) }}
	require.False(t, tracer.HasBegun())
	require.NoError(t, tracer.Trace(t.Context(), c))
	require.True(t, tracer.HasBegun())
	require.Empty(t, traced(t, path), "tracing begins no session")
	rows(t, c, "queues")
	known, err := bridge.KnownDefinition(t.Context(), c, "pe")
	require.NoError(t, err)
	require.Equal(t, "pe", known.File)
	require.NoError(t, c.Close())
	require.Equal(t, []string{"INIT", "OK", "MODEL_DEF", "OK", "START_EVENTS", "NEW_QUEUE", "QUIT", "OK"}, traced(t, path)[:8])
}

func TestTwoConnectionsShareATrace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace")
	tracer := &bridge.Tracer{File: path, Warn: func(err error) { t.Error(err) }}
	for range 2 {
		c := over(t, agenttest.Acting(func(a *agenttest.Agent) {
			a.Begin("")
			a.Events(announced)
			quit(a)
		}), bridge.Options{Agent: []string{"agent"}})
		require.NoError(t, tracer.Trace(t.Context(), c))
		rows(t, c, "queues")
	}
	starts := 0
	for _, name := range traced(t, path) {
		if name == "INIT" {
			starts++
		}
	}
	require.Equal(t, 2, starts)
}

func TestATraceThatCannotBeOpenedIsAnError(t *testing.T) {
	t.Parallel()
	c := over(t, agenttest.Acting(func(*agenttest.Agent) {}), bridge.Options{Agent: []string{"agent"}})
	tracer := &bridge.Tracer{File: t.TempDir()}
	require.Error(t, tracer.Trace(t.Context(), c))
	require.False(t, tracer.HasBegun())
	_, stderr, code, err := run(t, c, "trace", filepath.Join(t.TempDir(), "none", "trace"))
	require.NoError(t, err)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "opening the trace: ")
}
