package barrier_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

func TestF1OneSubmissionThatFailsStopsNoOther(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Interactive), held("b", barrier.Required))
	b.apply(barrier.SubmitRefused{Serial: 1, Reason: "no such queue"})
	b.accept(2)
	b.requireState(barrier.Waiting)
	require.Equal(t, "no such queue", b.part(1).Reason)
	b.requirePart(2, barrier.PartPending)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Interactive), held("b", barrier.Required))
	b.accept(1)
	b.apply(barrier.SubmitRefused{Serial: 2, Reason: "no such queue"})
	b.requireState(barrier.Ending)
	require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 1}))
	require.Zero(t, count(b.actions, barrier.CancelJob{Serial: 2}))
	b.apply(barrier.CancelResult{Serial: 1, Gone: true})
	b.requireState(barrier.Failed)
	require.Equal(t, `part "b": no such queue`, b.machine.Ensemble().Reason)
}

func TestF2TheEnsembleFailsIfAllSubmissionsFail(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Interactive), held("b", barrier.Optional))
	b.apply(barrier.SubmitRefused{Serial: 1, Reason: "down"}, barrier.SubmitRefused{Serial: 2, Reason: "down"})
	b.requireState(barrier.Failed)
	_, canceled := find[barrier.CancelJob](b.all)
	require.False(t, canceled, "there is nothing to cancel")
}

func TestF3AnUnknownSubmissionIsLookedForAndNotRepeated(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Required))
	b.accept(2)
	b.apply(barrier.SubmitUnknown{Serial: 1, Reason: "connection lost"})
	b.requirePart(1, barrier.PartSubmitting)
	b.pass(5 * time.Second)
	require.Equal(t, 1, count(b.actions, barrier.FindJob{Serial: 1, Begin: true}))
	b.apply(barrier.SubmitUnknown{Serial: 1, Reason: "connection lost"})
	b.pass(9 * time.Second)
	require.Equal(t, 1, count(b.all, barrier.FindJob{Serial: 1, Begin: true}), "the pause grows")
	b.pass(time.Second)
	b.accept(1)
	b.requirePart(1, barrier.PartPending)
	require.Equal(t, 1, count(b.all, barrier.Submit{Serial: 1}))

	b.apply(barrier.Cancel{Reason: "enough"})
	b.requireState(barrier.Ending)
}

func TestF3AnUnknownSubmissionIsCanceledOnceItIsFound(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.apply(barrier.SubmitUnknown{Serial: 1, Reason: "connection lost"})
	b.apply(barrier.Cancel{})
	require.Equal(t, 1, count(b.actions, barrier.FindJob{Serial: 1}), "it is not submitted any more")
	b.requireState(barrier.Ending)
	b.accept(1)
	require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 1}))
	b.apply(barrier.CancelResult{Serial: 1, Gone: true})
	b.requireState(barrier.Canceled)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.apply(barrier.SubmitUnknown{Serial: 1, Reason: "connection lost"}, barrier.Cancel{})
	b.apply(barrier.SubmitRefused{Serial: 1, Reason: "there is no job"})
	b.requireState(barrier.Canceled)
}

func TestF4ARequiredPartThatEndsBeforeTheReleaseEndsTheEnsemble(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Required))
	b.accept(1, 2)
	b.checkIn(2)
	b.end(1, 0)
	b.requireState(barrier.Ending)
	b.requirePart(1, barrier.PartFailed)
	b.requirePart(2, barrier.PartDeleted)
	require.Zero(t, count(b.actions, barrier.CancelJob{Serial: 1}))
	require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 2}))
	require.Equal(t, 1, count(b.actions, barrier.Remove{Serial: 2, Reason: `part "a": the job ended with exit code 0 before its release`}))
	b.end(2, 1)
	b.requireState(barrier.Failed)
	require.Empty(t, b.sent)
}

func TestF5AnInteractivePartThatEndsBeforeTheReleaseBlocksIt(t *testing.T) {
	b := begin(t, barrier.Ensemble{ID: "e1"}, held("a", barrier.Interactive), held("b", barrier.Required))
	b.accept(1, 2)
	b.checkIn(2)
	b.end(1, 1)
	b.requireNotice(barrier.PartChanged, "a", "the job ended with exit code 1 before its release")
	b.requireNotice(barrier.Warned, "a", "the release waits: rmctl coalloc delete e1 a goes on without the part, rmctl coalloc substitute e1 a FILE replaces it; "+
		"then rmctl coalloc commit e1 releases the ensemble, or rmctl coalloc cancel e1 ends it")
	b.apply(barrier.Commit{})
	require.NoError(t, b.err)
	b.requireState(barrier.Waiting)
	b.apply(barrier.Substitute{Label: "a", Part: held("a", barrier.Interactive)})
	require.NoError(t, b.err)
	require.Equal(t, 1, count(b.actions, barrier.Submit{Serial: 3}))
	require.Zero(t, b.part(3).Index)
	b.accept(3)
	b.apply(barrier.Delete{Labels: []string{"a"}})
	b.release()
	b.requireState(barrier.Running)
	require.Len(t, b.sent, 1)
}

func TestF6AFailedQueryEndsNothing(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	missing := barrier.JobSeen{Serial: 1, State: barrier.JobMissing}
	for range 5 {
		b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobUnread})
	}
	b.apply(missing)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobQueued, Reason: "Priority"})
	require.Equal(t, "Priority", b.part(1).Reason)
	b.apply(missing)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobUnread})
	b.requirePart(1, barrier.PartPending)
	b.apply(missing)
	b.requirePart(1, barrier.PartFailed)
	b.requireState(barrier.Failed)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobEnded})
	b.requirePart(1, barrier.PartPending)
	b.end(1, 1)
	b.requirePart(1, barrier.PartFailed)
}

