package jobdirectory_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/jobdirectory"
)

func TestTheLastProcessOfANodeRemovesItsLocalFiles(t *testing.T) {
	t.Parallel()
	private := t.TempDir()
	directory := filepath.Join(t.TempDir(), "jobs", "tag")
	require.NoError(t, jobdirectory.Prepare(directory, "", time.Now()))
	tracker, err := jobdirectory.NewTracker(directory, private, "n1")
	require.NoError(t, err)
	first, second := member("n1", "PMI_RANK", 0, 1, jobdirectory.StateRunning), member("n1", "PMI_RANK", 1, 2, jobdirectory.StateRunning)
	first.Wrapper, second.Wrapper = os.Getpid(), os.Getpid()
	publish := func(each *jobdirectory.Member) {
		t.Helper()
		each.Changed = time.Now()
		require.NoError(t, tracker.Note(each))
		require.NoError(t, tracker.Publish(each))
	}
	publish(&first)
	publish(&second)
	first.State = jobdirectory.StateExited
	publish(&first)
	local, err := tracker.Local()
	require.NoError(t, err)
	require.Len(t, local, 1)
	second.State = jobdirectory.StateExited
	publish(&second)
	entries, err := os.ReadDir(private)
	require.NoError(t, err)
	require.Empty(t, entries)

	third := member("n1", "PMI_RANK", 2, 3, jobdirectory.StateRunning)
	third.Wrapper = os.Getpid()
	publish(&third)
	members, err := jobdirectory.Read(directory)
	require.NoError(t, err)
	require.Len(t, members, 3)

	other := filepath.Join(t.TempDir(), "jobs", "tag")
	require.NoError(t, jobdirectory.Prepare(other, "", time.Now()))
	tracker, err = jobdirectory.NewTracker(other, private, "n1")
	require.NoError(t, err)
	local, err = tracker.Local()
	require.NoError(t, err)
	require.Empty(t, local, "jobs of two targets may have one name")
}
