package jobstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

func TestADamagedFileIsNamedWithWhatToDo(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, databaseName), []byte(strings.Repeat("no database ", 1000)), 0o600))
	_, err := Open(t.Context(), directory)
	require.ErrorIs(t, err, errFileDamaged)
	require.ErrorContains(t, err, directory)
	require.ErrorContains(t, err, "rmctl recover")
}

// The bound on the pages of the file plays the part of a full disk.
func TestAFullDiskLosesNothingThatWasRecorded(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	store.database.SetMaxOpenConns(1) // the bound is one of the connection
	require.NoError(t, store.Intend(t.Context(), job.Job{Tag: "first", Target: "big"}))
	pages := store.number(t, "PRAGMA page_count")
	_, err = store.database.ExecContext(t.Context(), "PRAGMA max_page_count = "+strconv.Itoa(pages+1))
	require.NoError(t, err)
	err = store.Intend(t.Context(), job.Job{Tag: "second", Target: "big", Script: strings.Repeat("x", 1<<20)})
	require.ErrorIs(t, err, errFull)
	_, err = store.ByTag(t.Context(), "first")
	require.NoError(t, err)
	_, err = store.ByTag(t.Context(), "second")
	require.ErrorIs(t, err, ErrNotFound)
}

func TestAStoreThatMayOnlyBeReadSaysSo(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	store.database.SetMaxOpenConns(1)
	_, err = store.database.ExecContext(t.Context(), "PRAGMA query_only = on")
	require.NoError(t, err)
	require.ErrorIs(t, store.Intend(t.Context(), job.Job{Tag: "a", Target: "big"}), errReadOnly)
}

// Whatever page of the file is lost: what is shown of a job is what was recorded, or an error
// says what to do.
func TestADamagedPageIsAnErrorAndNothingIsMadeUp(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store, err := Open(t.Context(), directory)
	require.NoError(t, err)
	tags := make([]string, 15)
	recorded := map[string]job.Job{}
	for i := range tags {
		tags[i] = "tag-" + strconv.Itoa(i)
		require.NoError(t, store.Intend(t.Context(), job.Job{Tag: tags[i], Target: "big", Script: strings.Repeat("line\n", 100)}))
		_, err := store.Accept(t.Context(), tags[i], job.Job{ID: strconv.Itoa(i), Observation: job.Observation{Detail: job.Submitted, Evidence: strings.Repeat("x", 500)}})
		require.NoError(t, err)
		recorded[tags[i]], err = store.ByTag(t.Context(), tags[i])
		require.NoError(t, err)
	}
	require.NoError(t, store.Close())
	whole, err := os.ReadFile(filepath.Join(directory, databaseName))
	require.NoError(t, err)
	const page = 4096
	damaged := 0
	for start := 0; start < len(whole); start += page {
		text := bytes.Clone(whole)
		copy(text[start:start+page], bytes.Repeat([]byte("no page "), page/8))
		if readsTrue(t, text, tags, recorded) {
			damaged++
		}
	}
	require.Greater(t, damaged, 10, "of the pages some matter")
}

// readsTrue reports whether the store of a file reports damage, and requires that it shows
// everything else as recorded.
func readsTrue(t *testing.T, text []byte, tags []string, recorded map[string]job.Job) (isDamaged bool) {
	t.Helper()
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, databaseName), text, 0o600))
	check := func(err error) bool {
		if err != nil && !errors.Is(err, ErrNotFound) {
			require.True(t, errors.Is(err, errFileDamaged) || errors.Is(err, stored.ErrDamaged), "%v", err)
			isDamaged = true
		}
		return err == nil
	}
	store, err := Open(t.Context(), directory)
	if !check(err) {
		return isDamaged
	}
	defer func() { require.NoError(t, store.Close()) }()
	for _, tag := range tags {
		if job, err := store.ByTag(t.Context(), tag); check(err) {
			require.Equal(t, recorded[tag], job)
		}
	}
	jobs, err := store.List(t.Context(), Filter{})
	check(err)
	for _, job := range jobs {
		require.Equal(t, recorded[job.Tag].ID, job.ID)
	}
	_, err = store.Events(t.Context(), 0)
	check(err)
	_, err = store.Unresolved(t.Context(), "")
	check(err)
	check(store.Intend(t.Context(), job.Job{Tag: "new", Target: "big"}))
	return isDamaged
}
