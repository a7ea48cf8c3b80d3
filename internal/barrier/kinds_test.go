package barrier_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

func TestARequiredPartThatFailsAfterTheReleaseEndsTheEnsemble(t *testing.T) {
	b := running(t, barrier.Required)
	b.end(1, 3)
	b.requirePart(1, barrier.PartDone)
	b.requireState(barrier.Ending)
	require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 2}))
	b.end(2, 1)
	b.requireState(barrier.Failed)
	require.Equal(t, `part "a": the job ended with exit code 3`, b.machine.Ensemble().Reason)

	b = running(t, barrier.Interactive)
	b.end(1, 3)
	b.requireState(barrier.Running)
}

func TestAnOptionalPartThatFailsHasNoEffect(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Optional), held("b", barrier.Required))
	b.accept(1, 2)
	b.end(1, 1)
	b.checkIn(2)
	b.commit()
	b.requireState(barrier.Running)
	b.end(2, 0)
	b.requireState(barrier.Done)
}

func TestLimitsOfInteractiveAndOptionalPartsAreEvents(t *testing.T) {
	for _, kind := range []barrier.Kind{barrier.Interactive, barrier.Optional} {
		spec := held("a", kind)
		spec.StartLimit = time.Minute
		b := begin(t, barrier.Ensemble{}, spec, held("b", barrier.Required))
		b.accept(1, 2)
		b.pass(time.Hour)
		b.requireNotice(barrier.TimedOut, "a", "the job did not start within 1m0s")
		b.requirePart(1, barrier.PartPending)
		b.checkIn(1)
		b.requirePart(1, barrier.PartCheckedIn)
	}
}

func TestTheCommitLimitEndsTheEnsemble(t *testing.T) {
	b := begin(t, barrier.Ensemble{CommitLimit: time.Hour}, held("a", barrier.Interactive))
	b.accept(1)
	b.pass(time.Hour)
	b.requireState(barrier.Ending)
	b.requireNotice(barrier.TimedOut, "", "not released within 1h0m0s")
	b.end(1, 1)
	b.requireState(barrier.Failed)
}

func TestLimitsWaitWhileAConnectionNeedsTheUser(t *testing.T) {
	spec := held("a", barrier.Required)
	spec.StartLimit = 10 * time.Minute
	b := begin(t, barrier.Ensemble{CommitLimit: 15 * time.Minute}, spec)
	b.accept(1)
	b.pass(5 * time.Minute)
	b.apply(barrier.Connection{Serial: 1, NeedsUser: true, Text: "log in to big"})
	b.requireNotice(barrier.NeedsUser, "a", "log in to big")
	b.pass(time.Hour)
	b.requirePart(1, barrier.PartPending)
	b.apply(barrier.Connection{Serial: 1})
	b.pass(4 * time.Minute)
	b.requirePart(1, barrier.PartPending)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobRunning})
	b.pass(5 * time.Minute)
	b.requirePart(1, barrier.PartActive)
	b.pass(time.Minute)
	b.requireState(barrier.Ending)
	require.Equal(t, "not released within 15m0s", b.machine.Ensemble().Reason)
}

func TestOfASetOfAlternativesEnoughAreReleased(t *testing.T) {
	set := barrier.Ensemble{Sets: []barrier.Set{{Labels: []string{"a", "b", "c"}, AtLeast: 1}}}
	b := begin(t, set, held("a", barrier.Required), held("b", barrier.Required), held("c", barrier.Required), held("d", barrier.Required))
	b.accept(1, 2, 3, 4)
	b.end(1, 1)
	b.requireState(barrier.Waiting)
	b.checkIn(4)
	b.apply(barrier.Commit{})
	b.requireState(barrier.Waiting)
	b.checkIn(3)
	b.release()
	b.requirePart(3, barrier.PartReleased)
	b.requirePart(2, barrier.PartDeleted)
	b.requireState(barrier.Running)
	require.Equal(t, 1, count(b.all, barrier.CancelJob{Serial: 2}))

	b = begin(t, set, held("a", barrier.Required), held("b", barrier.Required), held("c", barrier.Required))
	b.accept(1, 2, 3)
	b.end(1, 1)
	b.end(2, 1)
	b.requireState(barrier.Waiting)
	b.end(3, 1)
	b.requireState(barrier.Failed)
}

func TestHoldsAreReleasedOnceAllPartsWereAccepted(t *testing.T) {
	b := begin(t, barrier.Ensemble{HoldFirst: true}, held("a", barrier.Interactive), held("b", barrier.Required), held("c", barrier.Required))
	require.Equal(t, 1, count(b.actions, barrier.Submit{Serial: 1, OnHold: true}))
	b.apply(barrier.Submitted{Serial: 2, JobID: "2", Held: true}, barrier.Submitted{Serial: 3, JobID: "3"})
	b.apply(barrier.SubmitRefused{Serial: 1, Reason: "no such queue"})
	require.Zero(t, count(b.all, barrier.ReleaseHold{Serial: 2}))
	b.apply(barrier.Substitute{Label: "a", Part: held("a", barrier.Required)})
	require.Equal(t, 1, count(b.actions, barrier.Submit{Serial: 4, OnHold: true}))
	b.apply(barrier.Submitted{Serial: 4, JobID: "4", Held: true})
	require.Equal(t, 1, count(b.actions, barrier.ReleaseHold{Serial: 2}))
	require.Equal(t, 1, count(b.actions, barrier.ReleaseHold{Serial: 4}))
	require.Zero(t, count(b.actions, barrier.ReleaseHold{Serial: 3}))
	b.apply(barrier.HoldResult{Serial: 2, Err: "no connection"}, barrier.HoldResult{Serial: 4})
	require.True(t, b.part(2).Held)
	b.pass(5 * time.Second)
	require.Equal(t, 2, count(b.all, barrier.ReleaseHold{Serial: 2}))
	again := b.restart()
	require.Equal(t, 1, count(again.actions, barrier.ReleaseHold{Serial: 2}))
	b.apply(barrier.HoldResult{Serial: 2})
	require.False(t, b.part(2).Held)
}

func TestProcessesCauseALimitedNumberOfEvents(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	before := len(b.notices)
	for range 3000 {
		b.process(barrier.Refused, 1, 0, false)
	}
	require.Len(t, b.notices, before+1000)
}
