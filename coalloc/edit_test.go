package coalloc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

func TestPartsAreAddedAndDeletedUntilTheCommit(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(part("a", marks), part("b", marks))
	e.reaches("b", coalloc.PartCheckedIn)
	require.NoError(t, e.Add(t.Context(), part("c", marks, on("there")), part("d", marks)))
	require.NoError(t, e.Delete(t.Context(), "b"))
	e.reaches("c", coalloc.PartCheckedIn)
	e.commits()
	status := e.ends(coalloc.Done)
	require.Len(t, status.Parts, 4)
	require.Equal(t, 4, status.Parts[3].Serial)
	require.Equal(t, coalloc.PartDeleted, status.Parts[1].State)
	require.Empty(t, s.marksOf("b"))
	for _, label := range []string{"a", "c", "d"} {
		require.Len(t, s.marksOf(label), 1)
	}
	s.isEmpty()
}

func TestASubstituteKeepsTheIndex(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks), part("b", marks))
	require.NoError(t, e.Substitute(t.Context(), "a", part("c", marks)))
	require.Equal(t, 0, e.part("c").Index)
	require.Equal(t, 3, e.part("c").Serial)
	e.commits()
	e.ends(coalloc.Done)
	require.Empty(t, s.marksOf("a"))
	require.Len(t, s.marksOf("c"), 1)
}

func TestAnEnsembleIsCanceled(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(part("a", marks), part("b", marks, on("there")))
	e.reaches("a", coalloc.PartCheckedIn)
	require.NoError(t, e.Cancel(t.Context()))
	status := e.ends(coalloc.Canceled)
	require.NotEmpty(t, status.Reason)
	require.Empty(t, s.marksOf("a"))
	s.isEmpty()
	require.NoError(t, e.Close())
	left, err := filepath.Glob(filepath.Join(s.home, ".local/state/rmctl/node/jobs/*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestPartsAreHeldUntilAllAreAccepted(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	var isDown atomic.Bool
	isDown.Store(true)
	released := make(chan struct{}, 10)
	wait := make(chan struct{})
	s.refuses(func(target string, words []string) error {
		if target == "there" && does(words, "submit") {
			<-wait
		}
		if does(words, "release") {
			released <- struct{}{}
		}
		return nil
	})
	e := s.startsRequest(&coalloc.Request{HoldFirst: true, Parts: []coalloc.Part{part("a", marks), part("b", marks, on("there"))}})
	e.reaches("a", coalloc.PartPending)
	require.Empty(t, released)
	close(wait)
	e.commits()
	e.ends(coalloc.Done)
	require.Len(t, released, 2)
	require.Len(t, s.marksOf("a"), 1)
}

func TestAPartThatDoesNotStartInTimeEndsTheEnsemble(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks, heldBack, func(p *coalloc.Part) { p.Start = 200 * time.Millisecond }))
	status := e.ends(coalloc.Failed)
	require.Contains(t, status.Reason, "did not start within 200ms")
	e.has("timeout a")
	s.isEmpty()
}

func TestAConnectionThatNeedsTheUserIsAnEventAndEndsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	s.breaks("there", &remote.ConnectError{Host: "there", Reason: remote.NotAuthenticated, Err: fmt.Errorf("the server asks for a code: %w", remote.ErrNobodyToAsk)})
	e := s.starts(part("a", marks), part("b", marks, on("there")))
	e.has("needs-user b")
	e.reaches("a", coalloc.PartCheckedIn)
	require.Equal(t, coalloc.PartSubmitting, e.part("b").State)
	s.breaks("there", nil)
	e.commits()
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("b"), 1)
}

func TestATargetThatCannotBeReachedIsAResultOfItsPart(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	s.breaks("there", &remote.ConnectError{Host: "there", Reason: remote.Refused, Err: errors.New("connection refused")})
	e := s.starts(part("a", marks), part("b", marks, on("there"), kind(coalloc.Interactive)), part("c", marks, on("nowhere"), kind(coalloc.Optional)))
	e.reaches("b", coalloc.PartFailed)
	e.reaches("c", coalloc.PartFailed)
	require.Contains(t, e.part("b").Reason, "connection refused")
	require.Contains(t, e.part("c").Reason, "nowhere")
	require.NoError(t, e.Delete(t.Context(), "b"))
	e.commits()
	e.ends(coalloc.Done)
}

func TestAPartThatCannotBeSubmittedSaysWhy(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks), part("b", marks, kind(coalloc.Optional), func(p *coalloc.Part) {
		p.Submission.Values = []job.Assignment{{Name: "no-such-attribute", Value: "1"}}
	}), part("c", marks, kind(coalloc.Optional), func(p *coalloc.Part) { p.Problem = "RSL attribute maxCpuTime: local has nothing for it" }))
	e.reaches("b", coalloc.PartFailed)
	e.reaches("c", coalloc.PartFailed)
	require.Contains(t, e.part("b").Reason, "no-such-attribute")
	require.Contains(t, e.part("c").Reason, "maxCpuTime")
	e.commits()
	e.ends(coalloc.Done)
}

func TestOthersReadAnEnsembleAndCannotEditIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks))
	control, err := coalloc.Open(t.Context(), s.newClient(), e.ID())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		status, err := control.Status(t.Context())
		return err == nil && status.Parts[0].State == coalloc.PartCheckedIn
	}, patience, 10*time.Millisecond)
	require.ErrorIs(t, control.Commit(t.Context(), false), coalloc.ErrNotRunning)
	e.commits()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	last := 0
	require.NoError(t, control.Events(ctx, 0, func(event coalloc.EnsembleEvent) error {
		last++
		require.Equal(t, last, event.Sequence)
		return nil
	}))
	require.Positive(t, last)
	e.ends(coalloc.Done)
	require.ErrorIs(t, control.Cancel(t.Context()), coalloc.ErrEnded)
	_, err = coalloc.Open(t.Context(), s.client, "0123456789ab")
	require.ErrorIs(t, err, coalloc.ErrUnknownEnsemble)
	_, err = coalloc.Resume(t.Context(), s.client, "../..", coalloc.Options{})
	require.ErrorIs(t, err, coalloc.ErrUnknownEnsemble)
}

func TestRequestsThatCannotRunAreNotRecorded(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	_, err := coalloc.Record(t.Context(), s.client, &coalloc.Request{})
	require.ErrorIs(t, err, coalloc.ErrNoParts)
	_, err = coalloc.Record(t.Context(), s.client, &coalloc.Request{Parts: []coalloc.Part{part("a", marks), part("a", marks)}})
	require.ErrorIs(t, err, coalloc.ErrDuplicateLabel)
	entries, err := os.ReadDir(filepath.Join(s.home, "state", "ensembles"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Empty(t, entries)
}
