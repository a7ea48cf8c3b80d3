package journal_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/jobstore"
)

// damaged returns a store of two ensembles, after a statement that rmctl never runs.
func damaged(t *testing.T, statement string) *jobstore.Store {
	t.Helper()
	directory := t.TempDir()
	store := openStore(t, directory)
	for _, id := range []string{"e1", "e2"} {
		saved := create(t, store, id, 2)
		saved.Ensemble.Ended = saved.Ensemble.Ended.AddDate(0, 0, 1)
		require.NoError(t, store.Journal().Save(t.Context(), barrier.Change{Ensemble: saved.Ensemble, Notices: notices(1, 2)}))
		require.NoError(t, store.Journal().RecordRelease(t.Context(), id, rosters(2, 1), noon))
	}
	spoil(t, directory, statement)
	return store
}

// spoil runs a statement in the database of a store.
func spoil(t *testing.T, directory, statement string) {
	t.Helper()
	database, err := sql.Open("sqlite", filepath.Join(directory, "jobs.db"))
	require.NoError(t, err)
	_, err = database.ExecContext(t.Context(), statement)
	require.NoError(t, err)
	require.NoError(t, database.Close())
}

func TestADamagedEnsembleIsAnErrorAndLeavesTheOthers(t *testing.T) {
	for name, statement := range map[string]string{
		"ensemble": "UPDATE ensembles SET state = 'PREPARED' WHERE id = 'e1'",
		"document": "UPDATE ensembles SET document = 'x' WHERE id = 'e1'",
		"set":      "UPDATE ensembles SET sets = '[' WHERE id = 'e1'",
		"part":     "UPDATE ensemble_parts SET attempted = 0 WHERE ensemble = 'e1' AND serial = 2",
		"request":  "UPDATE ensemble_parts SET document = '' WHERE ensemble = 'e1'",
		"time":     "UPDATE ensemble_parts SET submitted = 'x' WHERE ensemble = 'e1'",
		"release":  "UPDATE ensemble_releases SET instances = '[\"x\"]' WHERE ensemble = 'e1' AND serial = 1",
	} {
		t.Run(name, func(t *testing.T) {
			store := damaged(t, statement)
			_, err := store.Journal().Load(t.Context(), "e1")
			require.ErrorIs(t, err, stored.ErrDamaged)
			_, err = store.Journal().Load(t.Context(), "e2")
			require.NoError(t, err)
			list, err := store.Journal().Ensembles(t.Context(), true)
			require.NoError(t, err)
			require.Equal(t, "e2", list[len(list)-1].ID)
		})
	}
}

func TestADamagedReleaseIsDetected(t *testing.T) {
	store := damaged(t, "UPDATE ensemble_releases SET at = '' WHERE ensemble = 'e1' AND serial = 1")
	require.ErrorIs(t, store.Journal().RecordRelease(t.Context(), "e1", rosters(2, 1), noon), stored.ErrDamaged)
}

func TestADamagedEventIsAnError(t *testing.T) {
	store := damaged(t, "UPDATE ensemble_events SET text = 'x' WHERE ensemble = 'e1' AND sequence = 2")
	_, err := store.Journal().Notices(t.Context(), "e1", 0)
	require.ErrorIs(t, err, stored.ErrDamaged)
	_, err = store.Journal().Notices(t.Context(), "e1", 2)
	require.NoError(t, err)
}

func TestARebuiltEnsembleThatLacksAPartOrAReleaseIsAnError(t *testing.T) {
	for statement, lost := range map[string]string{
		"UPDATE ensemble_parts SET attempted = 0 WHERE serial = 2": "1 of 2 parts are left",
		"UPDATE ensemble_releases SET at = '' WHERE serial = 0":    "the commit is lost",
		"UPDATE ensemble_releases SET at = '' WHERE serial = 1":    "the release of part \"part-1\" is lost",
	} {
		directory := t.TempDir()
		store, err := jobstore.Open(t.Context(), directory)
		require.NoError(t, err)
		saved := create(t, store, "e1", 2)
		saved.Ensemble.Released, saved.Parts[0].Released = noon, noon
		require.NoError(t, store.Journal().Save(t.Context(), barrier.Change{Ensemble: saved.Ensemble, Parts: saved.Parts}))
		require.NoError(t, store.Journal().RecordRelease(t.Context(), "e1", rosters(1, 1), noon))
		spoil(t, directory, statement)
		require.NoError(t, store.Close())
		_, _, err = jobstore.Rebuild(t.Context(), directory)
		require.NoError(t, err)
		_, err = openStore(t, directory).Journal().Load(t.Context(), "e1")
		require.ErrorIs(t, err, stored.ErrDamaged)
		require.ErrorContains(t, err, lost)
	}
}
