package jobstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// observe records what was seen that long after noon.
func observe(t *testing.T, store *jobstore.Store, after time.Duration, seen job.Observation) job.Job {
	t.Helper()
	seen.Observed = noon.Add(after)
	j, err := store.Observe(t.Context(), "a", seen)
	require.NoError(t, err)
	recorded, err := store.List(t.Context(), jobstore.Filter{All: true})
	require.NoError(t, err)
	require.Equal(t, []job.Job{j}, recorded, "what is returned is what was recorded")
	return j
}

func TestAnObservationRecordsTheStateAndItsEvidence(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	j := observe(t, store, 0, job.Observation{
		Detail: job.Running, Native: "R", Reason: "None", Name: "sim", Queue: "debug", Owner: "bob", Nodes: "n[1-4]",
		Submitted: "10:00", Started: "11:00", OutputPath: "/o", ErrorPath: "/e", Source: "get-job-status", Evidence: "1 R",
	})
	require.Equal(t, job.Running, j.Detail)
	require.Equal(t, []string{"R", "None", "sim", "debug", "bob", "n[1-4]", "10:00", "11:00", "/o", "/e", "get-job-status", "1 R"},
		[]string{j.Native, j.Reason, j.Name, j.Queue, j.Owner, j.Nodes, j.Submitted, j.Started, j.OutputPath, j.ErrorPath, j.Source, j.Evidence})
	require.Equal(t, noon, j.Observed)

	j = observe(t, store, time.Second, job.Observation{Detail: job.Failed, Native: "F", ExitCode: number(3), Signal: number(0), Ended: "12:00"})
	require.Equal(t, job.Failed, j.Detail)
	require.Equal(t, number(3), j.ExitCode)
	require.Equal(t, number(0), j.Signal)
	require.Equal(t, "12:00", j.Ended)
	require.Equal(t, "n[1-4]", j.Nodes, "a fact that a later answer lacks was forgotten")
	require.Empty(t, j.Reason, "the reason of the former state was kept")
	require.Empty(t, j.Evidence)
}

func TestAnOlderObservationNeverOverridesANewerOne(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	newer := observe(t, store, time.Nanosecond, job.Observation{Detail: job.Running, Native: "R", Nodes: "n1"})
	require.Equal(t, newer, observe(t, store, 0, job.Observation{Detail: job.QueuedActive, Native: "PD", Nodes: "n2", ExitCode: number(1)}))
	require.Equal(t, newer, observe(t, store, -time.Minute, job.Observation{Detail: job.Completed}))
}

func TestAnEndIsKeptWithItsEvidence(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	observe(t, store, 0, job.Observation{Detail: job.Failed, Native: "F", Source: "accounting", Evidence: "1 F"})
	for i, later := range []job.Observation{
		{Detail: job.Running, Native: "R", Source: "queue", Evidence: "1 R"},
		{Detail: job.Completed, Native: "CD", Source: "queue", Evidence: "1 CD"},
		{Detail: job.Undetermined, Native: "??", Source: "queue", Evidence: "1 ??"},
	} {
		j := observe(t, store, time.Duration(i+1)*time.Second, later)
		require.Equal(t, job.Failed, j.Detail)
		require.Equal(t, []string{"F", "accounting", "1 F"}, []string{j.Native, j.Source, j.Evidence})
		require.Equal(t, noon, j.Observed)
	}
	j := observe(t, store, time.Minute, job.Observation{Detail: job.OutputReady, Source: "output", ExitCode: number(2)})
	require.Equal(t, job.OutputReady, j.Detail)
	require.Equal(t, "output", j.Source)
	require.Equal(t, number(2), j.ExitCode)
}

func TestAnUnknownWordIsShownBesideTheStateThatIsKept(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	observe(t, store, 0, job.Observation{Detail: job.Running, Native: "R", Reason: "None"})
	j := observe(t, store, time.Second, job.Observation{Native: "ZOMBIE", Evidence: "1 ZOMBIE"})
	require.Equal(t, job.Running, j.Detail)
	require.Equal(t, []string{"ZOMBIE", "", "1 ZOMBIE"}, []string{j.Native, j.Reason, j.Evidence})
	j = observe(t, store, 2*time.Second, job.Observation{Nodes: "n1"})
	require.Equal(t, []string{"ZOMBIE", "n1"}, []string{j.Native, j.Nodes})
}

