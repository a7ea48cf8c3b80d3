package jobstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// adopt records a job of that age in hours before noon.
func adopt(t *testing.T, store *jobstore.Store, tag, target, id, shortID string, age int) {
	t.Helper()
	_, err := store.Adopt(t.Context(), job.Job{Tag: tag, Target: target, ID: id, ShortID: shortID, Created: noon.Add(-time.Duration(age) * time.Hour)})
	require.NoError(t, err)
}

func TestFindTakesIDsAndShortIDs(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	adopt(t, store, "a", "pbs", "12.server1", "12", 3)
	adopt(t, store, "b", "pbs", "12.server2", "12", 1)
	adopt(t, store, "c", "slurm", "12", "", 2)
	intend(t, store, "without", "pbs")

	for _, c := range []struct {
		id, target string
		tags       []string
	}{
		{"12.server1", "", []string{"a"}},
		{"12", "", []string{"b", "c", "a"}},
		{"12", "pbs", []string{"b", "a"}},
		{"12", "slurm", []string{"c"}},
	} {
		jobs, err := store.Find(t.Context(), c.id, c.target)
		require.NoError(t, err)
		require.Equal(t, c.tags, tags(jobs), "%s in %q", c.id, c.target)
	}
	_, err := store.Find(t.Context(), "", "")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	_, err = store.Find(t.Context(), "12%", "")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
}

func TestOfJobsWithOneIDTheNewestIsFound(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for i, tag := range []string{"before the reset", "after the reset"} {
		j := fullJob(i)
		j.Tag = tag
		require.NoError(t, store.Intend(t.Context(), j))
		_, err := store.Accept(t.Context(), tag, job.Job{ID: "1"})
		require.NoError(t, err)
	}
	jobs, err := store.Find(t.Context(), "1", "big")
	require.NoError(t, err)
	require.Equal(t, []string{"after the reset"}, tags(jobs))
	require.Equal(t, fullJob(1).Arguments, jobs[0].Arguments)

	adopted, err := store.Adopt(t.Context(), job.Job{Target: "big", ID: "1"})
	require.NoError(t, err)
	require.Equal(t, "after the reset", adopted.Tag)

	older, err := store.ByTag(t.Context(), "before the reset")
	require.NoError(t, err)
	require.Equal(t, "1", older.ID)
}

func TestListIsNewestFirst(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	adopt(t, store, "middle", "big", "1", "", 2)
	adopt(t, store, "oldest", "other", "2", "", 3)
	adopt(t, store, "newest", "big", "3", "", 1)
	adopt(t, store, "newest too", "big", "4", "", 1)

	for _, c := range []struct {
		filter jobstore.Filter
		tags   []string
	}{
		{jobstore.Filter{}, []string{"newest too", "newest", "middle", "oldest"}},
		{jobstore.Filter{Limit: 3}, []string{"newest too", "newest", "middle"}},
		{jobstore.Filter{Limit: 9}, []string{"newest too", "newest", "middle", "oldest"}},
		{jobstore.Filter{Target: "big", Limit: 2}, []string{"newest too", "newest"}},
		{jobstore.Filter{Target: "other", All: true}, []string{"oldest"}},
		{jobstore.Filter{Target: "none", All: true}, []string{}},
	} {
		jobs, err := store.List(t.Context(), c.filter)
		require.NoError(t, err)
		require.Equal(t, c.tags, tags(jobs), fmt.Sprintf("%+v", c.filter))
	}
}

func TestListLeavesOutWhatIsOverUnlessAskedForAll(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for _, tag := range []string{"running", "ended", "rejected", "doubtful", "intended"} {
		intend(t, store, tag, "big")
	}
	for _, tag := range []string{"running", "ended"} {
		_, err := store.Accept(t.Context(), tag, job.Job{ID: tag, Observation: job.Observation{Detail: job.Running}})
		require.NoError(t, err)
	}
	_, err := store.Observe(t.Context(), "ended", job.Observation{Detail: job.Canceled})
	require.NoError(t, err)
	require.NoError(t, store.Reject(t.Context(), "rejected", "no"))
	require.NoError(t, store.Doubt(t.Context(), "doubtful", "?"))

	jobs, err := store.List(t.Context(), jobstore.Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"intended", "doubtful", "running"}, tags(jobs))
	jobs, err = store.List(t.Context(), jobstore.Filter{All: true})
	require.NoError(t, err)
	require.Equal(t, []string{"intended", "doubtful", "rejected", "ended", "running"}, tags(jobs))

	_, err = store.Accept(t.Context(), "rejected", job.Job{ID: "late"})
	require.NoError(t, err)
	jobs, err = store.List(t.Context(), jobstore.Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"intended", "doubtful", "rejected", "running"}, tags(jobs))
}

func TestSessionsAreKeptPerTarget(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	first := jobstore.Session{Target: "big", Started: noon, Data: []byte(`{"queues":["a"]}`)}
	other := jobstore.Session{Target: "other", Started: noon}
	require.NoError(t, store.SaveSession(t.Context(), first))
	require.NoError(t, store.SaveSession(t.Context(), other))
	for _, session := range []jobstore.Session{first, other} {
		recorded, err := store.Session(t.Context(), session.Target)
		require.NoError(t, err)
		require.Equal(t, session, recorded)
	}

	later := jobstore.Session{Target: "big", Started: noon.Add(time.Hour), Data: []byte{0, 0xff}}
	require.NoError(t, store.SaveSession(t.Context(), later))
	recorded, err := store.Session(t.Context(), "big")
	require.NoError(t, err)
	require.Equal(t, later, recorded)

	require.NoError(t, store.RemoveSession(t.Context(), "big"))
	require.NoError(t, store.RemoveSession(t.Context(), "big"))
	_, err = store.Session(t.Context(), "big")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	_, err = store.Session(t.Context(), "other")
	require.NoError(t, err)
}
