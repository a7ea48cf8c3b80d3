package barrier_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

func TestF19ACommitNowCancelsIfSomeoneIsMissing(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Interactive))
	b.accept(1, 2)
	b.checkIn(1)
	b.apply(barrier.Commit{Now: true})
	require.ErrorIs(t, b.err, barrier.ErrIncomplete)
	b.requireState(barrier.Ending)
	require.Equal(t, "not checked in: b", b.machine.Ensemble().Reason)
	b.end(1, 1)
	b.end(2, 1)
	b.requireState(barrier.Canceled)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b.apply(barrier.Commit{Now: true})
	require.NoError(t, b.err)
	b.process(barrier.Lost, 1, 0, false)
	b.requireState(barrier.Ending)
}

func TestF20EditsAfterTheReleaseOrOfUnknownPartsHaveNoEffect(t *testing.T) {
	b := running(t, barrier.Required)
	add := barrier.Add{Parts: []barrier.Spec{held("c", barrier.Required)}}
	for _, input := range []barrier.Input{add, barrier.Delete{Labels: []string{"a"}}, barrier.Commit{}, barrier.Substitute{Label: "a", Part: held("c", barrier.Required)}} {
		b.apply(input)
		require.ErrorIs(t, b.err, barrier.ErrReleased)
		require.Empty(t, b.actions)
	}
	b.end(1, 0)
	b.end(2, 0)
	b.apply(add)
	require.ErrorIs(t, b.err, barrier.ErrEnded)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.apply(barrier.Delete{Labels: []string{"a", "x"}})
	require.ErrorIs(t, b.err, barrier.ErrUnknownPart)
	b.apply(barrier.Substitute{Label: "x", Part: held("y", barrier.Required)})
	require.ErrorIs(t, b.err, barrier.ErrUnknownPart)
	b.apply(barrier.Add{Parts: []barrier.Spec{held("b", barrier.Required), held("a", barrier.Required)}})
	require.ErrorIs(t, b.err, barrier.ErrDuplicateLabel)
	require.Empty(t, b.actions)
	require.Len(t, b.machine.Parts(), 1)
}

func TestF20AnEditDuringTheFreezeIsDoneFirst(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b.apply(barrier.Commit{})
	b.apply(barrier.Add{Parts: []barrier.Spec{held("b", barrier.Required)}})
	require.NoError(t, b.err)
	require.Equal(t, 1, count(b.actions, barrier.Thaw{}))
	b.accept(2)
	require.Equal(t, 1, b.part(2).Index)
	b.checkIn(2)
	freeze, _ := find[barrier.Freeze](b.actions)
	b.apply(b.frozen(freeze))
	b.apply(barrier.Delete{Labels: []string{"b"}})
	require.ErrorIs(t, b.err, barrier.ErrReleased, "the release may be on record")
}

func TestF21AWallTimeThatIsUsedUpWhileWaitingIsAWarning(t *testing.T) {
	spec := held("a", barrier.Required)
	spec.WallTime = time.Hour
	b := begin(t, barrier.Ensemble{CommitLimit: 2 * time.Hour}, spec)
	b.requireNotice(barrier.Warned, "a", "the commit limit of 2h0m0s exceeds the wall time of 1h0m0s")
	b.accept(1)
	b.checkIn(1)
	b.pass(54 * time.Minute)
	b.requireNotice(barrier.Warned, "a", "6m0s of its wall time of 1h0m0s are left")
	b.requirePart(1, barrier.PartCheckedIn)
}

func TestF21AWallTimeIsKnownOnceTheJobIsSubmitted(t *testing.T) {
	b := begin(t, barrier.Ensemble{CommitLimit: 2 * time.Hour}, held("a", barrier.Required))
	b.apply(barrier.Submitted{Serial: 1, JobID: "7", WallTime: time.Hour})
	b.requireNotice(barrier.Warned, "a", "the commit limit of 2h0m0s exceeds the wall time of 1h0m0s")
	late := held("b", barrier.Required)
	late.WallTime = 90 * time.Minute
	b.apply(barrier.Add{Parts: []barrier.Spec{late}})
	b.requireNotice(barrier.Warned, "b", "the commit limit of 2h0m0s exceeds the wall time of 1h30m0s")
	b.apply(barrier.Submitted{Serial: 2, JobID: "8", WallTime: time.Hour})
	require.Equal(t, 90*time.Minute, b.part(2).WallTime)
}

func TestF22AnEndedPartIsRemovedSoThatSendersNotice(t *testing.T) {
	b := running(t, barrier.Interactive)
	b.end(1, 0)
	require.Equal(t, 1, count(b.actions, barrier.Remove{Serial: 1, Reason: "the job has ended"}))
	b.requirePart(1, barrier.PartDone)
}

func TestF23OnlyTheOwnClockCounts(t *testing.T) {
	spec := held("a", barrier.Required)
	spec.StartLimit, spec.CheckInLimit = time.Minute, time.Minute
	b := begin(t, barrier.Ensemble{CommitLimit: time.Hour}, spec)
	b.pass(30 * time.Second)
	b.accept(1)
	require.Equal(t, b.now, b.part(1).Submitted)
	require.Equal(t, b.now.Add(time.Minute), b.machine.Deadline())
	b.pass(59 * time.Second)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobRunning})
	require.Equal(t, b.now, b.part(1).Active)
	b.pass(time.Minute)
	b.requireState(barrier.Ending)
}

