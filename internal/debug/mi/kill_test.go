package mi_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

// A killed process may be gone before gdb continues it, which gdb takes for an error.
func TestStoppedProcessesThatAreKilledTogetherEnd(t *testing.T) {
	path := compile(t, "gcc", "count.c", counting)
	const count = 8
	var sessions []session
	var programs []program
	for range count {
		s, started := attach(t, path, "forever")
		s.place(debug.Breakpoint{ID: 1, Function: "factorial"})
		s.until()
		sessions, programs = append(sessions, s), append(programs, started)
	}
	answers := make(chan debug.Answer, count)
	for _, s := range sessions {
		go func() { answers <- s.Do(within(t), debug.Request{Verb: debug.Kill}) }()
	}
	for range count {
		require.Empty(t, <-answers)
	}
	for i, s := range sessions {
		require.Equal(t, debug.Notice{Report: debug.ReportExited, Signal: "SIGKILL"}, s.next(debug.ReportStopped, debug.ReportExited))
		require.Equal(t, syscall.SIGKILL, programs[i].wait().Signal())
	}
}
