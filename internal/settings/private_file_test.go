package settings_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
)

// writerOfTargets makes the test process a writer: the directory that it writes to, and its
// name.
const writerOfTargets, nameOfWriter = "RMCTL_TEST_WRITES_TARGETS", "RMCTL_TEST_WRITER"

// patience is the time limit for something that takes long only on a busy machine.
const patience = time.Minute

func TestConcurrentChangesOfTheTargetsFileAreKept(t *testing.T) {
	const writers, targets = 8, 10
	name := func(writer string, number int) string { return fmt.Sprintf("%s-%d", writer, number) }
	if folder, isWriter := os.LookupEnv(writerOfTargets); isWriter {
		writer := os.Getenv(nameOfWriter)
		for number := range targets {
			require.NoError(t, settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: name(writer, number), Definition: "slurm"}))
			if number%2 == 1 {
				require.NoError(t, settings.RemoveTarget(t.Context(), settings.Folders{User: folder}, name(writer, number)))
			}
		}
		return
	}
	folder := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	ended := make(chan error, writers)
	ctx, stop := context.WithTimeout(t.Context(), 2*patience)
	defer stop()
	for writer := range writers {
		command := exec.CommandContext(ctx, program, "-test.run", "^"+t.Name()+"$")
		command.Env = append(os.Environ(), writerOfTargets+"="+folder, fmt.Sprintf("%s=%d", nameOfWriter, writer))
		go func() {
			printed, err := command.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, printed)
			}
			ended <- err
		}()
	}
	var failures []error
	for range writers {
		failures = append(failures, <-ended)
	}
	require.NoError(t, errors.Join(failures...))
	read, err := settings.LoadTargets(settings.Folders{User: folder})
	require.NoError(t, err)
	for writer := range writers {
		for number := range targets {
			_, err := read.Find(name(fmt.Sprint(writer), number))
			if number%2 == 1 {
				require.Error(t, err, "removed")
			} else {
				require.NoError(t, err)
			}
		}
	}
	require.ElementsMatch(t, []string{settings.TargetsFile, ".targets.lock"}, namesIn(t, folder))
}

func namesIn(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestTheWaitForTheTargetsFileEndsWithItsContext(t *testing.T) {
	folder, read := targetsFile(t, handWritten)
	lock, err := os.OpenFile(filepath.Join(folder, ".targets.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, settings.RemoveTarget(ctx, settings.Folders{User: folder}, "small"), context.Canceled)
	require.Equal(t, handWritten, read())
	require.NoError(t, lock.Close())
	require.NoError(t, settings.RemoveTarget(t.Context(), settings.Folders{User: folder}, "small"))
}

func TestAnExistingTargetIsNotAdded(t *testing.T) {
	folder, read := targetsFile(t, handWritten)
	var exists *settings.TargetExistsError
	err := settings.AddTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "new", Definition: "local"}, settings.Target{Name: "small", Definition: "slurm"})
	require.ErrorAs(t, err, &exists)
	require.Equal(t, "small", exists.Name)
	require.Equal(t, handWritten, read())
	require.NoError(t, settings.AddTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "slurm", Definition: "slurm", Transport: "ssh", Host: "login"}), "a shipped one is no target of the file")
}

func TestOnlyOneOfManyWritersCreatesALaunchConfiguration(t *testing.T) {
	for range 20 {
		folder := t.TempDir()
		var making sync.WaitGroup
		failures := make([]error, 4)
		for i := range failures {
			making.Go(func() {
				l := settings.LaunchConfiguration{Name: "nightly", Definition: "slurm", Submission: job.Submission{Executable: fmt.Sprint(i)}}
				failures[i] = l.Save(folder, false)
			})
		}
		making.Wait()
		made := 0
		for i, err := range failures {
			var exists *settings.LaunchConfigurationExistsError
			if err != nil {
				require.ErrorAs(t, err, &exists)
				continue
			}
			made++
			kept, err := settings.LoadLaunchConfiguration(folder, "nightly")
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(i), kept.Executable)
		}
		require.Equal(t, 1, made)
		require.Equal(t, []string{"nightly.toml"}, namesIn(t, filepath.Join(folder, settings.LaunchFolder)))
	}
}

func TestFilesOfAKilledWriterAreRemoved(t *testing.T) {
	folder, _ := targetsFile(t, handWritten)
	left, young, other := filepath.Join(folder, ".rmctl-draft-1"), filepath.Join(folder, ".rmctl-draft-2"), filepath.Join(folder, ".draft-of-mine")
	for _, file := range []string{left, young, other} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(left, old, old))
	require.NoError(t, os.Chtimes(other, old, old))
	require.NoError(t, settings.RemoveTarget(t.Context(), settings.Folders{User: folder}, "small"))
	require.NoFileExists(t, left)
	require.FileExists(t, young)
	require.FileExists(t, other)
}

func TestSpecialFilesAreNotReadAsTargetsFiles(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, settings.TargetsFile)
	var wrong *settings.ConfigurationError
	refuses := func(reported string) {
		t.Helper()
		_, err := settings.LoadTargets(settings.Folders{User: folder})
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, reported)
		require.ErrorContains(t, settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "x", Definition: "local"}), reported)
		require.NoError(t, os.Remove(file))
	}
	require.NoError(t, syscall.Mkfifo(file, 0o600))
	refuses("not a regular file")
	require.NoError(t, os.Symlink(filepath.Join(folder, "absent"), file))
	refuses("broken symbolic link")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, 5<<20))
	refuses("larger than 4194304 bytes")
}
