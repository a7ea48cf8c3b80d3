package jobstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// listed returns the tags that EachListed gives, in their order.
func listed(t *testing.T, store *jobstore.Store, filter jobstore.Filter) []string {
	t.Helper()
	tags := []string{}
	require.NoError(t, store.EachListed(t.Context(), filter, func(j *job.Job) error {
		tags = append(tags, j.Tag)
		return nil
	}))
	return tags
}

// More jobs than a part has, many of them of the same moment.
func TestEachJobIsListedOnceNewestFirst(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	const count = 1500
	for i := range count {
		j := job.Job{
			Tag: fmt.Sprint(i), Target: []string{"big", "small"}[i%2], ID: fmt.Sprint("id-", i), Phase: job.PhaseSubmitted,
			Created: noon.Add(time.Duration(i/700) * time.Second), Observation: job.Observation{Detail: job.Running, Observed: noon},
		}
		if i%3 == 0 {
			j.Detail = job.Completed
		}
		_, err := store.Adopt(t.Context(), j)
		require.NoError(t, err)
	}
	for _, filter := range []jobstore.Filter{
		{All: true}, {}, {All: true, Target: "big"}, {Target: "small"}, {Target: "none", All: true},
		{All: true, Limit: 1}, {All: true, Limit: 256}, {All: true, Limit: 257}, {Limit: 700}, {All: true, Limit: count}, {All: true, Limit: 2 * count},
	} {
		jobs, err := store.List(t.Context(), filter)
		require.NoError(t, err)
		expected := []string{}
		for _, j := range jobs {
			expected = append(expected, j.Tag)
		}
		require.Equal(t, expected, listed(t, store, filter), "%+v", filter)
	}
	require.Len(t, listed(t, store, jobstore.Filter{All: true}), count)
}

func TestPartsAreListedByTheirEnsemble(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for number, ensemble := range []string{"", "4f1c2a7e5b0f", "000000000000", "4f1c2a7e5b0f"} {
		j := fullJob(number)
		j.Ensemble = ensemble
		require.NoError(t, store.Intend(t.Context(), j))
	}
	require.Equal(t, []string{"tag-3", "tag-1"}, listed(t, store, jobstore.Filter{Ensemble: "4f1c2a7e5b0f"}))
	require.Empty(t, listed(t, store, jobstore.Filter{Ensemble: "4f1c2a7e5b0f", Target: "small", All: true}))
}

func TestAListedJobHasWhatItsDocumentNeeds(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	whole := fullJob(1)
	whole.ID, whole.Undated, whole.Successor, whole.Error, whole.Irregular = "7", false, "tag-2", "refused", "irregular"
	whole.Stale, whole.StaleReason, whole.StaleSince = true, "no answer", noon
	whole.Observation = job.Observation{
		Detail: job.Failed, Native: "F", Reason: "memory", ExitCode: number(3), Signal: number(9), Name: "simulation", Queue: "normal", Nodes: "n1",
		Started: "10:00", Ended: "11:00", Observed: noon, Source: "list", Evidence: "7 F",
	}
	_, err := store.Adopt(t.Context(), whole)
	require.NoError(t, err)
	whole = byTag(t, store, whole.Tag)
	require.NoError(t, store.EachListed(t.Context(), jobstore.Filter{All: true}, func(j *job.Job) error {
		document := j.Document()
		require.Equal(t, whole.Document(), document)
		require.NotContains(t, []any{document.Reason, document.ExitCode, document.Nodes, document.Ended, document.Observed, document.StaleReason, document.Submitted}, "")
		require.Equal(t, []any{whole.Interactive, whole.Successor, whole.Undated}, []any{j.Interactive, j.Successor, j.Undated})
		require.Empty(t, j.Evidence)
		return nil
	}))
}

func TestListingJobsEndsWithTheError(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for number := range 3 {
		submit(t, store, fmt.Sprint(number), "big", fmt.Sprint("id-", number))
	}
	full, calls := errors.New("no room"), 0
	err := store.EachListed(t.Context(), jobstore.Filter{All: true}, func(*job.Job) error {
		calls++
		return full
	})
	require.ErrorIs(t, err, full)
	require.Equal(t, 1, calls)
}

// A pager may stop reading for hours: nothing waits for it.
func TestAJobCanBeChangedWhileJobsAreListed(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "one", "big", "1")
	require.NoError(t, store.EachListed(t.Context(), jobstore.Filter{}, func(j *job.Job) error {
		require.Zero(t, store.Reading(), "the database is not being read")
		return store.MarkStale(t.Context(), j.Tag, "no answer", noon)
	}))
	require.True(t, byTag(t, store, "one").Stale)
}
