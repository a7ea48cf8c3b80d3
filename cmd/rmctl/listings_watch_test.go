package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

func TestAListingIsWatchedAtATerminal(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a terminal")
	}
	d := rmctltest.NewDesk(t, "", rmctltest.Foreground)
	s := d.Sits("queues", "-t", "local", "--watch")
	s.WaitFor("queues of local")
	s.WaitFor("local  NORMAL")
	s.WaitFor("\x1b[3A")
	s.Type("\x03")
	s.Ends(exitDone)
	require.NotContains(t, s.Screen, "\x1b[?1049h", "what stood above stays")
}
