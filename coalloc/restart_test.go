package coalloc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
)

// Each step of an ensemble has events: it is closed after each of them, and continues.
func TestAnEnsembleContinuesAfterARestartAtAnyStep(t *testing.T) {
	t.Parallel()
	for last := 1; last < 20; last += 2 {
		t.Run(fmt.Sprintf("after event %d", last), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "here", "there")
			e := s.startsRequest(&coalloc.Request{HoldFirst: last%4 == 1, Parts: []coalloc.Part{
				part("a", marks), part("b", marks, on("there"), count(2)), part("c", marks, noGate, kind(coalloc.Optional)),
			}})
			e.commits()
			err := e.Events(t.Context(), 0, func(event coalloc.EnsembleEvent) error {
				if event.Sequence == last {
					return os.ErrExist
				}
				return nil
			})
			require.NoError(t, e.Close())
			if err != nil {
				require.ErrorIs(t, err, os.ErrExist)
			}
			if e.status().State.Ended() {
				return // it has fewer events
			}
			e = s.resumes(e.ID())
			status := e.ends(coalloc.Done)
			require.True(t, status.Committed)
			require.Len(t, s.marksOf("a"), 1)
			require.Len(t, s.marksOf("b"), 2)
			require.Len(t, s.marksOf("c"), 1)
			require.Equal(t, 3, s.jobsMade())
			s.isEmpty()
		})
	}
}

func TestACancellationContinuesAfterARestart(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	s.refuses(func(_ string, words []string) error {
		if does(words, "cancel") {
			return errBroken
		}
		return nil
	})
	e := s.starts(part("a", marks), part("b", "sleep 600", noGate))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartReleased)
	require.NoError(t, e.Cancel(t.Context()))
	e.has("canceling the job: ")
	require.NoError(t, e.Close())
	s.refuses(nil)
	e = s.resumes(e.ID())
	e.ends(coalloc.Canceled)
	require.Empty(t, s.marksOf("a"))
	s.isEmpty()
}

// Processes that were checked in connect again a moment later.
func TestF16ACommitNowRightAfterARestartReleasesThoseWhoWereThere(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(part("a", marks), part("b", marks, on("there"), count(2)))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartCheckedIn)
	require.NoError(t, e.Close())
	e = s.resumes(e.ID())
	require.NoError(t, e.Commit(t.Context(), true))
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)
	require.Len(t, s.marksOf("b"), 2)
	s.isEmpty()
}

func TestF24ProcessesDoNotCheckIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", "sleep 600", func(p *coalloc.Part) {
		p.Gate, p.CheckIn = coalloc.Program, 12*time.Second // it never calls the barrier
	}))
	e.has("0 of 1 processes checked in: starting relays on its nodes")
	status := e.ends(coalloc.Failed)
	require.Contains(t, status.Reason, "0 of 1 processes checked in within 12s")
	s.isEmpty()
}

func TestSecretsAreInPrivateFilesOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks))
	e.reaches("a", coalloc.PartCheckedIn)
	for _, name := range []string{e.pass("a"), filepath.Join(s.home, "state", "ensembles", e.ID(), "key")} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
		folder, err := os.Stat(filepath.Dir(name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), folder.Mode().Perm(), name)
	}
	e.commits()
	e.ends(coalloc.Done)
	require.NoError(t, e.Close())
	require.NoFileExists(t, filepath.Join(s.home, "state", "ensembles", e.ID(), "key"))
}

func TestAnEnsembleWithoutItsKeysDoesNotRun(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	id, err := coalloc.Record(t.Context(), s.client, &coalloc.Request{Parts: []coalloc.Part{part("a", marks)}})
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(s.home, "state", "ensembles", id, "key")))
	_, err = coalloc.Resume(t.Context(), s.client, id, coalloc.Options{})
	require.True(t, errors.Is(err, os.ErrNotExist), "%v", err)
}
