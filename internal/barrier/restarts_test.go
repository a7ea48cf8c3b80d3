package barrier_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

// running returns an ensemble of two parts that were released.
func running(t *testing.T, kind barrier.Kind) *bench {
	t.Helper()
	b := begin(t, barrier.Ensemble{}, held("a", kind), held("b", kind))
	b.accept(1, 2)
	b.checkIn(1, 2)
	b.commit()
	b.requireState(barrier.Running)
	return b
}

func TestF14AJobThatRunsAgainAfterTheReleaseFails(t *testing.T) {
	again := barrier.ProcessEvent{Serial: 1, Incarnation: 2, Instance: "new", Reason: "of another incarnation"}
	for _, kind := range []barrier.ProcessKind{barrier.NewIncarnation, barrier.Refused, barrier.CheckedIn} {
		again.Kind = kind
		b := running(t, barrier.Interactive)
		b.apply(again)
		b.requirePart(1, barrier.PartFailed)
		require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 1}))
		b.requireState(barrier.Running)
		require.Len(t, b.sent, 2)
	}
	b := running(t, barrier.Required)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobRunning})
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobQueued})
	b.requirePart(1, barrier.PartReleased)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobQueued})
	b.requirePart(1, barrier.PartFailed)
	b.requireState(barrier.Ending)
	require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 2}))
}

func TestF15AJobThatRunsAgainBeforeTheReleaseChecksInAgain(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	again := barrier.ProcessEvent{Kind: barrier.NewIncarnation, Serial: 1, Incarnation: 2, Instance: "new"}
	b.apply(again)
	b.requirePart(1, barrier.PartActive)
	require.Zero(t, b.part(1).Present)
	b.apply(barrier.Commit{})
	b.requireState(barrier.Waiting)
	again.Kind, again.Complete = barrier.CheckedIn, false
	b.apply(again)
	again.Rank, again.Instance, again.Complete = 1, "new too", true
	b.apply(again)
	b.requirePart(1, barrier.PartCheckedIn)
	b.release()
	require.Equal(t, 2, b.sent[0].Incarnation)
}

func TestF15ARequeuedJobHasItsCheckInLimitAgain(t *testing.T) {
	spec := held("a", barrier.Required)
	spec.CheckInLimit = time.Minute
	b := begin(t, barrier.Ensemble{}, spec)
	b.accept(1)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobRunning})
	b.pass(50 * time.Second)
	for range 2 {
		b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobQueued, Reason: "node failure"})
	}
	b.requirePart(1, barrier.PartPending)
	b.pass(time.Hour)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobRunning})
	b.pass(59 * time.Second)
	b.requirePart(1, barrier.PartActive)
	b.pass(time.Second)
	b.requirePart(1, barrier.PartFailed)
}

// restart continues from the record.
func (b *bench) restart() *bench {
	b.t.Helper()
	again := &bench{t: b.t, now: b.now, machine: barrier.New(b.machine.Ensemble(), b.machine.Parts(), b.journal)}
	again.journal = b.journal
	again.apply(barrier.Start{})
	require.NoError(b.t, again.err)
	return again
}

func TestF16ARestartBeforeTheReleaseContinues(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Required), held("c", barrier.Interactive))
	b.accept(1)
	b.checkIn(1)
	b.apply(barrier.Commit{})
	b.apply(barrier.Delete{Labels: []string{"c"}})
	b = b.restart()
	b.requirePart(1, barrier.PartActive)
	require.Equal(t, 1, count(b.actions, barrier.FindJob{Serial: 2, Begin: true}), "it may have been submitted")
	require.Zero(t, count(b.all, barrier.Submit{Serial: 2}))
	require.Equal(t, 1, count(b.actions, barrier.Remove{Serial: 3, Reason: "deleted"}))
	admitted, isThere := find[barrier.Admit](b.actions)
	require.True(t, isThere)
	require.Equal(t, 1, admitted.Part.Serial)
	b.accept(2)
	b.checkIn(1, 2)
	b.release()
	b.requireState(barrier.Running)
}

func TestF16ARestartWhoseProcessesStayAwayEnds(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b = b.restart()
	b.pass(5 * time.Minute)
	b.requireState(barrier.Ending)
}

func TestF16LimitsThatPassWhileNobodyRunsTheEnsembleWaitForItsProcesses(t *testing.T) {
	var specs []barrier.Spec
	for _, label := range []string{"a", "b", "c"} {
		spec := held(label, barrier.Required)
		spec.StartLimit, spec.CheckInLimit = time.Minute, time.Minute
		specs = append(specs, spec)
	}
	b := begin(t, barrier.Ensemble{}, specs...)
	b.accept(1, 2, 3)
	b.checkIn(1)
	b.process(barrier.CheckedIn, 2, 0, false)
	b.now = b.now.Add(time.Hour)
	b = b.restart()
	b.pass(9 * time.Second)
	require.Zero(t, count(b.all, barrier.LaunchRelays{Serial: 1}))
	b.pass(time.Minute)
	b.checkIn(1, 2, 3)
	b.requirePart(3, barrier.PartCheckedIn)
	b.commit()
	b.requireState(barrier.Running)
}