func TestF24RelaysAreStartedIfAJobRunsAndDoesNotCheckIn(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Required))
	b.accept(1, 2)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobRunning}, barrier.JobSeen{Serial: 2, State: barrier.JobRunning})
	b.checkIn(2)
	b.pass(time.Hour)
	require.Equal(t, 1, count(b.all, barrier.LaunchRelays{Serial: 1}))
	require.Zero(t, count(b.all, barrier.LaunchRelays{Serial: 2}))
	b.requireNotice(barrier.Warned, "a", "running for 10s, 0 of 2 processes checked in: starting relays on its nodes")
	b.apply(barrier.RelaysFailed{Serial: 1, Reason: "the definition has no x:on-nodes"})
	b.requireNotice(barrier.Warned, "a", "its processes cannot reach rmctl, and relays did not start: the definition has no x:on-nodes")
	b.requireState(barrier.Waiting)
}

func TestF25AnOptionalPartThatIsLateIsReleasedAtOnce(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Optional))
	b.accept(1, 2)
	b.checkIn(1)
	b.commit()
	b.requireState(barrier.Running)
	b.checkIn(2)
	b.release()
	b.requirePart(2, barrier.PartReleased)
	require.Len(t, b.sent, 2)
	require.Equal(t, 2, b.journal[2].Serial)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Optional))
	b.accept(1, 2)
	b.checkIn(1)
	b.commit()
	b.end(1, 0)
	b.requirePart(2, barrier.PartDeleted)
	require.Equal(t, 1, count(b.actions, barrier.CancelJob{Serial: 2}), "there is nothing left to join")
	b.end(2, 0)
	b.requireState(barrier.Done)
}

func TestF26WithoutPartsThereIsNoRelease(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.apply(barrier.Delete{Labels: []string{"a"}})
	b.requireState(barrier.Waiting)
	b.apply(barrier.Commit{})
	require.ErrorIs(t, b.err, barrier.ErrNoParts)
	b.end(1, 1)
	b.requireState(barrier.Canceled)

	b = begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.apply(barrier.Commit{})
	b.apply(barrier.Delete{Labels: []string{"a"}})
	b.requireState(barrier.Ending)
}

// recording returns an ensemble of two parts that wait for the record of their release.
func recording(t *testing.T, kind barrier.Kind) (*bench, barrier.RecordRelease) {
	t.Helper()
	b := begin(t, barrier.Ensemble{}, held("a", kind), held("b", kind))
	b.accept(1, 2)
	b.checkIn(1, 2)
	b.apply(barrier.Commit{})
	freeze, _ := find[barrier.Freeze](b.actions)
	b.apply(b.frozen(freeze))
	recorded, isDue := find[barrier.RecordRelease](b.actions)
	require.True(t, isDue)
	return b, recorded
}

func TestAnEnsembleThatEndsWhileItsReleaseIsRecordedIsNotReleased(t *testing.T) {
	b, recorded := recording(t, barrier.Required)
	b.apply(barrier.Cancel{})
	require.Zero(t, count(b.actions, barrier.Thaw{}), "what is on record may be the release")
	b.apply(barrier.ReleaseRecorded{Round: recorded.Round})
	require.Empty(t, b.sent)
	b.requireState(barrier.Ending)
}

func TestAPartThatRunsAgainWhileItsReleaseIsRecordedIsNotReleased(t *testing.T) {
	b, recorded := recording(t, barrier.Interactive)
	b.apply(barrier.ProcessEvent{Kind: barrier.NewIncarnation, Serial: 1, Incarnation: 2, Instance: "new"})
	b.apply(barrier.ReleaseRecorded{Round: recorded.Round})
	b.requirePart(1, barrier.PartFailed)
	require.Equal(t, []int{2}, []int{b.sent[0].Serial})
	require.Len(t, b.sent, 1)

	b, recorded = recording(t, barrier.Required)
	b.apply(barrier.ProcessEvent{Kind: barrier.NewIncarnation, Serial: 1, Incarnation: 2, Instance: "new"})
	b.apply(barrier.ReleaseRecorded{Round: recorded.Round})
	require.Empty(t, b.sent, "all required parts or none")
	b.requireState(barrier.Ending)
}

func TestTheAnswerOfAnOlderFreezeIsIgnored(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required))
	b.accept(1)
	b.checkIn(1)
	b.apply(barrier.Commit{})
	older, _ := find[barrier.Freeze](b.actions)
	answer := b.frozen(older)
	b.process(barrier.Lost, 1, 0, false)
	b.process(barrier.CheckedIn, 1, 0, true)
	newer, isFreeze := find[barrier.Freeze](b.actions)
	require.True(t, isFreeze)
	b.apply(answer)
	require.Empty(t, b.actions)
	b.apply(b.frozen(newer))
	_, isDue := find[barrier.RecordRelease](b.actions)
	require.True(t, isDue)
}
