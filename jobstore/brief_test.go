package jobstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

func TestABriefJobHasWhatDecidesWhetherItIsWaitedFor(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for number := range 3 {
		submit(t, store, fmt.Sprint(number), "big", fmt.Sprint("id-", number))
	}
	submit(t, store, "again", "big", "id-0")
	submit(t, store, "elsewhere", "other", "id-1")
	_, err := store.Observe(t.Context(), "1", job.Observation{Detail: job.Running, Native: "R", Source: "list", Observed: noon})
	require.NoError(t, err)
	require.NoError(t, store.MarkStale(t.Context(), "2", "no answer", noon))
	_, err = store.MarkMissing(t.Context(), "2", noon.Add(-time.Minute))
	require.NoError(t, err)
	seen := 0
	require.NoError(t, store.EachBrief(t.Context(), []string{"0", "1", "2", "again", "nobody", "1"}, func(one *job.Job) {
		seen++
		whole := byTag(t, store, one.Tag)
		require.Equal(t, job.Job{
			Tag: whole.Tag, Target: whole.Target, ID: whole.ID, Phase: whole.Phase, Interactive: whole.Interactive,
			Observation: job.Observation{Detail: whole.Detail, Native: whole.Native, Source: whole.Source},
			Stale:       whole.Stale, Missing: whole.Missing, MissingCount: whole.MissingCount, MissingSince: whole.MissingSince, Successor: whole.Successor,
		}, *one)
	}))
	require.Equal(t, 4, seen)
	require.Equal(t, "again", byTag(t, store, "0").Successor)

	var missing []string
	require.NoError(t, store.EachMissing(t.Context(), "big", func(one *job.Job) { missing = append(missing, one.Tag) }))
	require.Equal(t, []string{"2"}, missing)

	// They are found as jobs are.
	for _, id := range []string{"id-0", "id-1", "id-2", "nothing"} {
		for _, target := range []string{"", "big", "other"} {
			jobs, jobsErr := store.Find(t.Context(), id, target)
			found, err := store.FindBrief(t.Context(), id, target)
			require.Equal(t, jobsErr, err)
			require.Len(t, found, len(jobs))
			for i := range jobs {
				require.Equal(t, jobs[i].Tag, found[i].Tag)
			}
		}
	}
}

func TestEventsSinceAreReportedOnceForEachJob(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	touched := func(after int64) (tags []string, last int64) {
		last, err := store.EachTouched(t.Context(), after, func(tag string) { tags = append(tags, tag) })
		require.NoError(t, err)
		return tags, last
	}
	submit(t, store, "a", "big", "1")
	submit(t, store, "b", "other", "2")
	tags, last := touched(0)
	require.Equal(t, []string{"a", "b"}, tags)
	newest, err := store.LastEvent(t.Context())
	require.NoError(t, err)
	require.Equal(t, newest, last)
	tags, same := touched(last)
	require.Empty(t, tags)
	require.Equal(t, last, same)
	see(t, store, "b", job.Running, 0)
	see(t, store, "b", job.Completed, time.Second)
	tags, _ = touched(last)
	require.Equal(t, []string{"b"}, tags)
}
