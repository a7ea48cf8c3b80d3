package proxy

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sessions returns the lines of recorded sessions, by file: those of this package, and the
// captures of real agents where RMCTL_SHARED, or a folder next to this module, has them.
func sessions(t testing.TB) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("testdata/sessions/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	captures, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures", "proxy", "*.txt"))
	require.NoError(t, err)
	lines := map[string][]string{}
	for _, file := range append(files, captures...) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines[file] = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	return lines
}

func TestSessionsAreReproducedByteForByte(t *testing.T) {
	recorded := sessions(t)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(recorded)), func(file string) bool { return strings.Contains(file, "captures") }) {
		t.Run("captures", func(t *testing.T) {
			t.Skip("the captures of real agents are not here; RMCTL_SHARED names the folder that holds them")
		})
	}
	for file, lines := range recorded {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var written strings.Builder
			trace := NewTrace(&written)
			for _, text := range lines {
				line, err := ParseLine(text)
				require.NoError(t, err, text)
				require.NoError(t, trace.Write(line))
			}
			require.Equal(t, strings.Join(lines, "\n")+"\n", written.String())
		})
	}
}

// isDebugger reports whether a file has a session of a debugger, which uses the frames with other meanings.
func isDebugger(file string) bool {
	name := filepath.Base(file)
	return strings.HasPrefix(name, "debugger") || strings.HasPrefix(name, "sdm")
}

func TestUpdatesOfRecordedAgentsBelongToTheirSession(t *testing.T) {
	for file, lines := range sessions(t) {
		if isDebugger(file) {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			state := &ClientState{}
			transactions := map[uint32]uint32{} // of the recorded client to those of ours
			for _, text := range lines {
				line, err := ParseLine(text)
				require.NoError(t, err)
				switch {
				case line.Closed:
				case line.FromAgent:
					update, err := ParseUpdate(line.Frame)
					require.NoError(t, err, text)
					update.Transaction = transactions[update.Transaction]
					_, belongs := state.Receive(update)
					require.True(t, belongs, text)
				default:
					command := ParseCommand(line.Frame)
					if command.ID == UnknownCommand {
						continue
					}
					ours, err := state.Begin(command.ID, command.Attributes)
					require.NoError(t, err, text)
					transactions[command.Transaction] = ours.Transaction
				}
			}
			require.NoError(t, state.Closed())
			require.Zero(t, state.Discarded)
		})
	}
}

func TestAgentsAcceptTheCommandsOfRecordedClients(t *testing.T) {
	for file, lines := range sessions(t) {
		if isDebugger(file) {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			state := &AgentState{}
			for _, text := range lines {
				line, err := ParseLine(text)
				require.NoError(t, err)
				if line.FromAgent || line.Closed {
					continue
				}
				command := ParseCommand(line.Frame)
				replies, isAccepted := state.Receive(command)
				require.Equal(t, command.ID != UnknownCommand, isAccepted, text)
				for _, reply := range replies {
					require.Equal(t, isAccepted, reply.Change != Error, text)
				}
				if command.ID != StartEvents {
					state.Complete(command.Transaction)
				}
			}
			require.Zero(t, state.Discarded)
		})
	}
}
