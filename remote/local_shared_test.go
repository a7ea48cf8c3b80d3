package remote_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/remote"
)

// forAll returns a directory that everybody may make files in, as /tmp is.
func forAll(t *testing.T) string {
	t.Helper()
	shared := filepath.Join(t.TempDir(), "tmp")
	require.NoError(t, os.Mkdir(shared, 0o700))
	require.NoError(t, os.Chmod(shared, 0o777|fs.ModeSticky))
	return shared
}

// Names in a directory for all are anybody's to take first: what somebody else
// has put there is not written to, on whatever level it is.
func TestDirectoriesOfOthersBelowASharedOneAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	local, err := remote.NewLocal()
	require.NoError(t, err)
	const other = 65533
	shared, private := forAll(t), t.TempDir()

	foreign := filepath.Join(shared, "staging")
	require.NoError(t, os.Mkdir(foreign, 0o755))
	require.NoError(t, os.Lchown(foreign, other, other))
	for _, path := range []string{foreign, filepath.Join(foreign, "submission")} {
		require.ErrorIs(t, local.MkdirAll(t.Context(), path, 0o700), files.ErrForeign)
	}

	link := filepath.Join(shared, "link")
	require.NoError(t, os.Symlink(private, link))
	require.NoError(t, os.Lchown(link, other, other))
	require.ErrorIs(t, local.MkdirAll(t.Context(), filepath.Join(link, "submission"), 0o700), files.ErrForeign)

	for _, path := range []string{foreign, filepath.Join(foreign, "not", "there"), filepath.Join(link, "not")} {
		require.ErrorIs(t, files.RefuseForeign(path), files.ErrForeign)
	}
	for _, path := range []string{shared, filepath.Join(shared, "not", "there"), private} {
		require.NoError(t, files.RefuseForeign(path))
	}
}

func TestDirectoriesBelowASharedOneHaveToBeThisUsersAlone(t *testing.T) {
	local, err := remote.NewLocal()
	require.NoError(t, err)
	shared := forAll(t)

	mine := filepath.Join(shared, "mine", "submission")
	require.NoError(t, local.MkdirAll(t.Context(), mine, 0o700))
	require.NoError(t, local.MkdirAll(t.Context(), mine, 0o700), "its own from before")
	require.NoError(t, local.MkdirAll(t.Context(), shared, 0o700))

	require.NoError(t, os.Chmod(filepath.Dir(mine), 0o777))
	require.ErrorIs(t, local.MkdirAll(t.Context(), mine, 0o700), files.ErrForeign)
	require.NoError(t, os.Chmod(filepath.Dir(mine), 0o777|fs.ModeSticky))
	require.NoError(t, local.MkdirAll(t.Context(), mine, 0o700), "what is in it is safe by the sticky bit")
}
