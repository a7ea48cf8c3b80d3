package poller_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/tokenizer"
)

// latest returns the rows that a process without a scheduler receives.
func (p *process) latest(t *testing.T) (rows []command.Row, isReceived bool) {
	t.Helper()
	made, isReceived, err := p.Latest(t.Context(), p.world.listing(0, &rows))
	require.NoError(t, err)
	if isReceived {
		require.Len(t, rows, made.Rows)
	}
	return rows, isReceived
}

func TestTwoProcessesShareOneListingThroughTheRecord(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, "a"), w.process(t, "b")
	const count = 10_000 // which makes several chunks
	made, isReceived, err := a.Viewer(true).List(t.Context(), w.listing(count, nil))
	require.NoError(t, err)
	require.False(t, isReceived)

	var rows []command.Row
	viewer := b.Viewer(false)
	read, isReceived, err := viewer.List(t.Context(), w.listing(count, &rows))
	require.NoError(t, err)
	require.True(t, isReceived)
	require.Greater(t, read.Chunks, 2)
	require.Equal(t, []any{made.Begun, made.Took, count}, []any{read.Begun, read.Took, read.Rows})
	require.Len(t, rows, count)
	for i, received := range rows {
		require.Equal(t, row(i), received, "they are the same, byte for byte")
	}

	due, err := viewer.Due(t.Context(), w.listing(count, nil))
	require.NoError(t, err)
	require.False(t, due.Before(made.Begun.Add(10*time.Second)))
	again, isReceived, err := viewer.List(t.Context(), w.listing(count, &rows))
	require.NoError(t, err)
	require.False(t, isReceived, "it comes once, and then it is the turn of this process")
	require.GreaterOrEqual(t, again.Begun.Sub(made.Begun), 10*time.Second)
}

func TestAListingThatIsCutOffIsNotVisible(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, "a"), w.process(t, "b")
	viewer := a.Viewer(true)
	_, _, err := viewer.List(t.Context(), w.listing(3, nil))
	require.NoError(t, err)
	w.time = w.time.Add(time.Minute)
	for name, failure := range map[string]error{"whole": nil, "failed": errDown} {
		before, _ := b.latest(t)
		next := w.listing(0, nil)
		next.List = func(_ context.Context, share func(command.Row)) (command.Listed, error) {
			for i := range 10_000 {
				share(row(i))
			}
			rows, isReceived := b.latest(t)
			require.True(t, isReceived)
			require.Equal(t, before, rows, "of the one that goes on nothing is seen")
			return command.Listed{Rows: 10_000}, failure
		}
		_, _, err := viewer.List(t.Context(), next)
		require.ErrorIs(t, err, failure)
		rows, isReceived := b.latest(t)
		require.Equal(t, failure == nil, isReceived, name)
		if isReceived {
			require.Len(t, rows, 10_000)
		}
		_, _, err = viewer.List(t.Context(), w.listing(3, nil))
		require.NoError(t, err)
	}
}

func TestAListingOfMoreThan64MiBIsNotShared(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	viewer := p.Viewer(true)
	for size, isShared := range map[int]bool{63: true, 65: false} {
		large := w.listing(0, nil)
		large.List = func(_ context.Context, share func(command.Row)) (command.Listed, error) {
			for range size {
				share(command.Row{ID: "7", Facts: tokenizer.FactsOf(map[string]string{"name": strings.Repeat("x", 1<<20)})})
			}
			return command.Listed{Rows: size}, nil
		}
		_, _, err := viewer.List(t.Context(), large)
		require.NoError(t, err)
		_, isReceived := p.latest(t)
		require.Equal(t, isShared, isReceived)
		require.Empty(t, p.warnings, "which nobody can change")
		if !isShared {
			require.LessOrEqual(t, w.bytes(t), 63<<20+1<<19, "what was written of it is removed")
		}
	}
}

