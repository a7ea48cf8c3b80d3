package jobstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// kinds returns what happened, in the order in which it was recorded.
func kinds(events []job.Event) []job.EventKind {
	var list []job.EventKind
	for _, event := range events {
		list = append(list, event.Kind)
	}
	return list
}

func history(t *testing.T, store *jobstore.Store, tags ...string) []job.Event {
	t.Helper()
	events, err := store.Events(t.Context(), 0, tags...)
	require.NoError(t, err)
	return events
}

func see(t *testing.T, store *jobstore.Store, tag string, detail job.Detail, after time.Duration) {
	t.Helper()
	_, err := store.Observe(t.Context(), tag, job.Observation{
		Detail: detail, Native: "word of " + string(detail), Observed: noon.Add(after), Source: "queue", Evidence: "output of " + string(detail),
		Origin: job.Origin{Stream: "stdout", Line: 3, Text: "line of " + string(detail)},
	})
	require.NoError(t, err)
}

func TestTheHistoryHasWhatHappenedAndNothingTwice(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	see(t, store, "a", job.QueuedActive, time.Second)
	see(t, store, "a", job.QueuedActive, 2*time.Second)
	see(t, store, "a", job.Running, 3*time.Second)
	require.NoError(t, store.MarkStale(t.Context(), "a", "no answer", noon.Add(4*time.Second)))
	require.NoError(t, store.MarkStale(t.Context(), "a", "no answer", noon.Add(5*time.Second)))
	for range 2 {
		_, err := store.MarkMissing(t.Context(), "a", noon.Add(6*time.Second))
		require.NoError(t, err)
	}
	see(t, store, "a", job.Completed, 7*time.Second)
	see(t, store, "a", job.Running, 8*time.Second)

	events := history(t, store, "a")
	require.Equal(t, []job.EventKind{
		jobstore.EventIntended, job.EventAccepted, job.EventState, job.EventState,
		jobstore.EventStale, jobstore.EventMissing, job.EventState, jobstore.EventContradiction,
	}, kinds(events))
	running := events[3]
	require.Equal(t, job.QueuedActive, running.Before)
	require.Equal(t, job.Running, running.Detail)
	require.Equal(t, "output of RUNNING", running.Evidence)
	require.Equal(t, job.Origin{Stream: "stdout", Line: 3, Text: "line of RUNNING"}, running.Origin)
	require.Equal(t, "queue", running.Source)
	require.Equal(t, "1", running.ID)
	require.Equal(t, noon.Add(3*time.Second), running.Observed)
	require.Equal(t, "no answer", events[4].Reason)
	contradiction := events[7]
	require.Equal(t, job.Completed, contradiction.Before)
	require.Equal(t, job.Running, contradiction.Detail)

	j, err := store.ByTag(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail, "a contradiction is noticed, not believed")
}

func TestARejectedAndADoubtedSubmissionSayWhy(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	intend(t, store, "rejected", "big")
	require.NoError(t, store.Reject(t.Context(), "rejected", "no such queue"))
	intend(t, store, "doubted", "big")
	require.NoError(t, store.Doubt(t.Context(), "doubted", "timed out"))
	for tag, reason := range map[string]string{"rejected": "no such queue", "doubted": "timed out"} {
		events := history(t, store, tag)
		require.Len(t, events, 2)
		require.Equal(t, job.EventKind(tag), events[1].Kind)
		require.Equal(t, reason, events[1].Reason)
	}
}

func TestAReaderGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := openStore(t, directory)
	submit(t, store, "a", "big", "1")
	first := history(t, store)
	last, err := store.LastEvent(t.Context())
	require.NoError(t, err)
	require.Equal(t, first[len(first)-1].Sequence, last)

	submit(t, store, "b", "big", "2")
	another := openStore(t, directory)
	rest, err := another.Events(t.Context(), last)
	require.NoError(t, err)
	require.Equal(t, []job.EventKind{jobstore.EventIntended, job.EventAccepted}, kinds(rest))
	require.Equal(t, "b", rest[0].Tag)
}

func TestAnIDThatIsGivenAgainEndsWhatCanBeLearnedOfTheEarlierJob(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "old", "big", "1")
	submit(t, store, "elsewhere", "other", "1")
	submit(t, store, "new", "big", "1")

	old, err := store.ByTag(t.Context(), "old")
	require.NoError(t, err)
	require.Equal(t, "new", old.Successor)
	require.False(t, old.Detail.Ended(), "nobody saw its end")
	events := history(t, store, "old")
	require.Equal(t, jobstore.EventSucceeded, events[len(events)-1].Kind)
	require.Contains(t, events[len(events)-1].Reason, "new")

	open, err := store.List(t.Context(), jobstore.Filter{})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"elsewhere", "new"}, tags(open))
}

func TestPruningForgetsOnlyWhatIsOverAndOld(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "ended", "big", "1")
	see(t, store, "ended", job.Completed, 0)
	submit(t, store, "running", "big", "2")
	see(t, store, "running", job.Running, 0)
	intend(t, store, "unknown", "big")
	require.NoError(t, store.Doubt(t.Context(), "unknown", "timed out"))
	submit(t, store, "elsewhere", "other", "3")
	see(t, store, "elsewhere", job.Completed, 0)

	removed, err := store.Prune(t.Context(), noon, "")
	require.NoError(t, err)
	require.Zero(t, removed, "what was recorded or seen since stays")
	removed, err = store.Prune(t.Context(), time.Now().Add(time.Hour), "big")
	require.NoError(t, err)
	require.Equal(t, 1, removed)
	_, err = store.ByTag(t.Context(), "ended")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	require.Empty(t, history(t, store, "ended"))
	for _, kept := range []string{"running", "unknown", "elsewhere"} {
		_, err := store.ByTag(t.Context(), kept)
		require.NoError(t, err, kept)
	}
}

func TestEventsOfAPartNameItsEnsemble(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	require.NoError(t, store.Intend(t.Context(), fullJob(1)))
	submit(t, store, "alone", "big", "1")
	for _, event := range history(t, store) {
		expected := [2]string{}
		if event.Tag == "tag-1" {
			expected = [2]string{"4f1c2a7e5b0f", "solver"}
		}
		require.Equal(t, expected, [2]string{event.Ensemble, event.Part}, event.Tag)
	}
}
