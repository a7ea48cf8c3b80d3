package jobstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/job"
)

func TestTrackedJobsAreListedUntilAllOfThemIsOnRecord(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for _, tag := range []string{"a", "b", "c"} {
		submit(t, store, tag, "big", tag)
		require.NoError(t, store.Polls().RecordTracked(t.Context(), polls.Tracked{Tag: tag, Target: "big", Directory: "/home/" + tag}))
	}
	submit(t, store, "d", "small", "d")
	require.NoError(t, store.Polls().RecordTracked(t.Context(), polls.Tracked{Tag: "d", Target: "small", Directory: "/d"}))
	require.NoError(t, store.Polls().RecordTracked(t.Context(), polls.Tracked{Tag: "b", Target: "big", Directory: "/home/b", Read: "sum", Final: true}))
	_, err := store.Observe(t.Context(), "c", job.Observation{Detail: job.Completed, Observed: noon})
	require.NoError(t, err)

	tracked, err := store.Polls().Tracked(t.Context(), "big")
	require.NoError(t, err)
	require.Equal(t, []polls.Tracked{{Tag: "a", Target: "big", Directory: "/home/a"}, {Tag: "c", Target: "big", Directory: "/home/c", Ended: noon}}, tracked)
	tracked, err = store.Polls().Tracked(t.Context(), "big", "small")
	require.NoError(t, err)
	require.Len(t, tracked, 3)
	tracked, err = store.Polls().Tracked(t.Context())
	require.NoError(t, err)
	require.Empty(t, tracked)
}
