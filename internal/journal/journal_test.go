package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func TestAnEnsembleIsLoadedAsItWasRecorded(t *testing.T) {
	store := openStore(t, t.TempDir())
	saved := create(t, store, "e1", 3)
	create(t, store, "e2", 1)
	loaded, err := store.Journal().Load(t.Context(), "e1")
	require.NoError(t, err)
	require.Equal(t, saved, loaded)
	require.ErrorContains(t, store.Journal().Create(t.Context(), full("e1"), nil), "the id is in use")
	_, err = store.Journal().Load(t.Context(), "e3")
	require.ErrorIs(t, err, journal.ErrUnknown)
}

func TestAChangeIsAtomicAndRepeatable(t *testing.T) {
	store := openStore(t, t.TempDir())
	saved := create(t, store, "e1", 2)
	saved.Ensemble.State, saved.Ensemble.Notices = barrier.Running, 3
	saved.Parts[1].State, saved.Parts[1].ExitCode = barrier.PartReleased, nil
	saved.Parts = append(saved.Parts, fullPart("e1", 3))
	saved.Ensemble.Serials = 3
	change := barrier.Change{Ensemble: saved.Ensemble, Parts: saved.Parts[1:], Notices: notices(1, 3)}
	for range 2 {
		require.NoError(t, store.Journal().Save(t.Context(), change))
	}
	loaded, err := store.Journal().Load(t.Context(), "e1")
	require.NoError(t, err)
	require.Equal(t, saved, loaded)
	list, err := store.Journal().Notices(t.Context(), "e1", 1)
	require.NoError(t, err)
	require.Equal(t, notices(2, 3), list)
	change.Ensemble.ID = "e2"
	require.ErrorIs(t, store.Journal().Save(t.Context(), change), journal.ErrUnknown)
}

func TestAReleasedEnsembleIsLoadedWithItsTimes(t *testing.T) {
	store := openStore(t, t.TempDir())
	saved := create(t, store, "e1", 1)
	saved.Rosters = rosters(1, 2)
	require.NoError(t, store.Journal().RecordRelease(t.Context(), "e1", saved.Rosters, noon))
	saved.Ensemble.Released, saved.Parts[0].Released = noon, noon.Add(1)
	require.NoError(t, store.Journal().Save(t.Context(), barrier.Change{Ensemble: saved.Ensemble, Parts: saved.Parts}))
	loaded, err := store.Journal().Load(t.Context(), "e1")
	require.NoError(t, err)
	require.Equal(t, saved, loaded)
}

func TestAReleaseIsRecordedOnce(t *testing.T) {
	store := openStore(t, t.TempDir())
	create(t, store, "e1", 2)
	for range 2 {
		require.NoError(t, store.Journal().RecordRelease(t.Context(), "e1", rosters(2, 3), noon))
	}
	loaded, err := store.Journal().Load(t.Context(), "e1")
	require.NoError(t, err)
	require.Equal(t, rosters(2, 3), loaded.Rosters)

	late := []barrier.Roster{{Serial: 3, Incarnation: 1, Instances: []string{"a"}}, {Serial: 1, Incarnation: 1, Instances: []string{"other"}}}
	require.ErrorContains(t, store.Journal().RecordRelease(t.Context(), "e1", late, noon), "another release of it is on record")
	loaded, err = store.Journal().Load(t.Context(), "e1")
	require.NoError(t, err)
	require.Equal(t, rosters(2, 3), loaded.Rosters, "nothing of it")
}

func TestLiveEnsemblesAreListedNewestFirst(t *testing.T) {
	store := openStore(t, t.TempDir())
	for i, state := range []barrier.State{barrier.Prepared, barrier.Done, barrier.Ending, barrier.Canceled, barrier.Failed} {
		ensemble := full(fmt.Sprintf("e%d", i))
		ensemble.State, ensemble.Created = state, noon.Add(time.Duration(i))
		require.NoError(t, store.Journal().Create(t.Context(), ensemble, nil))
	}
	live, err := store.Journal().Ensembles(t.Context(), false)
	require.NoError(t, err)
	require.Equal(t, []string{"e2", "e0"}, []string{live[0].ID, live[1].ID})
	require.Len(t, live, 2)
	all, err := store.Journal().Ensembles(t.Context(), true)
	require.NoError(t, err)
	require.Len(t, all, 5)
}

