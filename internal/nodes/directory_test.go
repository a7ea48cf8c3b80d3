package nodes_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/remote"
)

// installation is a folder with rmctl-node, for an rmctl next to it.
var installation string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "rmctl-node-built-")
	if err != nil {
		panic(err)
	}
	installation = folder
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

func open(t *testing.T, directory string) *nodes.Directory {
	t.Helper()
	rmctltest.NodeProgram(t, installation)
	local, err := remote.NewLocal()
	require.NoError(t, err)
	opened, err := nodes.NewDirectory(local, directory, filepath.Join(installation, "rmctl"))
	require.NoError(t, err)
	return opened
}

func TestTheProgramIsStagedOnceAndReplacedIfItsContentDiffers(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "node")
	job, err := open(t, folder).Prepare(t.Context(), "tag")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "jobs", "tag"), job)
	require.FileExists(t, filepath.Join(job, "secret"))

	staged, err := filepath.Glob(filepath.Join(folder, "rmctl-node-*"))
	require.NoError(t, err)
	require.Len(t, staged, 1)
	first, err := os.Stat(staged[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), first.Mode().Perm())
	inode := first.Sys().(*syscall.Stat_t).Ino

	other := open(t, folder)
	program, err := other.Program(t.Context())
	require.NoError(t, err)
	require.Equal(t, staged[0], program)
	again, err := os.Stat(program)
	require.NoError(t, err)
	require.Equal(t, inode, again.Sys().(*syscall.Stat_t).Ino, "a program that is there is not written again")

	content, err := os.ReadFile(program)
	require.NoError(t, err)
	changed := bytes.Clone(content)
	changed[len(changed)/2] ^= 1
	require.NoError(t, os.Remove(program))
	require.NoError(t, os.WriteFile(program, changed, 0o700))
	require.NoError(t, os.Chtimes(program, first.ModTime(), first.ModTime()))
	_, err = other.Prepare(t.Context(), "tag")
	require.NoError(t, err)
	now, err := os.ReadFile(program)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, now), "each submission checks the content, not the size and time")
}

func TestAnInstallationWithoutTheProgramSaysHowToGetIt(t *testing.T) {
	t.Parallel()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	bin := filepath.Join(t.TempDir(), "bin")
	require.NoError(t, os.MkdirAll(bin, 0o700))
	directory, err := nodes.NewDirectory(local, t.TempDir(), filepath.Join(bin, "rmctl"))
	require.NoError(t, err)
	_, err = directory.Prepare(t.Context(), "tag")
	var missing *nodes.MissingProgramError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []string{bin, filepath.Join(filepath.Dir(bin), "libexec", "rmctl")}, missing.Folders)
	require.ErrorContains(t, err, "go install github.com/rmctl/rmctl/cmd/rmctl-node@latest")

	libexec := filepath.Join(filepath.Dir(bin), "libexec", "rmctl")
	require.NoError(t, os.MkdirAll(libexec, 0o700))
	require.NoError(t, exec.Command("cp", rmctltest.NodeProgram(t, installation), filepath.Join(libexec, "rmctl-node-"+missing.System+"-"+missing.Arch)).Run())
	directory, err = nodes.NewDirectory(local, t.TempDir(), filepath.Join(bin, "rmctl"))
	require.NoError(t, err)
	_, err = directory.Prepare(t.Context(), "tag")
	require.NoError(t, err)
}

func TestADirectoryThatRemoteShellsSplitIsRefused(t *testing.T) {
	t.Parallel()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	require.True(t, nodes.IsSafeWord("/home/ann/.local/n_1,2:3=4@5%6+7-8"))
	require.False(t, nodes.IsSafeWord(""))
	for _, path := range []string{"/tmp/with blank", "/tmp/$HOME", "/tmp/a;b", "/tmp/ü", "/tmp/a\nb", "~/node"} {
		_, err := nodes.NewDirectory(local, path, "rmctl")
		require.ErrorContains(t, err, "node_directory", path)
	}
	_, err = open(t, t.TempDir()).Prepare(t.Context(), "../tag")
	require.ErrorContains(t, err, "cannot be the name of a job's directory")
}

func TestADirectoryThatCannotBeWrittenNamesTheSetting(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := open(t, filepath.Join(file, "node")).Prepare(t.Context(), "tag")
	require.ErrorContains(t, err, "\nset node_directory")
	require.Equal(t, 1, strings.Count(err.Error(), "\n"), "%v", err)
}

func TestAFileSystemWithoutProgramsNamesTheSetting(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := syscall.Mount("none", folder, "tmpfs", syscall.MS_NOEXEC, "size=64m"); errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a file system needs root")
	} else {
		require.NoError(t, err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, 0)) })
	_, err := open(t, folder).Prepare(t.Context(), "tag")
	require.ErrorContains(t, err, "\nset node_directory of the target to a directory on a file system that is not mounted noexec")
	require.ErrorContains(t, err, folder)
	require.Equal(t, 1, strings.Count(err.Error(), "\n"), "%v", err)
}

func BenchmarkPrepare(b *testing.B) {
	rmctltest.NodeProgram(b, installation)
	local, err := remote.NewLocal()
	require.NoError(b, err)
	directory, err := nodes.NewDirectory(local, b.TempDir(), filepath.Join(installation, "rmctl"))
	require.NoError(b, err)
	for b.Loop() {
		_, err := directory.Prepare(b.Context(), "tag")
		require.NoError(b, err)
	}
}
