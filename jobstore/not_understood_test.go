package jobstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/jobstore"
)

func TestWhatIsNotUnderstoodIsCountedForEachTargetAndCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	store := openStore(t, folder)
	answer := jobstore.NotUnderstood{Target: "big", Command: "get-job-status:status", Definition: "one", Count: 1, Seen: "X", Job: "7", At: noon}
	add := func(change func(*jobstore.NotUnderstood)) {
		t.Helper()
		changed := answer
		change(&changed)
		require.NoError(t, store.AddNotUnderstood(t.Context(), changed))
	}
	counts := func(definition string, since time.Time) []jobstore.NotUnderstood {
		t.Helper()
		counts, err := openStore(t, folder).NotUnderstood(t.Context(), "big", definition, since)
		require.NoError(t, err)
		return counts
	}
	require.Empty(t, counts("one", noon))
	add(func(*jobstore.NotUnderstood) {})
	add(func(n *jobstore.NotUnderstood) { n.Seen, n.Job, n.At = "Y", "8", noon.Add(time.Minute) })
	add(func(n *jobstore.NotUnderstood) { n.Target = "small" })
	add(func(n *jobstore.NotUnderstood) { n.Command, n.Count, n.Job = "list-jobs:list", 3, "" })
	require.Equal(t, []jobstore.NotUnderstood{
		{Target: "big", Command: "get-job-status:status", Definition: "one", Count: 2, Seen: "Y", Job: "8", At: noon.Add(time.Minute)},
		{Target: "big", Command: "list-jobs:list", Definition: "one", Count: 3, Seen: "X", At: noon},
	}, counts("one", noon))
	require.Len(t, counts("one", noon.Add(time.Second)), 1)

	add(func(n *jobstore.NotUnderstood) { n.Definition = "two" })
	require.Len(t, counts("one", noon), 1, "another state of the definition starts a new count")
	require.Equal(t, 1, counts("two", noon)[0].Count)
}
