package serve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agent/serve"
)

func TestAnInstalledAgentIsPrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "it's $(touch here); a folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	file := filepath.Join(folder, "agent")
	options := serve.Options{Target: "my $cluster", Old: true, Configuration: []string{"--config-dir=" + folder}}
	require.NoError(t, serve.Install(file, options))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode())
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(content), " agent '--target=my $cluster' ")
	require.Contains(t, string(content), " --states=2.x \"$@\"\n")
	require.NoError(t, exec.Command("sh", "-n", file).Run())
	require.NoError(t, serve.Install(file, options), "it may be installed again")
}

func TestInstallingReplacesALinkButNoOtherFile(t *testing.T) {
	folder := t.TempDir()
	precious, link := filepath.Join(folder, "precious"), filepath.Join(folder, "link")
	require.NoError(t, os.WriteFile(precious, []byte("#!/bin/sh\n"), 0o600))
	require.ErrorContains(t, serve.Install(precious, serve.Options{Target: "local"}), "was not written by rmctl")
	installed := filepath.Join(folder, "installed")
	require.NoError(t, serve.Install(installed, serve.Options{Target: "local"}))
	before, err := os.ReadFile(installed)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(installed, link))
	require.NoError(t, serve.Install(link, serve.Options{Target: "other"}))
	after, err := os.ReadFile(installed)
	require.NoError(t, err)
	require.Equal(t, before, after, "what the link leads to stays")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 3, "nothing is left over")
}
