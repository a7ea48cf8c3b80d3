package jobstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

func TestARebuiltStoreHasWhatOnlyTheLogHas(t *testing.T) {
	t.Parallel()
	directory, killed := t.TempDir(), t.TempDir()
	store := recordOf(t, directory, 5)
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(filepath.Join(directory, databaseName+suffix))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(killed, databaseName+suffix), text, 0o600))
	}
	known := truthOf(t, store)
	require.NoError(t, store.Close())
	aside, report, err := Rebuild(t.Context(), killed)
	require.NoError(t, err)
	require.FileExists(t, aside)
	require.FileExists(t, aside+"-wal")
	require.Equal(t, []string{"copied: 5 jobs, 5 submissions, 10 events"}, report)
	rebuilt, err := Open(t.Context(), killed)
	require.NoError(t, err)
	require.Equal(t, known.jobs, truthOf(t, rebuilt).jobs)
	require.Equal(t, known.events, truthOf(t, rebuilt).events)
	require.NoError(t, rebuilt.Close())
}

func TestNothingIsRebuiltWhereNothingIs(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	_, _, err := Rebuild(t.Context(), directory)
	require.ErrorIs(t, err, os.ErrNotExist)
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestStoresOfEveryVersionAreRebuiltWithTheirJobs(t *testing.T) {
	t.Parallel()
	for version := 5; version < len(migrations()); version++ { // there were no events before
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			upgraded, err := Open(t.Context(), storeOfVersion(t, version))
			require.NoError(t, err)
			known := truthOf(t, upgraded)
			processes, err := upgraded.Processes(t.Context(), "old")
			require.NoError(t, err)
			require.NoError(t, upgraded.Close())
			directory := storeOfVersion(t, version)
			_, report, err := Rebuild(t.Context(), directory)
			require.NoError(t, err)
			rebuilt, err := Open(t.Context(), directory)
			require.NoError(t, err)
			defer func() { require.NoError(t, rebuilt.Close()) }()
			found := truthOf(t, rebuilt)
			require.Len(t, found.jobs, len(known.jobs), "%v", report)
			require.Len(t, found.events, len(known.events), "%v", report)
			if version >= 15 {
				require.Equal(t, known.jobs, found.jobs)
			}
			rebuiltProcesses, err := rebuilt.Processes(t.Context(), "old")
			require.NoError(t, err)
			require.Equal(t, processes, rebuiltProcesses)
		})
	}
}

func TestARebuiltStoreHasWhatProcessesPrinted(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := recordOf(t, directory, 1)
	processes := []job.Process{{Rank: 0, Output: strings.Repeat("x", 4000), ErrorOutput: strings.Repeat("y", 4000)}, {Rank: 1, Output: "lost", ErrorOutput: "lost"}}
	require.NoError(t, store.RecordProcesses(t.Context(), "tag-0", processes))
	require.NoError(t, store.execute(t.Context(), "UPDATE processes SET error_output = 'x' WHERE rank = 1"))
	require.NoError(t, store.Close())
	_, _, err := Rebuild(t.Context(), directory)
	require.NoError(t, err)
	rebuilt, err := Open(t.Context(), directory)
	require.NoError(t, err)
	defer func() { require.NoError(t, rebuilt.Close()) }()
	found, err := rebuilt.Processes(t.Context(), "tag-0")
	require.NoError(t, err)
	require.Equal(t, processes[:1], found)
}

// lostJob is a rebuilt store of two jobs; the row of one was unreadable.
func lostJob(t *testing.T, damages ...string) (*Store, []string) {
	t.Helper()
	directory := t.TempDir()
	store := recordOf(t, directory, 2)
	_, err := store.Observe(t.Context(), "tag-1", job.Observation{Detail: job.Completed, Native: "CD", ExitCode: new(int)})
	require.NoError(t, err)
	for _, damage := range damages {
		require.NoError(t, store.execute(t.Context(), damage))
	}
	require.NoError(t, store.Close())
	_, report, err := Rebuild(t.Context(), directory)
	require.NoError(t, err)
	rebuilt, err := Open(t.Context(), directory)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rebuilt.Close()) })
	return rebuilt, report
}

func TestAJobWhoseRowIsLostIsRestoredFromItsEvents(t *testing.T) {
	t.Parallel()
	for tag, detail := range map[string]job.Detail{"tag-0": job.Running, "tag-1": job.Completed} {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			store, report := lostJob(t, "UPDATE jobs SET name = 'x' WHERE tag = '"+tag+"'")
			require.Contains(t, strings.Join(report, "\n"), "1 job restored from events, not seen since: "+tag)
			require.Contains(t, strings.Join(report, "\n"), "unreadable: 1 row")
			j, err := store.ByTag(t.Context(), tag)
			require.NoError(t, err)
			require.Equal(t, []any{"big", tag[4:], detail, job.PhaseSubmitted}, []any{j.Target, j.ID, j.Detail, j.Phase})
			require.Equal(t, !detail.Ended(), j.Stale, "its events may not be all")
			require.Equal(t, "script of "+tag, j.Script)
		})
	}
}

func TestASubmissionWhoseJobIsLostIsKeptForWhenTheJobIsFound(t *testing.T) {
	t.Parallel()
	store, report := lostJob(t, "UPDATE jobs SET name = 'x' WHERE tag = 'tag-0'", "UPDATE events SET native = 'x' WHERE tag = 'tag-0'")
	require.Contains(t, strings.Join(report, "\n"), "1 job lost, by the tags of the submissions: tag-0")
	_, err := store.Adopt(t.Context(), job.Job{Tag: "tag-0", Target: "big", ID: "0"})
	require.NoError(t, err)
	j, err := store.ByTag(t.Context(), "tag-0")
	require.NoError(t, err)
	require.Equal(t, "script of tag-0", j.Script)
}

func TestAJobWhoseSubmissionIsLostIsKept(t *testing.T) {
	t.Parallel()
	store, report := lostJob(t, "UPDATE submissions SET script = 'x' WHERE tag = 'tag-0'")
	require.Contains(t, strings.Join(report, "\n"), "1 job kept without what was submitted: tag-0")
	j, err := store.ByTag(t.Context(), "tag-0")
	require.NoError(t, err)
	require.Empty(t, j.Script)
}

func TestEventsOfARebuiltStoreKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := recordOf(t, directory, 3)
	last, err := store.LastEvent(t.Context())
	require.NoError(t, err)
	require.NoError(t, store.execute(t.Context(), "DELETE FROM events WHERE sequence > 4"))
	require.NoError(t, store.Close())
	_, _, err = Rebuild(t.Context(), directory)
	require.NoError(t, err)
	rebuilt, err := Open(t.Context(), directory)
	require.NoError(t, err)
	defer func() { require.NoError(t, rebuilt.Close()) }()
	require.NoError(t, rebuilt.Intend(t.Context(), job.Job{Tag: "new", Target: "big"}))
	events, err := rebuilt.Events(t.Context(), last)
	require.NoError(t, err)
	require.Len(t, events, 1)
}