func TestF16ACommitNowAfterARestartWaitsForThoseWhoWereThere(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Interactive))
	b.accept(1, 2)
	b.checkIn(1, 2)
	b = b.restart()
	b.checkIn(1)
	b.apply(barrier.Commit{Now: true})
	require.NoError(t, b.err)
	b.requireState(barrier.Waiting)
	b.checkIn(2)
	b.release()
	b.requireState(barrier.Running)
	require.Len(t, b.sent, 2)
}

func TestF16ACommitNowAfterARestartCancelsOnceTheGraceIsOver(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Interactive))
	b.accept(1, 2)
	b.checkIn(1, 2)
	b = b.restart()
	b.checkIn(1)
	b.apply(barrier.Commit{Now: true})
	b.pass(5*time.Minute - time.Second)
	b = b.restart() // the next process decides
	b.checkIn(1)
	b.pass(5*time.Minute - time.Second)
	b.requireState(barrier.Waiting)
	b.pass(time.Second)
	b.requireState(barrier.Ending)
	require.Equal(t, "not checked in: b", b.machine.Ensemble().Reason)
}

func TestF16ACommitNowAfterARestartCancelsIfOneIsMissingWhoWasNeverThere(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Required))
	b.accept(1, 2)
	b.checkIn(1)
	b = b.restart()
	b.apply(barrier.Commit{Now: true})
	require.NoError(t, b.err)
	b.checkIn(1)
	b.requireState(barrier.Ending)
	require.Equal(t, "not checked in: b", b.machine.Ensemble().Reason)
	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required)).restart()
	b.apply(barrier.Commit{Now: true})
	require.ErrorIs(t, b.err, barrier.ErrIncomplete, "nobody was there")
}

func TestF16ARequeuedJobIsNotAwaitedByACommitNowAfterARestart(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b = b.restart()
	b.apply(barrier.Commit{Now: true})
	require.NoError(t, b.err)
	b.apply(barrier.ProcessEvent{Kind: barrier.NewIncarnation, Serial: 1, Incarnation: 2, Instance: "new"})
	b.requireState(barrier.Ending)
}

func TestF17ARestartAfterTheReleaseOnlyMonitors(t *testing.T) {
	b := running(t, barrier.Required).restart()
	require.Equal(t, b.journal[1:], b.sent, "processes that come back get it")
	require.IsType(t, barrier.SendRelease{}, b.actions[len(b.actions)-1], "once the parts were admitted")
	b.apply(barrier.ReleaseSent{})
	b.requireState(barrier.Running)
	_, submitted := find[barrier.Submit](b.all)
	require.False(t, submitted)
	b.end(1, 0)
	b.end(2, 0)
	b.requireState(barrier.Done)
}

func TestF17ARestartFindsTheJobOfAPartThatWasReleasedBeforeItsSubmissionHadAResult(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.checkIn(1)
	b.commit()
	b.requirePart(1, barrier.PartReleased)
	b = b.restart()
	require.Equal(t, 1, count(b.actions, barrier.FindJob{Serial: 1}), "it is not submitted again")
	b.accept(1)
	b.end(1, 0)
	b.requireState(barrier.Done)
}

func TestF17ARestartBetweenTheRecordOfTheReleaseAndItsSendingSendsIt(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b.apply(barrier.Commit{})
	freeze, _ := find[barrier.Freeze](b.actions)
	b.apply(b.frozen(freeze))
	recorded, _ := find[barrier.RecordRelease](b.actions)
	b.journal = recorded.Rosters
	b = b.restart()
	b.requireState(barrier.Releasing)
	b.requirePart(1, barrier.PartReleased)
	require.Len(t, b.sent, 1)
	b.apply(barrier.ReleaseSent{})
	b.requireState(barrier.Running)
	b.apply(barrier.Commit{})
	require.ErrorIs(t, b.err, barrier.ErrReleased)
}

func TestF18ACancelThatFailsIsRepeatedAndReported(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.apply(barrier.Cancel{})
	b.apply(barrier.CancelResult{Serial: 1, Err: "no connection"})
	require.True(t, b.part(1).Unconfirmed)
	b.requireNotice(barrier.Warned, "a", "canceling the job: no connection")
	b.pass(5 * time.Second)
	require.Equal(t, 2, count(b.all, barrier.CancelJob{Serial: 1}))
	b.apply(barrier.CancelResult{Serial: 1})
	b.requireState(barrier.Ending)
	b = b.restart()
	b.pass(time.Second)
	require.Equal(t, 1, count(b.all, barrier.CancelJob{Serial: 1}))
	b.end(1, 1)
	b.requireState(barrier.Canceled)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.apply(barrier.Cancel{})
	b.pass(time.Hour)
	b.requireState(barrier.Canceled)
	require.True(t, b.part(1).Unconfirmed)
	b.requireNotice(barrier.Warned, "a", "no scheduler confirmed that the job is gone")
}
