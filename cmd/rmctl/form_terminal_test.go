package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// atTerminal starts rmctl at a terminal.
func atTerminal(t *testing.T, environment []string, arguments ...string) *rmctltest.Terminal {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a terminal")
	}
	d := rmctltest.NewDesk(t, filepath.Join("..", "..", "internal", "tui", "fill", "testdata", "form"), append([]string{"TERM=xterm-256color"}, environment...)...)
	return d.Sits(arguments...)
}

func TestAFormIsFilledInAtATerminal(t *testing.T) {
	s := atTerminal(t, nil, "form", "demo", "--", "./a.out", "x y")
	s.WaitFor("\x1b[?1049h") // the alternate screen, so that the previous content returns
	s.WaitFor("Demo cluster")
	s.WaitFor("Esc leave")
	s.Type("\t\t\x1b[C") // to the size, and one to the right
	s.WaitFor("medium")
	require.NoError(t, pty.Setsize(s.Device, &pty.Winsize{Rows: 12, Cols: 60}))
	s.WaitFor(strings.Repeat("-", 60))
	s.Type("\x13") // Ctrl-S
	s.WaitFor("values of the tab")
	s.Type("\t\t\t\t\r")
	s.Ends(exitDone)
	require.Contains(t, s.Screen, "\x1b[?1049l")
	require.Contains(t, s.Screen, "rmctl submit -t demo -s size=medium -- ./a.out 'x y'")
}

func TestAFormCanBeLeftAtATerminal(t *testing.T) {
	for name, keys := range map[string]string{"Esc": "\x1b", "Ctrl-C": "\x03"} {
		t.Run(name, func(t *testing.T) {
			s := atTerminal(t, []string{"NO_COLOR=1"}, "form", "demo", "--", "./a.out")
			s.WaitFor("Esc leave")
			s.Type(keys)
			s.Ends(exitFailed)
			require.Contains(t, s.Screen, "\x1b[?1049l", "the terminal is as it was")
			require.Contains(t, s.Screen, "canceled; nothing was submitted")
			require.NotContains(t, s.Screen, ";36m", "nobody wanted colours")
		})
	}
}

func TestASignalRestoresTheTerminal(t *testing.T) {
	s := atTerminal(t, nil, "form", "demo", "--", "./a.out")
	s.WaitFor("Esc leave")
	require.NoError(t, s.Command.Process.Signal(syscall.SIGTERM))
	s.Ends(exitFailed)
	require.Contains(t, s.Screen, "\x1b[?1049l")
}

func TestADumbTerminalGetsPromptsLineByLine(t *testing.T) {
	s := atTerminal(t, []string{"TERM=dumb"}, "form", "demo", "--", "./a.out")
	s.WaitFor("Tab [Files and more]:")
	s.Type("\x04") // the end of the input
	s.Ends(exitFailed)
	require.NotContains(t, s.Screen, "\x1b")
}