// database opens the record as no process of rmctl does.
func (w *world) database(t *testing.T) *sql.DB {
	t.Helper()
	database, err := sql.Open("sqlite", filepath.Join(w.folder, "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	return database
}

// bytes is how much of listings is on record.
func (w *world) bytes(t *testing.T) (size int) {
	t.Helper()
	row := w.database(t).QueryRowContext(t.Context(), "SELECT coalesce(sum(length(rows)), 0) FROM listing_chunks")
	require.NoError(t, row.Scan(&size))
	return size
}

func TestListingsContinueWithoutSharing(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	_, err := w.database(t).ExecContext(t.Context(), "CREATE TRIGGER full BEFORE INSERT ON listing_chunks BEGIN SELECT RAISE(ABORT, 'no room'); END")
	require.NoError(t, err)
	viewer := p.Viewer(true)
	for range 2 {
		made, _, err := viewer.List(t.Context(), w.listing(5, nil))
		require.NoError(t, err)
		require.Equal(t, 5, made.Rows)
	}
	require.Len(t, p.warnings, 1)
	require.ErrorContains(t, p.warnings[0], "no room")
	_, isReceived := p.latest(t)
	require.False(t, isReceived)
}

func TestAnEmptyListingIsSharedToo(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	_, _, err := p.Viewer(true).List(t.Context(), w.listing(0, nil))
	require.NoError(t, err)
	rows, isReceived := p.latest(t)
	require.True(t, isReceived)
	require.Empty(t, rows)
}

func TestRowsThatAreDamagedAreAnError(t *testing.T) {
	for name, spoil := range map[string]string{
		"not rows at all": "UPDATE listing_chunks SET rows = x'00ff'",
		"cut":             "UPDATE listing_chunks SET rows = substr(rows, 1, length(rows) - 9)",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.process(t, "a")
			_, _, err := p.Viewer(true).List(t.Context(), w.listing(5, nil))
			require.NoError(t, err)
			_, err = w.database(t).ExecContext(t.Context(), spoil)
			require.NoError(t, err)
			var rows []command.Row
			_, _, err = p.Latest(t.Context(), w.listing(0, &rows))
			require.ErrorContains(t, err, "damaged")
			require.Empty(t, rows)
		})
	}
}

func TestASlowReaderGetsAnError(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, "a"), w.process(t, "b")
	viewer := a.Viewer(true)
	lists := func() {
		_, _, err := viewer.List(t.Context(), w.listing(10_000, nil))
		require.NoError(t, err)
	}
	for newer, isWhole := range map[int]bool{0: true, 1: true, 2: false} {
		lists()
		slow, count := w.listing(0, nil), 0
		slow.Receive = func(command.Row) error {
			if count++; count == 1 {
				for range newer {
					lists()
				}
			}
			return nil
		}
		_, _, err := b.Latest(t.Context(), slow)
		if isWhole {
			require.NoError(t, err)
			require.Equal(t, 10_000, count)
		} else {
			require.ErrorContains(t, err, "newer listings replaced it")
		}
	}
}

func TestOnlySharedListingsAreWritten(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, "a").Viewer(false), w.process(t, "b").Viewer(false)
	var rows []command.Row
	list := func(viewer *poller.Viewer) bool {
		_, isReceived, err := viewer.List(t.Context(), w.listing(5, &rows))
		require.NoError(t, err)
		return isReceived
	}
	require.False(t, list(a))
	require.Zero(t, w.bytes(t))
	require.False(t, list(b), "nothing was written for it, but from now on it is wanted")
	require.True(t, list(a))
	require.NotZero(t, w.bytes(t))
	w.time = w.time.Add(20 * time.Minute)
	require.False(t, list(a))
	w.time = w.time.Add(20 * time.Minute)
	require.False(t, list(a))
	require.Zero(t, w.bytes(t), "nobody wants it any more")
}

func TestTargetsWithOtherParsersShareTurnsButNotRows(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, "a"), w.process(t, "b")
	made, _, err := a.Viewer(true).List(t.Context(), w.listing(5, nil))
	require.NoError(t, err)
	var rows []command.Row
	other := w.listing(5, &rows)
	other.Variant, other.Target = "partition=debug", "debug"
	again, isReceived, err := b.Viewer(false).List(t.Context(), other)
	require.NoError(t, err)
	require.False(t, isReceived)
	require.GreaterOrEqual(t, again.Begun.Sub(made.Begun), 10*time.Second)
	poll, err := a.store.Polls().Poll(t.Context(), allJobs)
	require.NoError(t, err)
	require.Equal(t, []string{"debug", "slurm"}, poll.Targets)
	require.Equal(t, polls.PollKind("list-jobs"), poll.Kind)
}
