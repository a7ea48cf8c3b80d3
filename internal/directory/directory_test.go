package directory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/directory"
	"github.com/rmctl/rmctl/remote"
)

func TestFoldersOfTheTargetAreListed(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "z folder"), 0o700))
	for _, name := range []string{"b", "-n", ".hidden", "a\x1b[31m", "with \"quotes'"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	local, err := remote.NewLocal()
	require.NoError(t, err)
	entries, err := directory.List(t.Context(), local, folder)
	require.NoError(t, err)
	require.Equal(t, []directory.Entry{{Name: "z folder", Folder: true}, {Name: "-n"}, {Name: ".hidden"}, {Name: "a\x1b[31m"}, {Name: "b"}, {Name: "with \"quotes'"}}, entries)

	entries, err = directory.List(t.Context(), local, filepath.Join(folder, "z folder"))
	require.NoError(t, err)
	require.Empty(t, entries)
	_, err = directory.List(t.Context(), local, filepath.Join(folder, "absent"))
	require.ErrorContains(t, err, "absent")
	_, err = directory.List(t.Context(), local, "-R")
	require.ErrorContains(t, err, "./-R")
}
