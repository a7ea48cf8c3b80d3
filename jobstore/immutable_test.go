package jobstore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyADatabaseWithoutALogIsReadAsItIs(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, databaseName)
	require.False(t, hasNoLog(path), "there is no database")
	store := recordOf(t, directory, 1)
	require.False(t, hasNoLog(path))
	require.NoError(t, store.Close())
	require.True(t, hasNoLog(path))
	immutable, err := connect(path, true)
	require.NoError(t, err)
	jobs, err := immutable.List(t.Context(), Filter{})
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	require.ErrorIs(t, immutable.RemoveSession(t.Context(), "big"), errReadOnly)
	require.NoError(t, immutable.Close())

	// A journal that is removed after each change needs no files for reading.
	require.NoError(t, os.Remove(path))
	require.NoError(t, create(t.Context(), path, true))
	require.False(t, hasNoLog(path))
}

func TestAClosedStoreIsOneFile(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	require.NoError(t, recordOf(t, directory, 3).Close())
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, databaseName, entries[0].Name())
}
