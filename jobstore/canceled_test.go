package jobstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// canceledAt is when the scheduler of the tests accepts to cancel a job.
var canceledAt = noon.Add(time.Minute)

// accepted is what the command printed that canceled a job.
var accepted = job.Observation{Observed: canceledAt, Source: "terminate-job", Evidence: "7 has been deleted"}

func TestAJobThatEndsWithoutAWordAfterItWasCanceledIsCanceled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seen job.Observation
		want job.Detail
	}{
		"gone":                           {job.Observation{Detail: job.Completed}, job.Canceled},
		"a complaint that it is gone":    {job.Observation{Detail: job.Completed, Origin: job.Origin{Stream: "stderr", Text: "7 unknown: COMPLETED or purged"}}, job.Canceled},
		"a letter":                       {job.Observation{Detail: job.Completed, Native: "C"}, job.Canceled},
		"a row with a letter":            {job.Observation{Detail: job.Completed, Origin: job.Origin{Stream: "stdout", Text: "7.pbs sim bob 0 C batch"}}, job.Canceled},
		"an ending job":                  {job.Observation{Detail: job.Completed, Origin: job.Origin{Stream: "stdout", Text: "JobState=COMPLETING Reason=None"}}, job.Canceled},
		"an exit code":                   {job.Observation{Detail: job.Completed, ExitCode: number(0)}, job.Completed},
		"the scheduler's word":           {job.Observation{Detail: job.Completed, Native: "DONE"}, job.Completed},
		"the word COMPLETED in its line": {job.Observation{Detail: job.Completed, Origin: job.Origin{Stream: "stdout", Text: "JobState=COMPLETED Reason=None"}}, job.Completed},
		"failed":                         {job.Observation{Detail: job.Failed}, job.Failed},
		"still running":                  {job.Observation{Detail: job.Running}, job.Running},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, tag, again := seenAs(t, job.Observation{Detail: job.Running})
			require.NoError(t, store.MarkCanceled(t.Context(), tag, accepted))
			c.seen.Observed = canceledAt.Add(time.Second)
			require.Equal(t, c.want, again(c.seen).Detail)
		})
	}
}

func TestTheEndOfACanceledJobIsExplainedByBothFacts(t *testing.T) {
	t.Parallel()
	store, tag, again := seenAs(t, job.Observation{Detail: job.Running})
	require.NoError(t, store.MarkCanceled(t.Context(), tag, accepted))
	require.NoError(t, store.MarkCanceled(t.Context(), tag, job.Observation{Observed: canceledAt.Add(time.Minute)}), "again")
	j := again(job.Observation{Detail: job.Completed, Observed: canceledAt.Add(time.Second), Source: "get-job-status", Evidence: "qstat: Unknown Job Id 7"})
	require.Equal(t, "qstat: Unknown Job Id 7", j.Evidence)
	require.Contains(t, j.Reason, canceledAt.Format(time.RFC3339))

	events := history(t, store, tag)
	request, end := events[len(events)-2], events[len(events)-1]
	require.Equal(t, jobstore.EventCanceling, request.Kind)
	require.Equal(t, accepted, job.Observation{Observed: request.Observed, Source: request.Source, Evidence: request.Evidence})
	require.Equal(t, job.Running, request.Detail)
	require.Equal(t, []any{job.EventState, job.Canceled, "qstat: Unknown Job Id 7", j.Reason}, []any{end.Kind, end.Detail, end.Evidence, end.Reason})
	require.Equal(t, job.Canceled, again(job.Observation{Detail: job.Completed, Observed: canceledAt.Add(time.Hour)}).Detail)
}

func TestAJobThatHadEndedBeforeItWasCanceledKeepsItsEnd(t *testing.T) {
	t.Parallel()
	store, tag, again := seenAs(t, job.Observation{Detail: job.Completed})
	require.NoError(t, store.MarkCanceled(t.Context(), tag, accepted))
	require.Equal(t, job.Completed, again(job.Observation{Detail: job.Completed, Observed: canceledAt.Add(time.Second)}).Detail)
}

func TestAJobThatHasEndedIsNotStaleAfterACancel(t *testing.T) {
	t.Parallel()
	store, tag, _ := seenAs(t, job.Observation{Detail: job.Canceled})
	require.NoError(t, store.MarkStale(t.Context(), tag, "cancel requested, waiting for confirmation", canceledAt))
	require.False(t, byTag(t, store, tag).Stale)
}

func TestAListingThatShowsACanceledJobAsEndedCancelsIt(t *testing.T) {
	t.Parallel()
	store, tag, _ := seenAs(t, job.Observation{Detail: job.Running})
	require.NoError(t, store.MarkCanceled(t.Context(), tag, accepted))
	roll, err := store.OpenJobs(t.Context(), jobstore.OpenFilter{Target: "big"})
	require.NoError(t, err)
	require.NoError(t, store.ObserveRoll(t.Context(), roll, canceledAt.Add(time.Second), func(*job.Job) (job.Observation, bool) {
		return job.Observation{Detail: job.Completed}, true
	}))
	j, err := store.ByTag(t.Context(), tag)
	require.NoError(t, err)
	require.Equal(t, job.Canceled, j.Detail)
}
