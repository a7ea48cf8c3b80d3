package jobstore

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rawStore returns a store over an empty database of its own.
func rawStore(t *testing.T) *Store {
	t.Helper()
	store, err := connect(filepath.Join(t.TempDir(), databaseName), false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func (s *Store) applySteps(t *testing.T, steps ...string) error {
	return s.write(t.Context(), durable, func(_ context.Context, transaction *sql.Tx) error {
		version, err := versionOf(t.Context(), transaction)
		if err != nil {
			return err
		}
		return upgrade(t.Context(), transaction, version, steps)
	})
}

func (s *Store) number(t *testing.T, query string) int {
	t.Helper()
	var number int
	require.NoError(t, s.database.QueryRowContext(t.Context(), query).Scan(&number))
	return number
}

func TestUpgradesApplyOnlyTheStepsThatAreMissing(t *testing.T) {
	t.Parallel()
	store := rawStore(t)
	first := "CREATE TABLE things (a INTEGER); INSERT INTO things VALUES (1)"
	second := "ALTER TABLE things ADD COLUMN b INTEGER DEFAULT 7"
	require.NoError(t, store.applySteps(t, first))
	require.NoError(t, store.applySteps(t, first, second))
	require.NoError(t, store.applySteps(t, first, second))
	require.Equal(t, 2, store.number(t, "PRAGMA user_version"))
	require.Equal(t, 8, store.number(t, "SELECT sum(a + b) FROM things"))
	require.ErrorIs(t, store.applySteps(t, first), errNewerSchema)
}

func TestANewStoreHasTheTablesOfOneThatWasUpgraded(t *testing.T) {
	t.Parallel()
	fresh, upgraded := rawStore(t), rawStore(t)
	require.NoError(t, fresh.migrate(t.Context()))
	require.NoError(t, upgraded.applySteps(t, migrations()...))
	require.Equal(t, len(migrations()), fresh.number(t, "PRAGMA user_version"))
	tables := fresh.statements(t)
	require.Len(t, tables, 19+11, "tables and indexes")
	require.Equal(t, upgraded.statements(t), tables)
}

// statements returns the statements that made the tables and indexes, without spaces that mean nothing.
func (s *Store) statements(t *testing.T) map[string]string {
	t.Helper()
	made := map[string]string{}
	for _, text := range texts(t, s.database, "SELECT name || ' ' || sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'") {
		name, statement, _ := strings.Cut(text, " ")
		made[name] = strings.NewReplacer(" , ", ",", " ,", ",", ", ", ",", "( ", "(", " )", ")").Replace(strings.Join(strings.Fields(statement), " "))
	}
	return made
}

func TestAnUpgradeThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	store := rawStore(t)
	first := "CREATE TABLE things (a INTEGER)"
	require.NoError(t, store.applySteps(t, first))
	require.ErrorContains(t, store.applySteps(t, first, "INSERT INTO things VALUES (1)", "no statement"), "version 2")
	require.Equal(t, 1, store.number(t, "PRAGMA user_version"))
	require.Zero(t, store.number(t, "SELECT count(*) FROM things"))
}

// Records that nobody could look up quickly would make every command slow.
func TestLookupsUseIndexes(t *testing.T) {
	t.Parallel()
	store := rawStore(t)
	require.NoError(t, store.migrate(t.Context()))
	for _, query := range []string{
		selectJobs() + " WHERE tag = 'x'",
		selectJobs() + " " + findByID + newestFirst,
		selectJobs() + " WHERE finished = 0" + newestFirst,
		selectJobs() + " WHERE true" + newestFirst,
		selectJobs() + " " + ofNumbers,
	} {
		rows, err := store.database.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, "x")
		require.NoError(t, err)
		for rows.Next() {
			var id, parent, unused int
			var detail string
			require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
			require.NotEqual(t, "SCAN jobs", detail, query)
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
}

func TestNetworkFileSystemsKeepNoLogInSharedMemory(t *testing.T) {
	t.Parallel()
	for onNetwork, expected := range map[bool]string{true: "delete", false: "wal"} {
		path := filepath.Join(t.TempDir(), databaseName)
		require.NoError(t, create(t.Context(), path, onNetwork))
		store, err := connect(path, false)
		require.NoError(t, err)
		var mode string
		require.NoError(t, store.database.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode))
		require.Equal(t, expected, mode)
		require.NoError(t, store.Close())
	}
}

func TestTheLocalFileSystemIsChecked(t *testing.T) {
	t.Parallel()
	_, err := isNetworkFileSystem(t.TempDir())
	require.NoError(t, err)
	_, err = isNetworkFileSystem(filepath.Join(t.TempDir(), "absent"))
	require.ErrorContains(t, err, "absent")
}

func TestDraftsOfAStoreThatAKilledProcessLeftAreRemoved(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	old, young := filepath.Join(directory, ".create-1.db-wal"), filepath.Join(directory, ".create-2.db")
	for _, draft := range []string{old, young} {
		require.NoError(t, os.WriteFile(draft, nil, 0o600))
	}
	require.NoError(t, os.Chtimes(old, time.Now(), time.Now().Add(-2*time.Hour)))
	store, err := Open(t.Context(), directory)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.NoFileExists(t, old)
	require.FileExists(t, young, "its process may be at work on it")
}
