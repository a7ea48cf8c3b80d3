package remotetest

import (
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// RunFull tests that what runs can be signalled and ended at a place that does so
// many commands at once, and signals those with input or a terminal besides so many,
// none for zero. Open returns a connection that does not know the limit yet, impatient
// one that besides soon kills what does not want to end; the suite closes both.
func RunFull(t *testing.T, commands, besides int, open, impatient func(t *testing.T) remote.Connection) {
	HeedHangUps()
	connect := func(t *testing.T, open func(t *testing.T) remote.Connection) *suite {
		t.Helper()
		t.Parallel()
		connection := open(t)
		t.Cleanup(func() { require.NoError(t, connection.Close()) })
		return &suite{connection: connection}
	}
	t.Run("commands", func(t *testing.T) { testFull(t, connect(t, impatient), commands) })
	for _, terminal := range []*remote.Terminal{nil, {}} {
		if besides > 0 {
			t.Run(fmt.Sprintf("with input, on a terminal: %v", terminal != nil), func(t *testing.T) {
				testFullBesides(t, connect(t, open), besides-1, terminal)
			})
		}
	}
}

func testFull(t *testing.T, s *suite, count int) {
	scripts := []string{
		"trap 'exit 5' USR1; echo ready; while :; do sleep 0.01; done",
		"trap '' TERM; echo ready; while :; do sleep 0.01; done",
	}
	running := make([]remote.Handle, count)
	for number := range running {
		running[number] = s.begin(t, shellCommand(scripts[number%2]))
	}
	ctx := timeLimit(t)
	waiting := make(chan error, 1)
	// It finds out that the place does no more at once.
	go func() { waiting <- startAndWait(ctx, s.connection) }()
	for number, process := range running {
		expected := 5
		if number%2 == 0 {
			require.NoError(t, process.Signal(syscall.SIGUSR1))
		} else {
			process.Terminate()
			expected = 128 + 9
		}
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, expected, code)
	}
	require.NoError(t, <-waiting)
}

func testFullBesides(t *testing.T, s *suite, others int, terminal *remote.Terminal) {
	input, hold := io.Pipe()
	t.Cleanup(func() { require.NoError(t, hold.Close()) })
	command := shellCommand("trap 'exit 5' USR1; echo ready; while :; do sleep 0.01; done")
	command.Stdin, command.Terminal = input, terminal
	running := []remote.Handle{s.begin(t, command)}
	for range others {
		running = append(running, s.begin(t, shellCommand("echo ready; exec sleep 300")))
	}
	require.NoError(t, running[0].Signal(syscall.SIGUSR1))
	code, err := running[0].Wait()
	require.NoError(t, err)
	require.Equal(t, 5, code)
	running[0] = s.begin(t, command)
	for _, process := range running {
		process.Terminate()
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 128+15, code)
	}
}

// begin starts a command, and waits until it has printed something.
func (s *suite) begin(t *testing.T, command remote.Command) remote.Handle {
	t.Helper()
	output := &firstWrite{arrived: make(chan struct{})}
	command.Stdout = output
	process, err := s.connection.Start(timeLimit(t), command)
	require.NoError(t, err)
	select {
	case <-output.arrived:
	case <-timeLimit(t).Done():
		require.FailNow(t, "it prints nothing")
	}
	return process
}
