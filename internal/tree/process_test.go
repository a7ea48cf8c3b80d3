package tree

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// lingering ends some time after its input: when a file is gone.
func lingering(t *testing.T, noSignals bool) (p *process, hold string) {
	t.Helper()
	hold = filepath.Join(t.TempDir(), "hold")
	require.NoError(t, os.WriteFile(hold, nil, 0o600))
	p, err := startProcess([]string{"sh", "-c", `cat; while [ -e "$1" ]; do sleep 0.01; done`, "sh", hold}, []string{"PATH=" + os.Getenv("PATH")}, noSignals)
	require.NoError(t, err)
	return p, hold
}

func TestAProcessWithoutSignalsIsLeftToEndByItself(t *testing.T) {
	t.Parallel()
	p, hold := lingering(t, true)
	session, err := unix.Getsid(p.command.Process.Pid)
	require.NoError(t, err)
	require.Equal(t, p.command.Process.Pid, session, "signals for the session of its parent do not reach it")
	p.stop()
	require.False(t, p.endsWithin(0))
	require.NoError(t, os.Remove(hold))
	require.True(t, p.endsWithin(time.Minute))
	require.NoError(t, p.err)
}

func TestAProcessThatStaysAfterItsInputGetsASignal(t *testing.T) {
	t.Parallel()
	p, _ := lingering(t, false)
	p.stop()
	require.True(t, p.endsWithin(time.Minute))
	require.Equal(t, syscall.SIGTERM, p.command.ProcessState.Sys().(syscall.WaitStatus).Signal())
}
