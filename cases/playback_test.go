package cases

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesOfAFlowStayInTheirFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "files")
	p, err := newPlayback(&Flow{Place: Place{Home: "/home/me"}}, folder)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.files.Close()) }()
	for name, file := range map[string]string{
		"script": "home/me/script", "/tmp/new/x": "tmp/new/x", "../../../../../up": "up", "/../../root": "root",
	} {
		require.NoError(t, p.WriteFile(t.Context(), name, strings.NewReader(name), 0o700))
		text, err := os.ReadFile(filepath.Join(folder, file))
		require.NoError(t, err)
		require.Equal(t, name, string(text))
		info, err := p.Stat(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o700), info.Mode())
	}
	_, err = p.Open(t.Context(), "/etc/passwd")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, p.WriteFile(t.Context(), "x", strings.NewReader(strings.Repeat("x", maxPlayedBytes+1)), 0o600), "larger than")
}
