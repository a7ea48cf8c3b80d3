package polls_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/jobstore"
)

const lease = time.Minute

var slurm = polls.PollKey{Kind: polls.OwnJobs, Key: "slurm over local"}

func claimAt(holder string, after time.Duration) polls.Claim {
	now := noon.Add(after)
	return polls.Claim{
		PollKey: slurm, Target: "slurm", Holder: holder, Lease: lease, Now: now,
		Due: func(last polls.Poll) bool { return !now.Before(last.Begun.Add(10 * time.Second)) },
	}
}

func claim(t *testing.T, store *jobstore.Store, claim polls.Claim) bool {
	t.Helper()
	_, granted, err := store.Polls().Claim(t.Context(), claim)
	require.NoError(t, err)
	return granted
}

func finish(t *testing.T, store *jobstore.Store, claim polls.Claim, poll polls.Poll) {
	t.Helper()
	require.NoError(t, store.Polls().Finish(t.Context(), claim, poll, nil))
}

func TestOnlyOneProcessIsGrantedAQuery(t *testing.T) {
	directory := t.TempDir()
	openStore(t, directory)
	var granted atomic.Int64
	var asking sync.WaitGroup
	for _, holder := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		store := openStore(t, directory)
		asking.Go(func() {
			_, mine, err := store.Polls().Claim(t.Context(), claimAt(holder, 0))
			if err != nil {
				t.Error(err)
			}
			if mine {
				granted.Add(1)
			}
		})
	}
	asking.Wait()
	require.EqualValues(t, 1, granted.Load())
}

func TestAQueryThatIsNotDueIsNotGranted(t *testing.T) {
	store := openStore(t, t.TempDir())
	first := claimAt("a", 0)
	require.True(t, claim(t, store, first))
	finish(t, store, first, polls.Poll{Begun: noon, Took: time.Second, Jobs: 3})
	require.False(t, claim(t, store, claimAt("b", 9*time.Second)))
	require.True(t, claim(t, store, claimAt("b", 10*time.Second)))
}

func TestTheClaimOfADeadProcessExpires(t *testing.T) {
	store := openStore(t, t.TempDir())
	require.True(t, claim(t, store, claimAt("gone", 0)))
	require.False(t, claim(t, store, claimAt("b", lease-time.Second)))
	require.True(t, claim(t, store, claimAt("b", lease)))
	renewed, err := store.Polls().Renew(t.Context(), claimAt("gone", lease))
	require.NoError(t, err)
	require.False(t, renewed, "the claim is b's now")

	finish(t, store, claimAt("gone", lease), polls.Poll{Begun: noon})
	poll, err := store.Polls().Poll(t.Context(), slurm)
	require.NoError(t, err)
	require.Equal(t, "b", poll.Holder, "who lost a claim cannot end that of another")
}

func TestTheClaimOfAProcessKnownToBeDeadIsIgnored(t *testing.T) {
	store := openStore(t, t.TempDir())
	require.True(t, claim(t, store, claimAt("first", 0)))
	second := claimAt("second", time.Second)
	second.IsGone = func(holder string) bool { return holder == "somebody" }
	require.False(t, claim(t, store, second))
	second.IsGone = func(holder string) bool { return holder == "first" }
	require.True(t, claim(t, store, second))
}

func TestAnExpiredClaimHasNoHolder(t *testing.T) {
	store := openStore(t, t.TempDir())
	require.True(t, claim(t, store, claimAt("first", 0)))
	late := claimAt("second", 2*lease)
	late.Due = func(polls.Poll) bool { return false }
	poll, granted, err := store.Polls().Claim(t.Context(), late)
	require.NoError(t, err)
	require.False(t, granted)
	require.Empty(t, poll.Holder)
}

func TestAClaimCanBeRenewed(t *testing.T) {
	store := openStore(t, t.TempDir())
	require.True(t, claim(t, store, claimAt("a", 0)))
	renewed, err := store.Polls().Renew(t.Context(), claimAt("a", lease-time.Second))
	require.NoError(t, err)
	require.True(t, renewed)
	require.False(t, claim(t, store, claimAt("b", lease+time.Second)))
}

// Hosts that share a home directory do not share a clock.
func TestAClaimFromTheFutureDelaysNoQuery(t *testing.T) {
	store := openStore(t, t.TempDir())
	require.True(t, claim(t, store, claimAt("ahead", 24*time.Hour)))
	require.True(t, claim(t, store, claimAt("b", 0)))
}

func TestAQueryIsPausedUntilItIsResumed(t *testing.T) {
	store := openStore(t, t.TempDir())
	first := claimAt("a", 0)
	require.True(t, claim(t, store, first))
	finish(t, store, first, polls.Poll{Begun: noon, Failures: 5, Error: "no answer", Paused: noon})
	poll, err := store.Polls().Poll(t.Context(), first.PollKey)
	require.NoError(t, err)
	require.Equal(t, noon, poll.Paused)
	require.Equal(t, 5, poll.Failures)

	resumed, err := store.Polls().Resume(t.Context(), first.PollKey)
	require.NoError(t, err)
	require.True(t, resumed)
	poll, err = store.Polls().Poll(t.Context(), first.PollKey)
	require.NoError(t, err)
	require.Zero(t, poll.Paused)
	require.Zero(t, poll.Failures)
	resumed, err = store.Polls().Resume(t.Context(), first.PollKey)
	require.NoError(t, err)
	require.False(t, resumed)
}

