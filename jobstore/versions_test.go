package jobstore

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/job"
)

// storeOfVersion makes a store of what testdata/versions has of a version: what the
// program of that time wrote.
func storeOfVersion(t *testing.T, version int) (directory string) {
	t.Helper()
	statements, err := os.ReadFile(filepath.Join("testdata", "versions", fmt.Sprintf("%d.sql", version)))
	require.NoError(t, err, "each version of the schema that there was has a store in testdata/versions")
	directory = t.TempDir()
	database := opened(t, directory)
	_, err = database.ExecContext(t.Context(), "BEGIN;\n"+string(statements)+";\nCOMMIT") // the disk is waited for once
	require.NoError(t, err)
	require.NoError(t, database.Close())
	return directory
}

func opened(t *testing.T, directory string) *sql.DB {
	t.Helper()
	database, err := sql.Open("sqlite", filepath.Join(directory, databaseName))
	require.NoError(t, err)
	return database
}

// contents returns every value of a store, by its table, the number of its row and
// its column.
func contents(t *testing.T, directory string) map[string]any {
	t.Helper()
	database := opened(t, directory)
	defer func() { require.NoError(t, database.Close()) }()
	values := map[string]any{}
	for _, table := range texts(t, database, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
		columns := texts(t, database, "SELECT name FROM pragma_table_info('"+table+"')")
		rows, err := database.QueryContext(t.Context(), "SELECT "+strings.Join(columns, ", ")+" FROM "+table+" ORDER BY rowid")
		require.NoError(t, err)
		for number := 0; rows.Next(); number++ {
			row, places := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				places[i] = &row[i]
			}
			require.NoError(t, rows.Scan(places...))
			for i, column := range columns {
				values[fmt.Sprintf("%s %d %s", table, number, column)] = row[i]
			}
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
	return values
}

func texts(t *testing.T, database *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := database.QueryContext(t.Context(), query)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		list = append(list, text)
	}
	require.NoError(t, rows.Err())
	return list
}

func TestStoresOfEveryVersionAreUpgradedWithAllThatTheyHold(t *testing.T) {
	t.Parallel()
	for version := 1; version < len(migrations()); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			directory := storeOfVersion(t, version)
			before := contents(t, directory)
			require.NotEmpty(t, before)
			store, err := Open(t.Context(), directory)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, store.Close()) })
			require.Equal(t, len(migrations()), store.number(t, "PRAGMA user_version"))
			after := contents(t, directory)
			for place, value := range before {
				table, _, _ := strings.Cut(place, " ")
				if table == "polls" && strings.HasSuffix(place, " target") || table == "drifts" {
					continue // the store returns them below
				}
				if table == "readings" || strings.HasSuffix(place, " cancel_accepted") {
					continue // nothing uses these statistics any more, and the time of a cancellation is kept instead
				}
				kept, found := after[place]
				require.True(t, found, place)
				require.Equal(t, withoutSuffix(place, value), kept, place)
			}

			usedAfterAnUpgrade(t, store, version)
		})
	}
}

// withoutSuffix returns a value as the columns hold it that the upgrade takes apart.
func withoutSuffix(place string, value any) any {
	text, isText := value.(string)
	if !isText || !strings.HasSuffix(place, " submitter") && !(strings.HasPrefix(place, "polls") && strings.HasSuffix(place, " key")) {
		return value
	}
	for _, suffix := range []string{" (host)", " (adopted)", " x:list-jobs", " x:list-nodes"} {
		text = strings.TrimSuffix(text, suffix)
	}
	return text
}

// usedAfterAnUpgrade tries that what an older version wrote is understood and goes on.
func usedAfterAnUpgrade(t *testing.T, store *Store, version int) {
	t.Helper()
	open, err := store.List(t.Context(), Filter{})
	require.NoError(t, err)
	found := map[string]job.Job{}
	for _, job := range open {
		found[job.Tag] = job
	}
	require.NotContains(t, found, "ended")
	require.NotContains(t, found, "rejected")
	require.Equal(t, job.Running, found["old"].Detail)
	require.Contains(t, found["old"].Evidence, "JobState=RUNNING Reason=None \xff")
	require.True(t, found["missing"].Missing)
	require.Equal(t, 2, found["missing"].MissingCount)
	require.Equal(t, "9.server", found["adopted"].ID)
	unresolved, err := store.Unresolved(t.Context(), "big")
	require.NoError(t, err)
	require.Len(t, unresolved, 2)

	j, err := store.ByTag(t.Context(), "old")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"nodes": 4}, j.Attributes)
	require.Equal(t, []string{"sbatch", "job.sh"}, j.Arguments)
	require.Equal(t, "#!/bin/sh", j.Script)
	ended, err := store.ByTag(t.Context(), "ended")
	require.NoError(t, err)
	require.Equal(t, []int{3, 15}, []int{*ended.ExitCode, *ended.Signal})
	session, err := store.Session(t.Context(), "big")
	require.NoError(t, err)
	require.False(t, session.Started.IsZero())
	if version >= 4 {
		counts, err := store.NotUnderstood(t.Context(), "big", "f00d", time.Time{})
		require.NoError(t, err)
		require.Len(t, counts, 1)
		require.Equal(t, []any{"get-job-status:status", 1, "NEW_WORD", "4711"}, []any{counts[0].Command, counts[0].Count, counts[0].Seen, counts[0].Job})
	}
	require.Equal(t, version >= 13, j.Tasks != "")
	require.Zero(t, j.CancelAccepted)
	require.NoError(t, store.MarkCanceled(t.Context(), "old", job.Observation{Observed: j.Created}))
	canceled, err := store.ByTag(t.Context(), "old")
	require.NoError(t, err)
	require.True(t, j.Created.Equal(canceled.CancelAccepted))
	require.Equal(t, version >= 14, !found["adopted"].CancelAccepted.IsZero())
	if version >= 5 {
		require.Equal(t, "made 10:00", j.Identity)
		events, err := store.Events(t.Context(), 0, "ended")
		require.NoError(t, err)
		require.Equal(t, []job.EventKind{eventIntended, job.EventAccepted, job.EventState}, []job.EventKind{events[0].Kind, events[1].Kind, events[2].Kind})
		poll, err := store.Polls().Poll(t.Context(), polls.PollKey{Kind: polls.OwnJobs, Key: "big@ssh:alice@login.example.org"})
		require.NoError(t, err)
		require.Equal(t, 1, poll.Failures)
		require.Equal(t, polls.PollFailed, poll.Failure, "which has no other kind")
	}
	if version >= 6 {
		left, err := store.Leftovers(t.Context(), "big")
		require.NoError(t, err)
		require.Len(t, left, 1)
	}
	if version >= 9 {
		processesOfOlderVersions(t, store)
	}
	if version >= 10 {
		takenApart(t, store)
	}
	if version >= 8 {
		require.Equal(t, 16, found["old"].Observed.Hour(), "it was seen in a listing since")
	}

	j, err = store.Observe(t.Context(), "old", job.Observation{Detail: job.Completed, Origin: job.Origin{Stream: "stdout", Line: 1, Text: "COMPLETED"}})
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail)
	events, err := store.Events(t.Context(), 0, "old")
	require.NoError(t, err)
	require.Equal(t, "COMPLETED", events[len(events)-1].Origin.Text)
}

