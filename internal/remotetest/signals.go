package remotetest

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

func testSignals(t *testing.T, s *suite) {
	t.Run("a program may act on them", func(t *testing.T) {
		talk := s.converseWith(t, timeLimit(t), shellCommand("trap 'exit 5' USR1; echo ready; while :; do sleep 0.01; done"))
		talk.expect(t, "ready\n")
		require.NoError(t, talk.process.Signal(syscall.SIGUSR1))
		talk.ends(t, 5)
	})
	t.Run("they go to the whole group", func(t *testing.T) {
		process, ids := s.startPair(t, timeLimit(t), "", "exec sleep 300")
		require.NoError(t, process.Signal(syscall.SIGUSR1)) // SIGHUP means nothing under nohup
		s.requireKilled(t, process, int(syscall.SIGUSR1), ids)
	})
	t.Run("a kill cannot be refused", func(t *testing.T) {
		process, ids := s.startPair(t, timeLimit(t), "trap '' TERM HUP INT", "while :; do sleep 0.05; done")
		require.NoError(t, process.Signal(syscall.SIGKILL))
		s.requireKilled(t, process, 9, ids)
	})
	t.Run("they stop and continue", func(t *testing.T) {
		process, ids := s.startPair(t, timeLimit(t), "", "exec sleep 300")
		stopped := func() bool {
			return strings.HasPrefix(strings.TrimSpace(s.shell(t, `ps -o stat= -p "$1"`, ids[0]).stdout), "T")
		}
		require.NoError(t, process.Signal(syscall.SIGSTOP))
		require.Eventually(t, stopped, patience, 10*time.Millisecond)
		require.NoError(t, process.Signal(syscall.SIGCONT))
		require.Eventually(t, func() bool { return !stopped() }, patience, 10*time.Millisecond)
		process.Terminate()
		s.requireKilled(t, process, 15, ids)
	})
	t.Run("one on a terminal gets them too", func(t *testing.T) {
		talk := s.converse(t, timeLimit(t), "trap 'exit 5' USR1; echo ready; while :; do sleep 0.01; done")
		talk.expect(t, "ready\r\n")
		require.NoError(t, talk.process.Signal(syscall.SIGUSR1))
		talk.ends(t, 5)
	})
	t.Run("one that has ended does not mind", func(t *testing.T) {
		var stdout bytes.Buffer
		command := shellCommand("echo done")
		command.Stdout = &stdout
		for _, terminal := range []*remote.Terminal{nil, {}} {
			command.Terminal = terminal
			process, err := s.connection.Start(timeLimit(t), command)
			require.NoError(t, err)
			code, err := process.Wait()
			require.NoError(t, err, "on a terminal: %v; it wrote %q", terminal != nil, &stdout)
			require.Zero(t, code)
			require.NoError(t, process.Signal(syscall.SIGTERM))
			require.NoError(t, process.Signal(syscall.SIGKILL))
		}
	})
}