func TestEnsemblesAreRemovedWithTheirJobs(t *testing.T) {
	store := openStore(t, t.TempDir())
	create(t, store, "e1", 2)
	create(t, store, "e2", 1)
	live := full("e3")
	live.Ended = time.Time{}
	require.NoError(t, store.Journal().Create(t.Context(), live, nil))
	require.NoError(t, store.Journal().RecordRelease(t.Context(), "e1", rosters(1, 1), noon))
	require.NoError(t, store.Intend(t.Context(), job.Job{Tag: "e2-1", Target: "big", Created: noon}))
	_, err := store.Prune(t.Context(), noon.Add(time.Hour), "")
	require.NoError(t, err)
	_, err = store.Journal().Load(t.Context(), "e1")
	require.ErrorIs(t, err, journal.ErrUnknown)
	_, err = store.Journal().Load(t.Context(), "e2")
	require.NoError(t, err, "its job is unresolved")
	_, err = store.Journal().Load(t.Context(), "e3")
	require.NoError(t, err)
}

func TestARebuiltStoreHasItsEnsembles(t *testing.T) {
	directory := t.TempDir()
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	saved := create(t, store, "e1", 2)
	require.NoError(t, store.Journal().Save(t.Context(), barrier.Change{Ensemble: saved.Ensemble, Notices: notices(1, 2)}))
	require.NoError(t, store.Journal().RecordRelease(t.Context(), "e1", rosters(2, 3), noon))
	exchanges := []journal.Exchange{{Name: "addresses", Result: "[]"}}
	require.NoError(t, store.Journal().RecordExchange(t.Context(), "e1", exchanges[0]))
	saved.Rosters = rosters(2, 3)
	require.NoError(t, store.Close())
	_, _, err = jobstore.Rebuild(t.Context(), directory)
	require.NoError(t, err)
	store = openStore(t, directory)
	loaded, err := store.Journal().Load(t.Context(), "e1")
	require.NoError(t, err)
	require.Equal(t, saved, loaded)
	list, err := store.Journal().Notices(t.Context(), "e1", 0)
	require.NoError(t, err)
	require.Equal(t, notices(1, 2), list)
	kept, err := store.Journal().Exchanges(t.Context(), "e1")
	require.NoError(t, err)
	require.Equal(t, exchanges, kept)
}

func TestTheFirstResultOfAnExchangeCounts(t *testing.T) {
	store := openStore(t, t.TempDir())
	create(t, store, "e1", 1)
	for _, result := range []string{"[1]", "[2]"} {
		require.NoError(t, store.Journal().RecordExchange(t.Context(), "e1", journal.Exchange{Name: "addresses", Result: result}))
	}
	kept, err := store.Journal().Exchanges(t.Context(), "e1")
	require.NoError(t, err)
	require.Equal(t, []journal.Exchange{{Name: "addresses", Result: "[1]"}}, kept)
	_, err = store.Prune(t.Context(), noon.Add(time.Hour), "")
	require.NoError(t, err)
	kept, err = store.Journal().Exchanges(t.Context(), "e1")
	require.NoError(t, err)
	require.Empty(t, kept)
}

// An ensemble is read whole while another process adds parts to it.
func TestLoadWhilePartsAreAdded(t *testing.T) {
	const parts = 200
	directory := t.TempDir()
	store, other := openStore(t, directory), openStore(t, directory)
	create(t, store, "e1", 1)
	added := make(chan error, 1)
	go func() {
		for serial := 2; serial <= parts; serial++ {
			ensemble := full("e1")
			ensemble.Serials = serial
			if err := other.Journal().Save(t.Context(), barrier.Change{Ensemble: ensemble, Parts: []barrier.Part{fullPart("e1", serial)}}); err != nil {
				added <- err
				return
			}
		}
		added <- nil
	}()
	read := 0
	for isWritten := false; !isWritten; {
		select {
		case err := <-added:
			require.NoError(t, err)
			isWritten = true
		default:
		}
		saved, err := store.Journal().Load(t.Context(), "e1")
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(saved.Parts), read, "parts are lost")
		read = len(saved.Parts)
	}
	require.Equal(t, parts, read)
}
