package openssh

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheFolderOfTheSocketsIsItsOwnersAloneAndNew(t *testing.T) {
	before := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(before) })
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	for name, parent := range map[string]string{"in the state folder": t.TempDir(), "elsewhere, its path being too long": long} {
		t.Run(name, func(t *testing.T) {
			first, err := makeFolder(parent)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.Remove(first)) })
			second, err := makeFolder(parent)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.Remove(second)) })
			require.NotEqual(t, first, second, "nobody can have taken its name before")
			info, err := os.Lstat(first)
			require.NoError(t, err)
			require.Equal(t, os.ModeDir|0o700, info.Mode())
		})
	}
}
