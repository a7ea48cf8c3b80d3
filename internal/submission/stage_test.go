package submission_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/remote"
)

// hasty counts which files are written without waiting for the disk.
type hasty struct {
	remote.Connection
	lasting, transient []string
}

func (h *hasty) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	h.lasting = append(h.lasting, filepath.Base(path))
	return h.Connection.WriteFile(ctx, path, content, mode)
}

func (h *hasty) WriteTransient(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	h.transient = append(h.transient, filepath.Base(path))
	return h.Connection.WriteFile(ctx, path, content, mode)
}

func TestOnlyPermanentFilesAreSynced(t *testing.T) {
	t.Parallel()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	folder := t.TempDir()
	program := submission.StagedFile{Path: filepath.Join(folder, "program"), Content: "#!/bin/sh\n", Mode: 0o700}
	script := submission.StagedFile{Path: filepath.Join(folder, "script"), Content: "exec true\n", Mode: 0o600, DeleteAfterSubmit: true}
	stage := func(files ...submission.StagedFile) (lasting, transient []string) {
		place := &hasty{Connection: local}
		_, err := submission.Stage(t.Context(), place, files, nil)
		require.NoError(t, err)
		for _, file := range files {
			content, err := os.ReadFile(file.Path)
			require.NoError(t, err)
			require.Equal(t, file.Content, string(content))
			info, err := os.Stat(file.Path)
			require.NoError(t, err)
			require.Equal(t, file.Mode, info.Mode())
		}
		return place.lasting, place.transient
	}

	lasting, transient := stage(program, script)
	require.Equal(t, []string{"program"}, lasting)
	require.Equal(t, []string{"script"}, transient)

	lasting, transient = stage(program, script)
	require.Empty(t, lasting, "it is there already")
	require.Equal(t, []string{"script"}, transient)

	program.Content = "#!/bin/ed\n"
	lasting, _ = stage(program)
	require.Equal(t, []string{"program"}, lasting, "of the same length, but another content")

	program.Mode = 0o500
	lasting, _ = stage(program)
	require.Equal(t, []string{"program"}, lasting, "another mode")
}
