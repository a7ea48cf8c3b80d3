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

func TestQueriesBecomeFewerWhileNothingMoves(t *testing.T) {
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
	require.Less(t, quiet, 120)
	require.Greater(t, quiet, 60)
	moves = true
	require.Greater(t, follow(2*time.Minute), 50)
}

func TestAnAnswerOfAMomentAgoIsGoodForAllProcesses(t *testing.T) {
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

func TestWhoInsistsLearnsWhenASlowSchedulerMayBeQueried(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	r := w.request(10 * time.Second)
	require.True(t, p.polls(t, r, poller.Wish{}))
	outcome, err := p.Jobs(t.Context(), r, poller.Insist)
	require.NoError(t, err)
	require.False(t, outcome.Made)
	require.Equal(t, outcome.Last.Begun.Add(20*outcome.Last.Took), outcome.Due)
	require.GreaterOrEqual(t, outcome.Last.Took, 10*time.Second)
	require.Zero(t, w.pauses)
}

func TestAQueryThatFailsIsMadeLessOftenAndThenPaused(t *testing.T) {
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

func TestWhoGivesUpCountsForNothing(t *testing.T) {
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

func TestTheTurnOfAProcessThatWasKilledIsTakenAtOnce(t *testing.T) {
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

// paced polls with something that moves each time, while each query takes as long as a
// function says.
func paced(t *testing.T, w *world, took func(query int) time.Duration) (look func(), queries *int, spent func() time.Duration) {
	t.Helper()
	p := w.process(t, "a")
	queries = new(int)
	var all, last time.Duration
	r := w.request(0)
	r.Query = func(_ context.Context, turn *poller.Turn) error {
		*queries++
		begun := w.time
		last = took(*queries)
		all += last
		w.time = w.time.Add(last)
		turn.AddBusy(1, begun)
		turn.Moved = true
		return nil
	}
	look = func() {
		p.polls(t, r, poller.Wish{})
		w.time = w.time.Add(4 * time.Second)
	}
	return look, queries, func() time.Duration { return all - last }
}

// A controller that is away for less than its commands try to reach it makes one query slow.
func TestAQueryThatWaitedForItsSchedulerDelaysTheNextOneForASmallTime(t *testing.T) {
	w, slow := newWorld(t), 0 // the query that takes long
	look, queries, _ := paced(t, w, func(query int) time.Duration {
		if query == slow {
			return 8 * time.Second
		}
		return 10 * time.Millisecond
	})
	for range 60 {
		look()
	}
	slow = *queries + 1
	for *queries < slow {
		look()
	}
	begun := w.time
	for *queries == slow {
		look()
	}
	require.Less(t, w.time.Sub(begun), 20*time.Second)
}

func TestASchedulerIsNotKeptBusyByQueriesThatAreSlowNowAndThen(t *testing.T) {
	for name, took := range map[string]func(query int) time.Duration{
		"one in two": func(query int) time.Duration { return time.Duration(1+query%2*79) * 100 * time.Millisecond },
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
			w := newWorld(t)
			look, _, spent := paced(t, w, took)
			begun := w.time
			for w.time.Sub(begun) < 15*time.Minute {
				look()
			}
			require.LessOrEqual(t, float64(spent())/float64(w.time.Sub(begun)), 0.0505, "with the rest after the last one still to come")
			require.Greater(t, spent(), 10*time.Second)
		})
	}
}

func TestAQueryThatIsSlowAtFirstIsNoOutlier(t *testing.T) {
	w := newWorld(t)
	look, queries, _ := paced(t, w, func(int) time.Duration { return 8 * time.Second })
	look()
	begun := w.time
	for *queries == 1 {
		look()
	}
	require.Greater(t, w.time.Sub(begun), 2*time.Minute)
}
