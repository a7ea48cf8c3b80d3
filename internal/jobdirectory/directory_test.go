package jobdirectory_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/jobdirectory"
)

func TestADirectoryOfAJobIsPrivateAndKeepsItsSecret(t *testing.T) {
	t.Parallel()
	node := filepath.Join(t.TempDir(), "node")
	job := filepath.Join(node, "jobs", "tag")
	require.NoError(t, jobdirectory.Prepare(job, "", time.Now()))
	for _, folder := range []string{node, filepath.Dir(job), job} {
		info, err := os.Stat(folder)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), folder)
	}
	secret, err := os.ReadFile(filepath.Join(job, "secret"))
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{64}$", string(secret))
	info, err := os.Stat(filepath.Join(job, "secret"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.Chmod(job, 0o755))
	require.NoError(t, jobdirectory.Prepare(job, "", time.Now()))
	again, err := os.ReadFile(filepath.Join(job, "secret"))
	require.NoError(t, err)
	require.Equal(t, string(secret), string(again))
	info, err = os.Stat(job)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestDirectoriesOfOtherJobsAreRemovedAfterAMonthWithoutAChange(t *testing.T) {
	t.Parallel()
	jobs := filepath.Join(t.TempDir(), "node", "jobs")
	old, active, current := filepath.Join(jobs, "old"), filepath.Join(jobs, "active"), filepath.Join(jobs, "current")
	for _, job := range []string{old, active, current} {
		require.NoError(t, os.MkdirAll(filepath.Join(job, "processes"), 0o700))
		month := time.Now().Add(-31 * 24 * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(job, "processes"), month, month))
		require.NoError(t, os.Chtimes(job, month, month))
	}
	require.NoError(t, os.WriteFile(filepath.Join(active, "processes", "n1.json"), nil, 0o600))
	require.NoError(t, jobdirectory.Prepare(current, "", time.Now()))
	require.NoDirExists(t, old)
	require.DirExists(t, active)
	require.DirExists(t, current)
}

func TestProgramsThatWereNotUsedForLongAreRemoved(t *testing.T) {
	t.Parallel()
	node := t.TempDir()
	old, used, recent := filepath.Join(node, "rmctl-node-0"), filepath.Join(node, "rmctl-node-1"), filepath.Join(node, "rmctl-node-2")
	foreign := filepath.Join(node, "notes")
	for _, name := range []string{old, used, recent, foreign} {
		require.NoError(t, os.WriteFile(name, nil, 0o700))
		year := time.Now().Add(-365 * 24 * time.Hour)
		require.NoError(t, os.Chtimes(name, year, year))
	}
	month := time.Now().Add(-31 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(recent, month, month))
	require.NoError(t, jobdirectory.Prepare(filepath.Join(node, "jobs", "a"), used, time.Now()))
	require.NoFileExists(t, old)
	require.FileExists(t, used)
	require.FileExists(t, recent)
	require.FileExists(t, foreign)
}

func TestADirectoryThatIsALinkOrAFileIsRefused(t *testing.T) {
	t.Parallel()
	node := t.TempDir()
	jobs := filepath.Join(node, "jobs")
	require.NoError(t, os.Mkdir(jobs, 0o700))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(jobs, "link")))
	require.ErrorContains(t, jobdirectory.Prepare(filepath.Join(jobs, "link"), "", time.Now()), "is not a directory")
	require.NoError(t, os.WriteFile(filepath.Join(jobs, "file"), nil, 0o600))
	require.Error(t, jobdirectory.Prepare(filepath.Join(jobs, "file"), "", time.Now()))

	require.NoError(t, os.Mkdir(filepath.Join(jobs, "job"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(jobs, "job", "secret"), []byte("short"), 0o600))
	require.ErrorContains(t, jobdirectory.Prepare(filepath.Join(jobs, "job"), "", time.Now()), "not a secret")
}
