package clusters_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The scripts of testdata/script-mpi run against the real Open MPI and MPICH of
// this machine.
func TestMPI(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	rmctltest.ClusterScript(t, "install.sh")
	rmctltest.Scripts(t, filepath.Join("testdata", "script-mpi"), nil)
}

// Programs that a launcher starts use the streams of rmctl.
func TestMPIPassesStreams(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	rmctltest.ClusterScript(t, "install.sh")
	for target, input := range map[string]string{
		"fork": anyBytes, "openmpi": anyBytes,
		"mpich": anyBytes[:60_000], // Hydra ends a job that gets more than a pipe holds faster than it reads
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			d := rmctltest.NewDesk(t, "", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			arguments := []string{"run", "-t", target}
			if target != "fork" {
				arguments = append(arguments, "-s", "tasks=1")
			}
			passesStreams(t, d, input, arguments...)
		})
	}
}

// The user nobody exists on every Debian.
const nobody = 65534

// An ordinary user needs no option for Open MPI, neither attached to it nor in a
// batch job of this machine.
func TestMPIAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	rmctltest.ClusterScript(t, "install.sh")
	home, err := os.MkdirTemp("", "rmctl-user-") // not below a directory that only root can read
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	program, err := exec.LookPath("rmctl")
	require.NoError(t, err)
	own := filepath.Join(home, "rmctl")
	// It runs in a separate process: processes that other tests start meanwhile would inherit
	// the open file, and so prevent its execution.
	require.NoError(t, exec.Command("install", "-m", "755", program, own).Run())
	require.NoError(t, os.Chown(home, nobody, nobody))
	runs := func(arguments ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, own, arguments...)
		command.WaitDelay = time.Minute
		command.Dir = home
		command.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0", "RMCTL_BACKGROUND=off"}
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%v: %s", arguments, output)
		return string(output)
	}
	require.Contains(t, runs("run", "-t", "openmpi", "-s", "tasks=2", "-s", "oversubscribe=true", "--", "sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK"), "rank 1\n")
	require.Contains(t, runs("run", "-t", "mpich", "-s", "tasks=2", "--", "sh", "-c", "echo rank $PMI_RANK"), "rank 1\n")
	batch := runs("submit", "-t", "local", "--wait", "--show", "--", "mpirun.openmpi", "--oversubscribe", "-n", "3", "sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK")
	require.Contains(t, batch, "rank 2\n")
}
