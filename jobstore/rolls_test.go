package jobstore_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// openJobs returns the roll of the target big.
func openJobs(t *testing.T, store *jobstore.Store) jobstore.Roll {
	t.Helper()
	roll, err := store.OpenJobs(t.Context(), jobstore.OpenFilter{Target: "big"})
	require.NoError(t, err)
	return roll
}

// list records what a listing said that long after noon, by the ids of jobs.
func list(t *testing.T, store *jobstore.Store, roll jobstore.Roll, after time.Duration, rows map[string]job.Observation) {
	t.Helper()
	require.NoError(t, store.ObserveRoll(t.Context(), roll, noon.Add(after), func(job *job.Job) (job.Observation, bool) {
		seen, listed := rows[job.ID]
		return seen, listed
	}))
}

func byTag(t *testing.T, store *jobstore.Store, tag string) job.Job {
	t.Helper()
	job, err := store.ByTag(t.Context(), tag)
	require.NoError(t, err)
	return job
}

func TestARollHasTheOpenJobsOfATarget(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for number := range 3 {
		submit(t, store, fmt.Sprint(number), "big", fmt.Sprint("id-", number))
	}
	submit(t, store, "elsewhere", "other", "id-1")
	intend(t, store, "unknown", "big")
	require.NoError(t, store.Intend(t.Context(), job.Job{Tag: "attached", Target: "big", Interactive: true}))
	_, err := store.Accept(t.Context(), "attached", job.Job{ID: "attached"})
	require.NoError(t, err)
	_, err = store.Observe(t.Context(), "1", job.Observation{Detail: job.Completed})
	require.NoError(t, err)
	roll := openJobs(t, store)
	require.Equal(t, 2, len(roll))
	var seen []string
	require.NoError(t, store.EachOf(t.Context(), roll, func(job *job.Job) error {
		seen = append(seen, job.Tag)
		return nil
	}))
	require.Equal(t, []string{"0", "2"}, seen)
}

func TestARollOfATargetCanBeOfOneConnection(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for number, connection := range []string{"here", "there", "here"} {
		_, err := store.Adopt(t.Context(), job.Job{Target: "big", ID: fmt.Sprint(number), Connection: connection})
		require.NoError(t, err)
	}
	_, err := store.Adopt(t.Context(), job.Job{Target: "other", ID: "1", Connection: "there"})
	require.NoError(t, err)
	roll, err := store.OpenJobs(t.Context(), jobstore.OpenFilter{Target: "other"}, jobstore.OpenFilter{Target: "big", Connection: "here"})
	require.NoError(t, err)
	var seen []string
	require.NoError(t, store.EachOf(t.Context(), roll, func(job *job.Job) error {
		seen = append(seen, job.Target+"/"+job.ID)
		return nil
	}))
	require.Equal(t, []string{"big/0", "big/2", "other/1"}, seen)
}

// A clock that was wrong has recorded a time that is still to come.
func TestASightingOfALaterTimeDoesNotOutliveTheClockThatItIsOf(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	roll := openJobs(t, store)
	now, row := time.Now().UTC(), map[string]job.Observation{"1": {Detail: job.Running}}
	for _, seen := range []time.Duration{time.Hour, 2 * time.Hour, 0, time.Second} {
		list(t, store, roll, now.Add(seen).Sub(noon), row)
		require.Equal(t, now.Add(seen), byTag(t, store, "a").Observed)
	}
}

func TestAListingIsRecordedForEachOfItsJobs(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	submit(t, store, "b", "big", "2")
	roll := openJobs(t, store)
	list(t, store, roll, 0, map[string]job.Observation{"1": {Detail: job.Running, Native: "R", Source: "list", Evidence: "1 R"}})
	a := byTag(t, store, "a")
	require.Equal(t, job.Running, a.Detail)
	require.Equal(t, "1 R", a.Evidence)
	require.Equal(t, noon, a.Observed)
	require.Equal(t, noon.Add(-time.Hour), byTag(t, store, "b").Observed, "nothing was said of it")
	events := history(t, store, "a")
	require.Equal(t, job.EventState, events[len(events)-1].Kind)

	// A job that ended while the listing was made keeps its end.
	_, err := store.Observe(t.Context(), "a", job.Observation{Detail: job.Failed, Native: "F", Observed: noon.Add(2 * time.Second)})
	require.NoError(t, err)
	list(t, store, roll, time.Second, map[string]job.Observation{"1": {Detail: job.Running, Native: "R"}})
	require.Equal(t, job.Failed, byTag(t, store, "a").Detail)
}

