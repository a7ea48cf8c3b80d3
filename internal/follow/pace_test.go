package follow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/follow"
)

func TestAWaitQueriesSoonAfterAChangeAndThenAtFivePercentOfTheTime(t *testing.T) {
	pace := follow.JobPace{Least: time.Second}
	for quiet, want := range map[time.Duration]time.Duration{
		0: 200 * time.Millisecond, 200 * time.Millisecond: 300 * time.Millisecond, 600 * time.Millisecond: 400 * time.Millisecond,
		time.Second: time.Second, 2 * time.Second: time.Second, 20 * time.Second: time.Second,
		time.Minute: 3 * time.Second, 200 * time.Second: 10 * time.Second, time.Hour: 10 * time.Second,
	} {
		require.Equal(t, want, pace.After(quiet), quiet)
	}
}

func TestAWaitQueriesMoreOftenIfTheDefinitionAllowsIt(t *testing.T) {
	pace := follow.JobPace{Least: 200 * time.Millisecond, Busy: 1}
	require.Equal(t, 200*time.Millisecond, pace.After(time.Minute))
	require.Equal(t, 9*time.Second, pace.After(time.Hour))
}

func TestAPaceSlowsDownWithoutChanges(t *testing.T) {
	pace := follow.Pace{Shortest: time.Second, Longest: 2 * time.Second}
	require.Equal(t, time.Second, pace.Next(false))
	require.Equal(t, 1200*time.Millisecond, pace.Next(false))
	for range 10 {
		pace.Next(false)
	}
	require.Equal(t, 2*time.Second, pace.Next(false))
	require.Equal(t, time.Second, pace.Next(true))
}

func TestAScheduleCountsTheQueriesOfOtherProcesses(t *testing.T) {
	changed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(milliseconds int) time.Time { return changed.Add(time.Duration(milliseconds) * time.Millisecond) }
	for name, c := range map[string]struct {
		now, queried int // milliseconds after the change; no query before it if negative
		isDue        bool
		next         int // when the due job was queried at once
	}{
		"at once":                                   {now: 0, queried: -1000, isDue: false, next: 200},
		"0.2 s after the change":                    {now: 200, queried: -1000, isDue: true, next: 500},
		"another process was a moment earlier":      {now: 520, queried: 510, isDue: false, next: 1000},
		"another process was one look earlier":      {now: 1010, queried: 510, isDue: true, next: 1760},
		"the answer took until after the next look": {now: 1770, queried: 1020, isDue: true, next: 2000},
		"the clock was set back":                    {now: 600, queried: 5000, isDue: true, next: 1000},
		"no change for a minute":                    {now: 60_000, queried: 57_100, isDue: true, next: 63_000},
	} {
		schedule := follow.Schedule{Pace: follow.JobPace{Least: 750 * time.Millisecond}, Now: after(c.now)}
		require.Equal(t, c.isDue, schedule.IsDue(changed, after(c.queried)), name)
		require.Equal(t, after(c.next), schedule.Next(after(c.now)), name)
	}
}

func TestAScheduleQueriesWhenTheFirstJobIsDue(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	schedule := follow.Schedule{Pace: follow.JobPace{Least: 750 * time.Millisecond}, Now: now}
	require.True(t, schedule.IsDue(now.Add(-time.Minute), now.Add(-3*time.Second)))
	require.False(t, schedule.IsDue(now.Add(-10*time.Second), now.Add(-500*time.Millisecond)))
	require.Equal(t, now.Add(250*time.Millisecond), schedule.Next(now))
}
