package jobstore

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADamagedFileIsNamedWithWhatToDo(t *testing.T) {
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, databaseName), []byte(strings.Repeat("no database ", 1000)), 0o600))
	_, err := Open(t.Context(), directory)
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, directory)
	require.ErrorContains(t, err, "rmctl recover")
}

// The bound on the pages of the file plays the part of a full disk.
func TestAFullDiskLosesNothingThatWasRecorded(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	store.database.SetMaxOpenConns(1) // the bound is one of the connection
	require.NoError(t, store.Intend(t.Context(), Job{Tag: "first", Target: "big"}))
	pages := store.number(t, "PRAGMA page_count")
	_, err = store.database.ExecContext(t.Context(), "PRAGMA max_page_count = "+strconv.Itoa(pages+1))
	require.NoError(t, err)
	err = store.Intend(t.Context(), Job{Tag: "second", Target: "big", Script: strings.Repeat("x", 1<<20)})
	require.ErrorIs(t, err, ErrFull)
	_, err = store.ByTag(t.Context(), "first")
	require.NoError(t, err)
	_, err = store.ByTag(t.Context(), "second")
	require.ErrorIs(t, err, ErrNotFound)
}

func TestAStoreThatMayOnlyBeReadSaysSo(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	store.database.SetMaxOpenConns(1)
	_, err = store.database.ExecContext(t.Context(), "PRAGMA query_only = on")
	require.NoError(t, err)
	require.ErrorIs(t, store.Intend(t.Context(), Job{Tag: "a", Target: "big"}), ErrReadOnly)
}