func TestAJobThatIsAsItWasIsSeenAgain(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	roll := openJobs(t, store)
	row := job.Observation{Detail: job.Running, Native: "R", Queue: "debug", Source: "list", Origin: job.Origin{Line: 1, Text: "1 R"}}
	list(t, store, roll, 0, map[string]job.Observation{"1": row})
	before, happened := byTag(t, store, "a"), len(history(t, store, "a"))

	row.Origin = job.Origin{Line: 7, Text: "1 R 0:05"}
	list(t, store, roll, 5*time.Second, map[string]job.Observation{"1": row})
	after := byTag(t, store, "a")
	require.Equal(t, noon.Add(5*time.Second), after.Observed)
	after.Observed = before.Observed
	require.Equal(t, before, after)
	require.Len(t, history(t, store, "a"), happened)

	// It counts as seen then: what was asked before does not put it in doubt, an
	// older listing does not put it back, and what changes is recorded over it.
	require.NoError(t, store.MarkStale(t.Context(), "a", "no answer", noon.Add(4*time.Second)))
	require.False(t, byTag(t, store, "a").Stale)
	list(t, store, roll, 3*time.Second, map[string]job.Observation{"1": row})
	require.Equal(t, noon.Add(5*time.Second), byTag(t, store, "a").Observed)
	row.Queue = "long"
	list(t, store, roll, 6*time.Second, map[string]job.Observation{"1": row})
	after = byTag(t, store, "a")
	require.Equal(t, "long", after.Queue)
	require.Equal(t, 7, after.Origin.Line)
	require.Equal(t, noon.Add(6*time.Second), after.Observed)
}

func TestARowOfAListingEndsDoubtsAndAbsences(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	submit(t, store, "b", "big", "2")
	roll := openJobs(t, store)
	rows := map[string]job.Observation{"1": {Detail: job.Running}, "2": {Detail: job.Running}}
	list(t, store, roll, 0, rows)
	require.NoError(t, store.MarkRollStale(t.Context(), roll, "no answer", noon.Add(time.Second)))
	for _, tag := range []string{"a", "b"} {
		job := byTag(t, store, tag)
		require.True(t, job.Stale)
		require.Equal(t, "no answer", job.StaleReason)
	}
	_, err := store.MarkMissing(t.Context(), "b", noon.Add(2*time.Second))
	require.NoError(t, err)
	list(t, store, roll, 3*time.Second, rows)
	for _, tag := range []string{"a", "b"} {
		job := byTag(t, store, tag)
		require.False(t, job.Stale)
		require.False(t, job.Missing)
		require.Equal(t, noon.Add(3*time.Second), job.Observed)
	}
}

// More jobs than one transaction takes.
func TestLargeRollsAreRecordedWhole(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	const jobs = 450
	rows := map[string]job.Observation{}
	for number := range jobs {
		_, err := store.Adopt(t.Context(), job.Job{Target: "big", ID: fmt.Sprint(number)})
		require.NoError(t, err)
		rows[fmt.Sprint(number)] = job.Observation{Detail: job.Running, Native: strings.Repeat("R", number%7)}
	}
	roll := openJobs(t, store)
	for seconds := range 2 {
		list(t, store, roll, time.Duration(seconds)*time.Second, rows)
		seen := 0
		require.NoError(t, store.EachOf(t.Context(), roll, func(job *job.Job) error {
			require.Equal(t, rows[job.ID].Native, job.Native)
			require.Equal(t, noon.Add(time.Duration(seconds)*time.Second), job.Observed)
			seen++
			return nil
		}))
		require.Equal(t, jobs, seen)
	}
	require.NoError(t, store.MarkRollStale(t.Context(), roll, "no answer", noon.Add(time.Minute)))
	require.NoError(t, store.EachOf(t.Context(), roll, func(job *job.Job) error {
		require.True(t, job.Stale)
		return nil
	}))
}

func TestASightingIsForgottenWithItsJob(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := openStore(t, directory)
	submit(t, store, "a", "big", "1")
	roll := openJobs(t, store)
	for seconds := range 2 {
		list(t, store, roll, time.Duration(seconds)*time.Second, map[string]job.Observation{"1": {Detail: job.Running}})
	}
	database, err := sql.Open("sqlite", filepath.Join(directory, "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	sightings := func() (count int) {
		require.NoError(t, database.QueryRowContext(t.Context(), "SELECT count(*) FROM sightings").Scan(&count))
		return count
	}
	require.Equal(t, 1, sightings())
	list(t, store, roll, time.Minute, map[string]job.Observation{"1": {Detail: job.Completed}})
	_, err = store.Prune(t.Context(), time.Now().Add(time.Hour), "")
	require.NoError(t, err)
	require.Zero(t, sightings())
}
