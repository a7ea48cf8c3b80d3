package poller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/polls"
)

func TestAPollQueriesAppliesAndPublishes(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	var steps []string
	r := w.request(0)
	r.Query = func(_ context.Context, turn *poller.Turn) error {
		steps = append(steps, "query for "+turn.Targets[0])
		turn.Jobs = 3
		return nil
	}
	r.Apply = func(_ context.Context, turn *poller.Turn, failure error) error {
		steps = append(steps, "apply")
		require.Equal(t, "a", p.polled(t).Holder, "its turn goes on")
		return failure
	}
	require.True(t, p.polls(t, r, poller.Wish{}))
	require.Equal(t, []string{"query for slurm", "apply"}, steps)
	require.Empty(t, p.polled(t).Holder)
	require.Equal(t, 3, p.polled(t).Jobs)
}

func TestQueriesBecomeFewerWithoutChanges(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	r, queries, moves := w.request(0), 0, false
	r.Apply = func(_ context.Context, turn *poller.Turn, failure error) error {
		queries++
		turn.Moved = moves
		return failure
	}
	follow := func(length time.Duration) (made int) {
		before := queries
		for end := w.time.Add(length); w.time.Before(end); w.time = w.time.Add(time.Second) {
			p.polls(t, r, poller.Wish{})
		}
		return queries - before
	}
	quiet := follow(time.Hour)
	require.Less(t, quiet, 150)
	require.Greater(t, quiet, 60)
	moves = true
	require.Greater(t, follow(2*time.Minute), 50)
}

func TestARecentAnswerIsSharedByAllProcesses(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, "a"), w.process(t, "b")
	r := w.request(0)
	r.Interval = 10 * time.Second
	require.True(t, a.polls(t, r, poller.Wish{}))
	require.False(t, b.polls(t, r, poller.Wish{}))
	require.Zero(t, w.pauses)
	require.True(t, b.polls(t, r, poller.Insist))
	require.NotZero(t, w.pauses, "who insists waits for the interval")
}

func TestFreshQueriesUseAtMostHalfOfTheTime(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	r := w.request(50 * time.Second)
	require.True(t, p.polls(t, r, poller.Wish{}))
	require.False(t, p.polls(t, r, poller.Wish{}))
	begun := w.time
	require.True(t, p.polls(t, r, poller.Insist))
	require.InDelta(t, 100, w.time.Sub(begun).Seconds(), 2)
}

func TestAFreshQueryReportsTheTimeOfTheNextListing(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	r := w.request(0)
	r.Interval = 5 * time.Minute
	require.True(t, p.polls(t, r, poller.Wish{}))
	outcome, err := p.Jobs(t.Context(), r, poller.Insist)
	require.NoError(t, err)
	require.False(t, outcome.Made)
	require.Equal(t, outcome.Last.Begun.Add(5*time.Minute), outcome.Due)
	require.Zero(t, w.pauses)
}

func TestAFailingQueryBacksOffAndIsThenPaused(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	r := w.request(0)
	r.Query = func(context.Context, *poller.Turn) error { return errDown }
	queries := 0
	for end := w.time.Add(10 * time.Minute); w.time.Before(end) && p.polled(t).Paused.IsZero(); w.time = w.time.Add(time.Second) {
		if outcome, err := p.Jobs(t.Context(), r, poller.Wish{}); err != nil {
			require.ErrorIs(t, err, errDown)
			queries++
		} else {
			require.Equal(t, errDown.Error(), outcome.Last.Error)
		}
	}
	require.Equal(t, 8, queries)
	require.False(t, p.polls(t, w.request(0), poller.Wish{}))
	require.True(t, p.polls(t, w.request(0), poller.Insist), "a user does not wait for the end of a back-off")
	require.Zero(t, p.polled(t).Paused)
}

func TestACanceledQueryIsNotCounted(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	ctx, giveUp := context.WithCancel(t.Context())
	r := w.request(0)
	r.Query = func(context.Context, *poller.Turn) error {
		giveUp()
		return ctx.Err()
	}
	_, err := p.Jobs(ctx, r, poller.Wish{})
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, p.polled(t).Failures)
	require.Empty(t, p.polled(t).Holder)
}

