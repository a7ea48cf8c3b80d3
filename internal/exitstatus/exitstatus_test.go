package exitstatus_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/exitstatus"
)

func TestCodesAboveABaseAreSignals(t *testing.T) {
	for text, want := range map[string][2]string{"0": {"0", ""}, " 3 ": {"3", ""}, "137": {"137", "9"}, "265": {"265", "9"}, "128": {"128", ""}, "-1": {"-1", ""}} {
		code, signal, isStatus := exitstatus.Read(text, []int{128, 256})
		require.True(t, isStatus, text)
		require.Equal(t, want, [2]string{code, signal}, text)
	}
	_, _, isStatus := exitstatus.Read("none", nil)
	require.False(t, isStatus)
}

func TestWaitStatusesHaveACodeOrASignal(t *testing.T) {
	for text, want := range map[string][2]string{"0": {"0", ""}, "768": {"3", ""}, "9": {"", "9"}, "139": {"", "11"}} {
		code, signal, isStatus := exitstatus.ReadWait(text)
		require.True(t, isStatus, text)
		require.Equal(t, want, [2]string{code, signal}, text)
	}
	_, _, isStatus := exitstatus.ReadWait("-1")
	require.False(t, isStatus)
}