// processesOfOlderVersions tries that processes are understood, and goes on to record them.
func processesOfOlderVersions(t *testing.T, store *Store) {
	t.Helper()
	three := 3
	processes := []job.Process{{Node: "n1", PID: 17, State: "RUNNING"}, {Rank: 1, Node: "n2", State: "EXITED", ExitCode: &three, Output: "done"}}
	for range 2 {
		recorded, err := store.Processes(t.Context(), "old")
		require.NoError(t, err)
		require.Equal(t, processes, recorded)
		var shown []job.Process
		require.NoError(t, store.EachProcess(t.Context(), "big", func(_ string, p job.Process) error {
			shown = append(shown, p)
			return nil
		}))
		require.Equal(t, processes, shown)
		processes[1].ErrorOutput = "oops"
		require.NoError(t, store.RecordProcesses(t.Context(), "old", processes))
	}
}

// takenApart tries that what version 10 had joined in names is found.
func takenApart(t *testing.T, store *Store) {
	t.Helper()
	attached, err := store.ByTag(t.Context(), "attached")
	require.NoError(t, err)
	require.Equal(t, []any{"4711 99887 here.example.org", true, false}, []any{attached.Submitter, attached.Hosted, attached.Undated})
	lost, err := store.ByTag(t.Context(), "lost")
	require.NoError(t, err)
	require.Equal(t, []any{"4712 99888 here.example.org", false, true}, []any{lost.Submitter, lost.Hosted, lost.Undated})
	counts, err := store.Polls().All(t.Context(), attached.Observed.Add(time.Minute))
	require.NoError(t, err)
	key := "local:alice@here by slurm 0123456789abcdef"
	for i, expected := range []polls.Poll{
		{PollKey: polls.PollKey{Kind: polls.OwnJobs, Key: key}, Targets: []string{"other", "third"}},
		{PollKey: polls.PollKey{Kind: "list-jobs", Key: key}, Targets: []string{"other", "third"}},
		{PollKey: polls.PollKey{Kind: "list-nodes", Key: key}, Targets: []string{"third"}},
	} {
		poll := counts[i+1] // the first one is of another target
		require.Equal(t, expected.PollKey, poll.PollKey)
		require.Equal(t, expected.Targets, poll.Targets)
		require.Equal(t, []int{7, 1}, []int{poll.Jobs, poll.Day})
	}
}

func TestAnUpgradeRemovesTheFolderThatListingsWereIn(t *testing.T) {
	t.Parallel()
	directory := storeOfVersion(t, 10)
	require.NoError(t, os.Mkdir(filepath.Join(directory, listingsFolder), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(directory, listingsFolder, "f00"), []byte("rows"), 0o600))
	store, err := Open(t.Context(), directory)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.NoDirExists(t, filepath.Join(directory, listingsFolder))
}

func TestAStoreOfANewerVersionIsRefusedAsItIs(t *testing.T) {
	t.Parallel()
	directory := storeOfVersion(t, 1)
	newer := len(migrations()) + 1
	database := opened(t, directory)
	_, err := database.ExecContext(t.Context(), fmt.Sprintf("PRAGMA user_version = %d", newer))
	require.NoError(t, err)
	require.NoError(t, database.Close())
	before, err := os.ReadFile(filepath.Join(directory, databaseName))
	require.NoError(t, err)
	_, err = Open(t.Context(), directory)
	require.ErrorIs(t, err, errNewerSchema)
	require.ErrorContains(t, err, fmt.Sprintf("its schema has version %d, this rmctl supports %d", newer, len(migrations())))
	require.ErrorContains(t, err, directory)
	after, err := os.ReadFile(filepath.Join(directory, databaseName))
	require.NoError(t, err)
	require.Equal(t, before, after, "nothing was written")
}