func TestTheTurnOfAKilledProcessPassesAtOnce(t *testing.T) {
	for holder, isTaken := range map[string]bool{"killed": true, "alive": false} {
		w := newWorld(t)
		p := w.process(t, "a")
		_, granted, err := p.store.Polls().Claim(t.Context(), polls.Claim{
			PollKey: ownJobs, Target: "slurm", Holder: holder, Lease: time.Minute, Now: w.time, Due: func(polls.Poll) bool { return true },
		})
		require.NoError(t, err)
		require.True(t, granted)
		begun := w.time
		require.True(t, p.polls(t, w.request(0), poller.Wish{}))
		require.Equal(t, isTaken, w.time.Sub(begun) < time.Second)
	}
}

// paced polls for a time while something changes each time, with query durations from a
// function. It returns the beginnings and durations of the queries.
func paced(t *testing.T, length time.Duration, share float64, took func(query int) time.Duration) (begun []time.Time, spent []time.Duration) {
	t.Helper()
	w := newWorld(t)
	p := w.process(t, "a")
	r := w.request(0)
	r.Share = share
	r.Query = func(_ context.Context, turn *poller.Turn) error {
		begun, spent = append(begun, w.time), append(spent, took(len(begun)))
		w.time = w.time.Add(spent[len(spent)-1])
		turn.AddBusy(1, begun[len(begun)-1])
		turn.Moved = true
		return nil
	}
	for end := w.time.Add(length); w.time.Before(end); w.time = w.time.Add(4 * time.Second) {
		p.polls(t, r, poller.Wish{})
	}
	return begun, spent
}

// within returns how long the queries that began in a time took together.
func within(begun []time.Time, spent []time.Duration, from, to time.Time) time.Duration {
	var all time.Duration
	for i, moment := range begun {
		if !moment.Before(from) && moment.Before(to) {
			all += spent[i]
		}
	}
	return all
}

func always(took time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return took }
}

// A wait for a thousand jobs gets quick answers even from a rather slow scheduler.
func TestAFewQueriesOnlyWaitForTheInterval(t *testing.T) {
	begun, _ := paced(t, 40*time.Second, 0, always(time.Second))
	require.GreaterOrEqual(t, len(begun), 8)
}

func TestASchedulerIsNotKeptBusyForLong(t *testing.T) {
	for name, took := range map[string]func(query int) time.Duration{
		"always for a second": always(time.Second),
		"always for long":     always(8 * time.Second),
		"one in two":          func(query int) time.Duration { return time.Duration(1+query%2*79) * 100 * time.Millisecond },
		"one in ten": func(query int) time.Duration {
			if query%10 == 0 {
				return 9 * time.Second
			}
			return 50 * time.Millisecond
		},
		"all after a while": func(query int) time.Duration {
			if query > 30 {
				return 8 * time.Second
			}
			return 100 * time.Millisecond
		},
	} {
		t.Run(name, func(t *testing.T) {
			begun, spent := paced(t, 2*time.Hour, 0, took)
			all := within(begun, spent, begun[0], begun[0].Add(2*time.Hour))
			require.LessOrEqual(t, all.Seconds()/(2*time.Hour).Seconds(), 0.055)
			require.Greater(t, all, time.Minute)
			for _, from := range begun {
				require.LessOrEqual(t, within(begun, spent, from, from.Add(10*time.Minute)), time.Minute, "a twentieth, and as much again after a quiet time")
			}
		})
	}
}

func TestADefinitionMayAllowThatItsSchedulerIsBusy(t *testing.T) {
	begun, _ := paced(t, 10*time.Minute, 1, always(2*time.Second))
	require.Greater(t, len(begun), 90)
	usual, _ := paced(t, 10*time.Minute, 0, always(2*time.Second))
	require.Less(t, len(usual), 40)
}
