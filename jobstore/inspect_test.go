package jobstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/jobstore"
)

func TestInspectingAFolderChangesNothing(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	folder := filepath.Join(parent, "a", "b")
	place, err := jobstore.Inspect(folder)
	require.NoError(t, err)
	require.False(t, place.Exists)
	require.False(t, place.HasStore)
	require.NotZero(t, place.Free)
	entries, err := os.ReadDir(parent)
	require.NoError(t, err)
	require.Empty(t, entries)

	openStore(t, folder)
	place, err = jobstore.Inspect(folder)
	require.NoError(t, err)
	require.True(t, place.Exists)
	require.True(t, place.HasStore)
}

func TestAnUnusableDirectoryIsReported(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, folder := range []string{file, filepath.Join(file, "below")} {
		_, err := jobstore.Inspect(folder)
		require.ErrorContains(t, err, file)
	}
}