func TestF7ACheckInMayComeBeforeTheSchedulerSaysThatTheJobRuns(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.checkIn(1) // even before the submit command has ended
	b.requirePart(1, barrier.PartCheckedIn)
	b.accept(1)
	b.requirePart(1, barrier.PartCheckedIn)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobQueued})
	b.requirePart(1, barrier.PartCheckedIn)
	b.commit()
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobQueued})
	b.requirePart(1, barrier.PartReleased)
}

func TestF8APartialCheckInDoesNotCount(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Interactive), held("b", barrier.Interactive))
	b.accept(1, 2)
	b.process(barrier.CheckedIn, 1, 0, false)
	b.requirePart(1, barrier.PartActive)
	require.Equal(t, 1, b.part(1).Present)
	b.end(1, 0)
	b.requirePart(1, barrier.PartFailed)
}

func TestF9ALostProcessMayComeBackAndTheReleaseWaits(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Required))
	b.accept(1, 2)
	b.checkIn(1)
	b.process(barrier.Lost, 1, 0, false)
	b.requirePart(1, barrier.PartActive)
	b.requireNotice(barrier.ProcessLost, "a", "process 0 on n1: the connection was lost")
	b.checkIn(2)
	b.apply(barrier.Commit{})
	b.requireState(barrier.Waiting)
	b.process(barrier.CheckedIn, 1, 0, true)
	b.release()
	b.requireState(barrier.Running)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b.process(barrier.Lost, 1, 0, false)
	b.pass(5 * time.Minute)
	b.requireState(barrier.Ending)
	require.Equal(t, `part "a": a lost process did not come back within 5m0s`, b.machine.Ensemble().Reason)
}

func TestF9AProcessThatIsLostDuringTheFreezeStopsTheRelease(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b.apply(barrier.Commit{})
	freeze, isFreeze := find[barrier.Freeze](b.actions)
	require.True(t, isFreeze)
	answer := b.frozen(freeze)
	b.process(barrier.Lost, 1, 0, false)
	require.Equal(t, 1, count(b.actions, barrier.Thaw{}))
	b.apply(answer)
	require.Empty(t, b.actions, "the answer is of a freeze that was given up")
	b.process(barrier.CheckedIn, 1, 0, true)
	freeze, isFreeze = find[barrier.Freeze](b.actions)
	require.True(t, isFreeze)
	b.apply(barrier.Frozen{Round: freeze.Round, Err: "process 1 of part a does not answer"})
	require.Equal(t, 1, count(b.actions, barrier.Thaw{}))
	b.pass(time.Second)
	b.release()
	b.requireState(barrier.Running)
}

func TestF10AProcessThatIsLostWhileTheReleaseIsRecordedIsReleased(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b.apply(barrier.Commit{})
	freeze, _ := find[barrier.Freeze](b.actions)
	b.apply(b.frozen(freeze))
	recorded, isDue := find[barrier.RecordRelease](b.actions)
	require.True(t, isDue)
	b.process(barrier.Lost, 1, 0, false)
	b.apply(barrier.ReleaseRecorded{Round: recorded.Round, Err: "disk full"})
	require.Empty(t, b.sent)
	b.pass(5 * time.Second)
	again, isDue := find[barrier.RecordRelease](b.actions)
	require.True(t, isDue)
	require.Equal(t, recorded.Rosters, again.Rosters, "it may be on record already")
	b.apply(barrier.ReleaseRecorded{Round: again.Round})
	require.Len(t, b.sent, 1)
	b.requirePart(1, barrier.PartReleased)
}

func TestF11AVoteAgainstTheStartIsAFailureWithItsReason(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Interactive), held("b", barrier.Interactive))
	b.accept(1, 2)
	b.process(barrier.Voted, 1, 1, false)
	b.requirePart(1, barrier.PartFailed)
	require.Equal(t, "a process refused to start: no disk space", b.part(1).Reason)
	b.requireNotice(barrier.VotedNo, "a", "process 1 on n1: no disk space")
	require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 1}))
	b.requireState(barrier.Waiting)
}

func TestF12ALateProcessOfADeletedPartIsAborted(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Interactive), held("b", barrier.Interactive))
	b.accept(1, 2)
	b.apply(barrier.Delete{Labels: []string{"a"}})
	require.Equal(t, 1, count(b.actions, barrier.Remove{Serial: 1, Reason: "deleted"}))
	b.apply(barrier.CancelResult{Serial: 1, Gone: true})
	require.False(t, b.part(1).Unconfirmed)
	b.process(barrier.Late, 1, 0, false)
	require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 1}), "its job is canceled again")
	require.Equal(t, 1, count(b.actions, barrier.Remove{Serial: 1, Reason: "deleted"}))
	b.process(barrier.Late, 1, 1, false)
	require.Zero(t, count(b.actions, barrier.CancelJob{Serial: 1}), "once for all of them")
	require.True(t, b.part(1).Unconfirmed)
}

func TestF13AProcessTooManyIsAnEventOfItsPart(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b.apply(barrier.ProcessEvent{Kind: barrier.Refused, Serial: 1, Incarnation: 1, Rank: 2, Instance: "x", Reason: "one process too many"})
	b.requirePart(1, barrier.PartCheckedIn)
	b.requireNotice(barrier.ProcessRefused, "a", "process 2: one process too many")
	require.Equal(t, "refused a process: one process too many", b.part(1).Reason)
}
