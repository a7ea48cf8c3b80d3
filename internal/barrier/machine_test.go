package barrier_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

func TestPartsAreSubmittedHeldAndReleasedTogether(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, held("a", barrier.Required), held("b", barrier.Interactive))
	require.IsType(t, barrier.Record{}, b.actions[0], "the intent goes on record first")
	require.Equal(t, 1, count(b.actions, barrier.Submit{Serial: 1}))
	require.Equal(t, 1, count(b.actions, barrier.Submit{Serial: 2}))
	b.requireState(barrier.Submitting)
	b.accept(1, 2)
	b.requireState(barrier.Waiting)
	b.checkIn(1)
	b.requirePart(1, barrier.PartCheckedIn)
	b.apply(barrier.Commit{})
	require.NoError(t, b.err)
	require.Empty(t, b.sent)
	b.checkIn(2)
	b.release()
	b.requireState(barrier.Running)
	require.Equal(t, []barrier.Roster{{}, {Serial: 1, Incarnation: 1, Instances: []string{"1-0", "1-1"}}, {Serial: 2, Incarnation: 1, Instances: []string{"2-0", "2-1"}}}, b.journal)
	require.Equal(t, b.journal[1:], b.sent)
	b.end(1, 0)
	b.end(2, 3)
	b.requireState(barrier.Done)
	b.requirePart(2, barrier.PartDone)
	require.True(t, b.machine.Deadline().IsZero())
	for i, notice := range b.notices {
		require.Equal(t, i+1, notice.Sequence)
	}
}

func TestAPartWithoutAGateIsReleasedOnRecordBeforeItIsSubmitted(t *testing.T) {
	b := begin(t, barrier.Ensemble{}, open("a", barrier.Required), held("b", barrier.Required))
	require.Zero(t, count(b.actions, barrier.Submit{Serial: 1}))
	b.record()
	require.Equal(t, []barrier.Roster{{Serial: 1}}, b.journal)
	require.Equal(t, 1, count(b.actions, barrier.Submit{Serial: 1}))
	b.accept(1, 2)
	b.apply(barrier.JobSeen{Serial: 1, State: barrier.JobRunning})
	b.requirePart(1, barrier.PartReleased)
	b.end(1, 0)
	b.requirePart(1, barrier.PartDone)
	b.checkIn(2)
	b.commit()
	b.requireState(barrier.Running)
}