func TestAnObservationEndsStalenessAndAbsence(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	observe(t, store, 0, job.Observation{Detail: job.Running})

	_, err := store.MarkMissing(t.Context(), "a", noon.Add(time.Second))
	require.NoError(t, err)
	require.NoError(t, store.MarkStale(t.Context(), "a", "timed out", noon.Add(2*time.Second)))
	j, err := store.ByTag(t.Context(), "a")
	require.NoError(t, err)
	require.True(t, j.Stale)
	require.True(t, j.Missing)
	require.Equal(t, "timed out", j.StaleReason)
	require.Equal(t, job.Running, j.Detail, "a failed query changed the state")
	require.Equal(t, noon, j.Observed)

	j = observe(t, store, 3*time.Second, job.Observation{Detail: job.Running})
	require.False(t, j.Stale)
	require.Empty(t, j.StaleReason)
	require.True(t, j.StaleSince.IsZero())
	require.False(t, j.Missing)
	require.Zero(t, j.MissingCount)
	require.True(t, j.MissingSince.IsZero())
}

func TestAnAnswerOfBeforeADoubtDoesNotEndIt(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(store *jobstore.Store, asked time.Time) (job.Job, error){
		"seen": func(store *jobstore.Store, asked time.Time) (job.Job, error) {
			return store.Observe(t.Context(), "a", job.Observation{Detail: job.Running, Observed: asked})
		},
		"missing": func(store *jobstore.Store, asked time.Time) (job.Job, error) {
			return store.MarkMissing(t.Context(), "a", asked)
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := openStore(t, t.TempDir())
			submit(t, store, "a", "big", "1")
			observe(t, store, 0, job.Observation{Detail: job.Running})
			require.NoError(t, store.MarkStale(t.Context(), "a", "suspended since", noon.Add(2*time.Second)))
			require.NoError(t, store.MarkStale(t.Context(), "a", "timed out", noon.Add(time.Second)))

			job, err := answer(store, noon.Add(1999*time.Millisecond))
			require.NoError(t, err)
			require.True(t, job.Stale)
			require.Equal(t, noon.Add(2*time.Second), job.StaleSince)
			job, err = answer(store, noon.Add(2*time.Second))
			require.NoError(t, err)
			require.False(t, job.Stale)
			require.True(t, job.StaleSince.IsZero())
		})
	}
}

func TestAFailureThatBeganBeforeTheJobWasSeenDoesNotMakeItStale(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	observe(t, store, 0, job.Observation{Detail: job.Running})
	require.NoError(t, store.MarkStale(t.Context(), "a", "timed out", noon.Add(-time.Second)))
	job, err := store.MarkMissing(t.Context(), "a", noon.Add(-time.Second))
	require.NoError(t, err)
	require.False(t, job.Stale)
	require.False(t, job.Missing)
}

func TestAbsencesAreCounted(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	observe(t, store, 0, job.Observation{Detail: job.Running})
	require.NoError(t, store.MarkStale(t.Context(), "a", "timed out", noon))
	for count := 1; count <= 3; count++ {
		j, err := store.MarkMissing(t.Context(), "a", noon.Add(time.Duration(count)*time.Minute))
		require.NoError(t, err)
		require.True(t, j.Missing)
		require.Equal(t, count, j.MissingCount)
		require.Equal(t, noon.Add(time.Minute), j.MissingSince)
		require.Equal(t, job.Running, j.Detail, "a missing job was taken for an ended one")
		require.False(t, j.Stale, "the listing was answered")
	}
}

func TestAJobThatHasEndedIsNotMissing(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "big", "1")
	observe(t, store, 0, job.Observation{Detail: job.Completed})
	job, err := store.MarkMissing(t.Context(), "a", noon.Add(time.Hour))
	require.NoError(t, err)
	require.False(t, job.Missing)
}
