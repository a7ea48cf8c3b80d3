package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysAccessibleToOthersAreRefused(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(key, nil, 0o600))
	for mode, isRefused := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: false, 0o644: true, 0o660: true, 0o604: true, 0o602: true} {
		require.NoError(t, os.Chmod(key, mode))
		require.Equal(t, isRefused, RefuseSharedKey(key) != nil, "%04o", mode)
	}
	require.Error(t, RefuseSharedKey(key+"-missing"))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(key, 0o600))
		require.NoError(t, os.Chown(key, 12345, -1))
		require.ErrorContains(t, RefuseSharedKey(key), "belongs to another user")
	}
}

func TestSocketsInDirectoriesOfOthersAreRefused(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "sockets")
	require.NoError(t, os.Mkdir(folder, 0o700))
	socket := filepath.Join(folder, "rmctl")
	for mode, isRefused := range map[os.FileMode]bool{0o700: false, 0o755: false, 0o777: true, 0o770: true, 0o777 | os.ModeSticky: false} {
		require.NoError(t, os.Chmod(folder, mode))
		require.Equal(t, isRefused, RefuseForeignSocket(socket) != nil, "%v", mode)
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(folder, 0o755))
		require.NoError(t, os.Chown(folder, 12345, -1))
		require.ErrorIs(t, RefuseForeignSocket(socket), ErrForeign)
	}
}