func TestTheKindOfAFailureIsKeptUntilAQuerySucceeds(t *testing.T) {
	store := openStore(t, t.TempDir())
	for i, poll := range []polls.Poll{
		{Error: "no answer", Failure: polls.PollTimedOut},
		{Error: "end of file", Failure: polls.PollUnreached},
		{Error: "down", Failure: polls.PollFailed},
		{},
	} {
		at := time.Duration(i) * time.Hour
		made := claimAt("a", at)
		require.True(t, claim(t, store, made))
		poll.Begun = noon.Add(at)
		finish(t, store, made, poll)
		known, err := store.Polls().Poll(t.Context(), made.PollKey)
		require.NoError(t, err)
		require.Equal(t, poll.Failure, known.Failure)
	}
	counts, err := store.Polls().All(t.Context(), noon.Add(4*time.Hour))
	require.NoError(t, err)
	require.Equal(t, 3, counts[0].Failed, "whatever their kinds")
}

func TestResumingClearsTheFailure(t *testing.T) {
	store := openStore(t, t.TempDir())
	first := claimAt("a", 0)
	require.True(t, claim(t, store, first))
	finish(t, store, first, polls.Poll{Begun: noon, Failures: 8, Error: "no answer", Failure: polls.PollTimedOut, Paused: noon})
	_, err := store.Polls().Resume(t.Context(), first.PollKey)
	require.NoError(t, err)
	known, err := store.Polls().Poll(t.Context(), first.PollKey)
	require.NoError(t, err)
	require.Zero(t, known.Failure)
}

func TestQueriesAreCounted(t *testing.T) {
	store := openStore(t, t.TempDir())
	for i := range 3 {
		at := time.Duration(i) * 50 * time.Minute
		made := claimAt("a", at)
		require.True(t, claim(t, store, made))
		poll := polls.Poll{Begun: noon.Add(at), Took: 2 * time.Second, Jobs: 7}
		if i == 0 {
			poll.Error = "no answer"
		}
		finish(t, store, made, poll)
	}
	counts, err := store.Polls().All(t.Context(), noon.Add(101*time.Minute))
	require.NoError(t, err)
	require.Len(t, counts, 1)
	require.Equal(t, 3, counts[0].Day)
	require.Equal(t, 2, counts[0].Hour)
	require.Equal(t, 1, counts[0].Failed)
	require.Equal(t, 6*time.Second, counts[0].Spent)
	require.Equal(t, []string{"slurm"}, counts[0].Targets)
	require.Equal(t, 7, counts[0].Jobs)

	counts, err = store.Polls().All(t.Context(), noon.Add(48*time.Hour))
	require.NoError(t, err)
	require.Zero(t, counts[0].Day)
}

func TestBusyTimeIsCountedSinceATime(t *testing.T) {
	store := openStore(t, t.TempDir())
	none, err := store.Polls().Spent(t.Context(), slurm, noon)
	require.NoError(t, err)
	require.Zero(t, none)
	for i, took := range []time.Duration{9 * time.Second, 2 * time.Second, time.Second, 5 * time.Second} {
		begun := time.Duration(i) * time.Minute
		require.True(t, claim(t, store, claimAt("a", begun)))
		finish(t, store, claimAt("a", begun), polls.Poll{Begun: noon.Add(begun), Took: took})
	}
	spent, err := store.Polls().Spent(t.Context(), slurm, noon.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, 8*time.Second, spent)
}

func TestATargetThatJoinsAQueryIsIncludedSoon(t *testing.T) {
	store := openStore(t, t.TempDir())
	first := claimAt("a", 0)
	require.True(t, claim(t, store, first))
	finish(t, store, first, polls.Poll{Begun: noon, Changed: noon.Add(-time.Hour)})
	second := claimAt("b", time.Second)
	second.Target = "other"
	require.False(t, claim(t, store, second), "it is not due")
	poll, err := store.Polls().Poll(t.Context(), first.PollKey)
	require.NoError(t, err)
	require.Equal(t, []string{"other", "slurm"}, poll.Targets)
	require.Equal(t, noon.Add(time.Second), poll.Changed)

	elsewhere := claimAt("b", time.Minute)
	elsewhere.Key, elsewhere.Target = "slurm over ssh", "other"
	require.True(t, claim(t, store, elsewhere))
	poll, err = store.Polls().Poll(t.Context(), first.PollKey)
	require.NoError(t, err)
	require.Equal(t, []string{"slurm"}, poll.Targets)
}

func TestAnUnusedQueryIsForgottenAfterADay(t *testing.T) {
	store := openStore(t, t.TempDir())
	old := claimAt("a", 0)
	require.True(t, claim(t, store, old))
	finish(t, store, old, polls.Poll{Begun: noon})
	for _, after := range []time.Duration{23 * time.Hour, 25 * time.Hour} {
		made := claimAt("a", after)
		made.Key = "slurm over ssh"
		require.True(t, claim(t, store, made))
		finish(t, store, made, polls.Poll{Begun: noon.Add(after)})
		counts, err := store.Polls().All(t.Context(), noon.Add(after))
		require.NoError(t, err)
		require.Equal(t, after < 24*time.Hour, len(counts) == 2)
	}
}
