package state_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/state"
)

func TestEveryDetailIsParsedAndHasAPrimaryState(t *testing.T) {
	for _, detail := range state.All() {
		parsed, known := state.Parse(string(detail))
		require.True(t, known, detail)
		require.Equal(t, detail, parsed)
		if detail != state.Undetermined {
			require.NotEqual(t, state.Undetermined, detail.Primary(), detail)
		}
	}
}

func TestTextsOutsideTheVocabularyAreRefused(t *testing.T) {
	for _, text := range []string{"", "null", "HELD", "KILLING", "running", "RUNNING "} {
		detail, known := state.Parse(text)
		require.False(t, known, text)
		require.Equal(t, state.Undetermined, detail, text)
	}
}

func TestNextFollowsTheSchedulerButKeepsEndings(t *testing.T) {
	cases := []struct{ current, seen, want state.Detail }{
		{state.Submitted, state.QueuedActive, state.QueuedActive},
		{state.Running, state.UserOnHold, state.UserOnHold},
		{state.Running, state.QueuedActive, state.QueuedActive},
		{state.UserOnHold, state.QueuedActive, state.QueuedActive},
		{state.Suspended, state.Running, state.Running},
		{state.Suspended, state.UserSuspended, state.UserSuspended},
		{state.Running, state.Undetermined, state.Running},
		{state.Running, "", state.Running},
		{"", state.Running, state.Running},
		{state.Completed, state.Failed, state.Failed},
		{state.Failed, state.Canceled, state.Failed},
		{state.Failed, state.Completed, state.Failed},
		{state.Completed, state.Running, state.Completed},
		{state.Canceled, state.OutputReady, state.OutputReady},
		{state.OutputReady, state.Failed, state.OutputReady},
	}
	for _, c := range cases {
		require.Equal(t, c.want, state.Next(c.current, c.seen), "%s then %s", c.current, c.seen)
	}
}

func TestOnlyCompletedStatesHaveEnded(t *testing.T) {
	ended := map[state.Detail]bool{state.Completed: true, state.Failed: true, state.Canceled: true, state.OutputReady: true}
	for _, detail := range state.All() {
		require.Equal(t, ended[detail], detail.Ended(), detail)
	}
}
