package follow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/follow"
)

func TestAWaitLooksSoonAfterAChangeAndThenAfterATwentiethOfTheTime(t *testing.T) {
	pace := follow.JobPace{Least: time.Second}
	for quiet, want := range map[time.Duration]time.Duration{
		0: 200 * time.Millisecond, 200 * time.Millisecond: 300 * time.Millisecond, 600 * time.Millisecond: 400 * time.Millisecond,
		time.Second: time.Second, 2 * time.Second: time.Second, 20 * time.Second: time.Second,
		time.Minute: 3 * time.Second, 200 * time.Second: 10 * time.Second, time.Hour: 10 * time.Second,
	} {
		require.Equal(t, want, pace.After(quiet), quiet)
	}
}

func TestAWaitLooksMoreOftenWhereTheSchedulerMayBeBusy(t *testing.T) {
	pace := follow.JobPace{Least: 200 * time.Millisecond, Busy: 1}
	require.Equal(t, 200*time.Millisecond, pace.After(time.Minute))
	require.Equal(t, 9*time.Second, pace.After(time.Hour))
}

func TestAPaceSlowsDownWhileNothingMoves(t *testing.T) {
	pace := follow.Pace{Shortest: time.Second, Longest: 2 * time.Second}
	require.Equal(t, time.Second, pace.Next(false))
	require.Equal(t, 1200*time.Millisecond, pace.Next(false))
	for range 10 {
		pace.Next(false)
	}
	require.Equal(t, 2*time.Second, pace.Next(false))
	require.Equal(t, time.Second, pace.Next(true))
}
