//go:build !race

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// mostPagesOfStatus is how many more pages of memory status of an ended job may touch than
// version does. It touched about 210 when this was written, and 430 with the definition of Slurm.
const mostPagesOfStatus = 340

func TestTheStatusOfAnEndedJobTouchesLittleMemory(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	state := filepath.Join(t.TempDir(), "state")
	recordEnded(t, state)
	pages := func(arguments ...string) int64 {
		least := int64(1 << 40)
		for range 3 { // the first run loads pages that are not in memory yet
			run := exec.Command(program)
			run.Args = append([]string{"rmctl", "--state-dir", state}, arguments...)
			output, err := run.Output()
			require.NoError(t, err)
			require.NotEmpty(t, output)
			usage, isKnown := run.ProcessState.SysUsage().(*syscall.Rusage)
			require.True(t, isKnown)
			least = min(least, usage.Minflt)
		}
		return least
	}

	version, status := pages("version"), pages("status", "slurm/7")
	require.LessOrEqual(t, status-version, int64(mostPagesOfStatus), "version touches %d pages, status %d: each costs microseconds; see docs/operate/performance.md", version, status)
}

// recordEnded records a job of Slurm that has ended, with the id 7.
func recordEnded(t testing.TB, directory string) {
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	require.NoError(t, store.Intend(t.Context(), job.Job{Tag: "a", Target: "slurm", Definition: "slurm.xml"}))
	_, err = store.Accept(t.Context(), "a", job.Job{ID: "7", ShortID: "7", Observation: job.Observation{Detail: job.Completed}})
	require.NoError(t, err)
	require.NoError(t, store.Close())
}
