package jobstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/jobstore"
)

func TestReadingsAddUpForEachDefinitionAndCommand(t *testing.T) {
	folder := t.TempDir()
	store := openStore(t, folder)
	usual, err := store.Usual(t.Context(), "one", "get-job-status:status")
	require.NoError(t, err)
	require.Zero(t, usual)
	for _, reading := range []jobstore.Reading{
		{Definition: "one", Command: "get-job-status:status", Segments: 10, Unmatched: 5, Read: noon},
		{Definition: "one", Command: "get-job-status:status", Segments: 30, Unmatched: 3, Read: noon},
		{Definition: "one", Command: "get-job-status:status", Segments: 0, Unmatched: 0, Read: noon},
		{Definition: "one", Command: "fallback:status", Segments: 1, Unmatched: 1, Read: noon},
		{Definition: "two", Command: "get-job-status:status", Segments: 1, Unmatched: 1, Read: noon},
	} {
		require.NoError(t, store.AddReading(t.Context(), reading))
	}
	usual, err = openStore(t, folder).Usual(t.Context(), "one", "get-job-status:status")
	require.NoError(t, err)
	require.Equal(t, jobstore.Usual{Runs: 2, Segments: 40, Unmatched: 8, Highest: 0.5}, usual)
}

func TestReadingsOfLongAgoAreForgotten(t *testing.T) {
	store := openStore(t, t.TempDir())
	require.NoError(t, store.AddReading(t.Context(), jobstore.Reading{Definition: "old", Command: "c", Segments: 1, Read: noon}))
	require.NoError(t, store.AddReading(t.Context(), jobstore.Reading{Definition: "new", Command: "c", Segments: 1, Read: noon.Add(100 * 24 * time.Hour)}))
	usual, err := store.Usual(t.Context(), "old", "c")
	require.NoError(t, err)
	require.Zero(t, usual)
}

func TestADriftIsNewsOnceInASessionAndADay(t *testing.T) {
	store := openStore(t, t.TempDir())
	drift := jobstore.Drift{Target: "big", Command: "get-job-status:status", Kind: "unknown state", Definition: "one", Seen: "X", Job: "7", At: noon, Session: noon}
	isNews := func(change func(*jobstore.Drift)) bool {
		t.Helper()
		changed := drift
		change(&changed)
		news, err := store.RecordDrift(t.Context(), changed)
		require.NoError(t, err)
		return news
	}
	require.True(t, isNews(func(*jobstore.Drift) {}))
	require.False(t, isNews(func(d *jobstore.Drift) { d.At = noon.Add(23 * time.Hour) }))
	require.False(t, isNews(func(d *jobstore.Drift) { d.Kind, d.At = "unmatched lines", noon.Add(time.Minute) }))
	require.True(t, isNews(func(d *jobstore.Drift) { d.Command = "fallback:sacct" }))
	require.True(t, isNews(func(d *jobstore.Drift) { d.Target = "small" }))
	require.True(t, isNews(func(d *jobstore.Drift) { d.At = noon.Add(25 * time.Hour) }))
	require.True(t, isNews(func(d *jobstore.Drift) { d.Session, d.At = noon.Add(26*time.Hour), noon.Add(26*time.Hour) }))
	require.True(t, isNews(func(d *jobstore.Drift) {
		d.Definition, d.Kind, d.At = "two", "nothing understood", noon.Add(27*time.Hour)
	}))

	drifts, err := store.Drifts(t.Context(), "big", "one")
	require.NoError(t, err)
	require.Len(t, drifts, 3)
	require.Equal(t, noon.Add(26*time.Hour), drifts[0].At)
	require.Equal(t, "X", drifts[0].Seen)
}
