package coalloc_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/remote"
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

// An edit is on record, or fails.
func TestAnEditThatMeetsTheEndOfItsProcessIsNotLostSilently(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	s.breaks("here", &remote.ConnectError{Host: "here", Reason: remote.NotAuthenticated, Err: remote.ErrNobodyToAsk})
	e := s.starts(part("a", marks)) // which waits, so that the commit is all that happens
	e.has("needs-user a")
	database, err := sql.Open("sqlite", filepath.Join(s.home, "state", "jobs.db"))
	require.NoError(t, err)
	defer database.Close()
	transaction, err := database.Conn(t.Context())
	require.NoError(t, err)
	_, err = transaction.ExecContext(t.Context(), "BEGIN IMMEDIATE") // nobody else writes
	require.NoError(t, err)
	edited := make(chan error, 1)
	go func() { edited <- e.Commit(context.Background(), false) }()
	require.Never(t, func() bool { return len(edited) > 0 }, 100*time.Millisecond, 10*time.Millisecond)
	require.NoError(t, e.Close())
	require.ErrorIs(t, <-edited, coalloc.ErrNotRunning)
	_, err = transaction.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, transaction.Close())

	e = s.resumes(e.ID())
	require.False(t, e.status().Committed)
	s.breaks("here", nil)
	e.commits()
	e.ends(coalloc.Done)
}

// An edit whose answer was lost is repeated with the same tag.
func TestARepeatedEditIsMadeOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	tagged := func(p *coalloc.Part) { p.Tag = "6ba7b810-9dad-11d1-80b4-00c04fd430c8" }
	added := part("b", marks, tagged)
	e := s.starts(part("a", marks))
	require.NoError(t, e.Add(t.Context(), added))
	require.NoError(t, e.Add(t.Context(), added))
	require.NoError(t, e.Close())
	e = s.resumes(e.ID())
	require.NoError(t, e.Add(t.Context(), added))
	require.ErrorIs(t, e.Add(t.Context(), part("b", marks)), coalloc.ErrDuplicateLabel)
	replacing := part("b", marks, func(p *coalloc.Part) { p.Tag = "6ba7b811-9dad-11d1-80b4-00c04fd430c8" })
	require.NoError(t, e.Substitute(t.Context(), "b", replacing))
	require.NoError(t, e.Substitute(t.Context(), "b", replacing))
	require.Len(t, e.status().Parts, 3)
	e.commits()
	require.Eventually(t, func() bool { return !e.status().Released.IsZero() }, patience, 10*time.Millisecond)
	require.NoError(t, e.Substitute(t.Context(), "b", replacing), "it was made before the release")
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("b"), 1)
	require.ErrorContains(t, e.Add(t.Context(), part("c", marks, func(p *coalloc.Part) { p.Tag = "4711" })), "invalid tag")
}

func TestAnIDIsRecordedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	r := &coalloc.Request{ID: coalloc.NewID(), Parts: []coalloc.Part{part("a", marks)}}
	var recording errgroup.Group
	var recorded atomic.Int64
	for range 8 {
		client := s.newClient()
		recording.Go(func() error {
			id, err := coalloc.Record(t.Context(), client, r)
			if errors.Is(err, coalloc.ErrRecorded) || errors.Is(err, coalloc.ErrRunning) {
				return nil
			}
			if recorded.Add(1); err == nil && id != r.ID {
				err = fmt.Errorf("another id: %s", id)
			}
			return err
		})
	}
	require.NoError(t, recording.Wait())
	require.EqualValues(t, 1, recorded.Load())
	e := s.resumes(r.ID)
	_, err := coalloc.Record(t.Context(), s.newClient(), r)
	require.ErrorIs(t, err, coalloc.ErrRecorded, "also while it runs")
	require.ErrorIs(t, coalloc.Withdraw(t.Context(), s.client, r.ID), coalloc.ErrRecorded)
	e.commits()
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)
	for _, id := range []string{"../../etc/abc", "0123", "0123456789AB", "0123456789abcd"} {
		_, err = coalloc.Record(t.Context(), s.client, &coalloc.Request{ID: id, Parts: r.Parts})
		require.ErrorContains(t, err, "invalid id", id)
		require.ErrorContains(t, coalloc.Withdraw(t.Context(), s.client, id), "invalid id", id)
	}
}

func TestAWithdrawnIDIsNotSubmittedAnyMore(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	r := &coalloc.Request{ID: coalloc.NewID(), Parts: []coalloc.Part{part("a", marks)}}
	require.NoError(t, coalloc.Withdraw(t.Context(), s.client, r.ID))
	require.ErrorIs(t, coalloc.Withdraw(t.Context(), s.client, r.ID), coalloc.ErrRecorded)
	_, err := coalloc.Record(t.Context(), s.client, r)
	require.ErrorIs(t, err, coalloc.ErrRecorded)
	_, err = coalloc.Resume(t.Context(), s.client, r.ID, coalloc.Options{})
	require.ErrorIs(t, err, coalloc.ErrEnded)
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

func TestWhatAProcessLeftBehindIsRemovedWithTheNextEnsemble(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	folder := func(id string) string { return filepath.Join(s.home, "state", "ensembles", id) }
	ended := s.starts(part("a", "true"))
	ended.commits()
	ended.ends(coalloc.Done)
	require.NoError(t, ended.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder(ended.ID()), "key"), []byte("of a process that died"), 0o600))
	waiting := s.starts(part("a", "true"))
	require.NoDirExists(t, folder(ended.ID()))

	old, young := folder("0123456789ab"), folder("0123456789ac") // not on record
	for _, each := range []string{old, young} {
		require.NoError(t, os.Mkdir(each, 0o700))
	}
	require.NoError(t, os.Chtimes(old, time.Now(), time.Now().Add(-2*time.Hour)))
	s.starts(part("a", "true"))
	require.NoDirExists(t, old)
	require.DirExists(t, young, "it may be being recorded")
	require.FileExists(t, filepath.Join(folder(waiting.ID()), "key"), "it still runs")
}

func TestTheSecretsOfATargetThatWasLostAtTheEndAreRemoved(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(part("a", marks), part("b", marks, on("there")))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartCheckedIn)
	pass := e.pass("b")
	require.FileExists(t, pass)
	e.commits()
	isLost := false
	s.refuses(func(target string, words []string) error { // the first removal there fails with its connection
		if target == "there" && slices.Contains(words, "--remove") && !isLost {
			isLost = true
			return &remote.ConnectError{Host: target, Reason: remote.Disconnected, Err: io.ErrUnexpectedEOF}
		}
		return nil
	})
	e.ends(coalloc.Done)
	require.NoError(t, e.Close())
	require.True(t, isLost)
	require.NoFileExists(t, pass)
}
