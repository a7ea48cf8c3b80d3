package jobstore_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// seenAs returns a store with a job that was seen once, and how to see it again.
func seenAs(t *testing.T, first job.Observation) (*jobstore.Store, string, func(job.Observation) job.Job) {
	t.Helper()
	store, tag := openStore(t, t.TempDir()), uuid.NewString()
	submit(t, store, tag, "big", "7")
	after := time.Duration(0)
	again := func(seen job.Observation) job.Job {
		after += time.Second
		if seen.Observed.IsZero() {
			seen.Observed = noon.Add(after)
		}
		job, err := store.Observe(t.Context(), tag, seen)
		require.NoError(t, err)
		return job
	}
	again(first)
	return store, tag, again
}

func last(t *testing.T, store *jobstore.Store, tag string) job.Event {
	t.Helper()
	events := history(t, store, tag)
	return events[len(events)-1]
}

func TestAJobThatIsRequeuedIsBelievedAndNoticed(t *testing.T) {
	t.Parallel()
	store, tag, again := seenAs(t, job.Observation{Detail: job.Running, Nodes: "n7"})
	j := again(job.Observation{Detail: job.QueuedActive, Origin: job.Origin{Stream: "stdout", Line: 2, Text: "7 PENDING"}})
	require.Equal(t, job.QueuedActive, j.Detail)
	require.Empty(t, j.Nodes)
	require.Contains(t, j.Irregular, "RUNNING")
	event := last(t, store, tag)
	require.Equal(t, job.EventReturned, event.Kind)
	require.Equal(t, job.Running, event.Before)
	require.Equal(t, "7 PENDING", event.Origin.Text)
	recorded, err := store.ByTag(t.Context(), tag)
	require.NoError(t, err)
	require.Equal(t, j.Irregular, recorded.Irregular)

	require.NotEmpty(t, again(job.Observation{Detail: job.UserOnHold}).Irregular, "it still waits")
	require.Empty(t, again(job.Observation{Detail: job.Running}).Irregular, "it goes on")
	require.Equal(t, job.EventState, last(t, store, tag).Kind)
}

func TestAnotherEndThanTheOneOnRecordIsNotBelievedAndNoticedOnce(t *testing.T) {
	t.Parallel()
	for seen, words := range map[job.Detail]string{job.Canceled: "too", job.Running: "after it had ended"} {
		store, tag, again := seenAs(t, job.Observation{Detail: job.Failed, Native: "F"})
		for range 3 {
			j := again(job.Observation{Detail: seen, Native: "X"})
			require.Equal(t, job.Failed, j.Detail)
			require.Equal(t, "F", j.Native)
			require.Contains(t, j.Irregular, words)
		}
		require.Equal(t, []job.EventKind{jobstore.EventIntended, job.EventAccepted, job.EventState, jobstore.EventContradiction},
			kinds(history(t, store, tag)))
		require.Equal(t, seen, last(t, store, tag).Detail)
	}
}

func TestWhatIsSeenOfAnotherJobWithTheSameIDIsNotBelieved(t *testing.T) {
	t.Parallel()
	other := uuid.NewString()
	for name, c := range map[string]struct{ first, then job.Observation }{
		"another tag":                               {job.Observation{Detail: job.Running}, job.Observation{Detail: job.Completed, Identity: other}},
		"another identity":                          {job.Observation{Detail: job.Running, Identity: "made 10:00"}, job.Observation{Detail: job.Completed, Identity: "made 23:00"}},
		"it goes back and was submitted later":      {job.Observation{Detail: job.Running, Submitted: "10:00"}, job.Observation{Detail: job.QueuedActive, Submitted: "23:00"}},
		"one has ended and the other was submitted": {job.Observation{Detail: job.Completed, Submitted: "10:00"}, job.Observation{Detail: job.Running, Submitted: "23:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			store, tag, again := seenAs(t, c.first)
			for range 3 {
				c.then.Name, c.then.ExitCode = "not mine", number(9)
				job := again(c.then)
				require.Equal(t, c.first.Detail, job.Detail)
				require.Empty(t, job.Name, "nothing is learned from another job")
				require.Nil(t, job.ExitCode)
				require.Equal(t, "another job has its id", job.Irregular)
				require.Equal(t, !c.first.Detail.Ended(), job.Missing)
			}
			list := kinds(history(t, store, tag))
			count := 0
			for _, kind := range list {
				if kind == jobstore.EventReplaced {
					count++
				}
			}
			require.Equal(t, 1, count, "%v", list)

			job := again(job.Observation{Detail: c.first.Detail, Identity: tag, Submitted: c.first.Submitted})
			if !c.first.Detail.Ended() {
				require.Empty(t, job.Irregular, "it is seen itself again")
				require.False(t, job.Missing)
			}
		})
	}
}

// Commands of a scheduler may write one time in several ways, and a job keeps its identity when
// it is requeued, which gives it another time.
func TestAnotherTimeOfSubmissionAloneIsNoOtherJob(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, then job.Observation }{
		"it goes on":            {job.Observation{Detail: job.QueuedActive, Submitted: "10:00"}, job.Observation{Detail: job.Running, Submitted: "Nov 20 10:00"}},
		"its identity is known": {job.Observation{Detail: job.Running, Submitted: "10:00", Identity: "made 10:00"}, job.Observation{Detail: job.QueuedActive, Submitted: "10:30", Identity: "made 10:00"}},
		"one time is unknown":   {job.Observation{Detail: job.Running}, job.Observation{Detail: job.QueuedActive, Submitted: "10:30"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, again := seenAs(t, c.first)
			require.Equal(t, c.then.Detail, again(c.then).Detail)
		})
	}
}

func TestAClockThatWasSetBackHidesNothing(t *testing.T) {
	t.Parallel()
	store, tag, again := seenAs(t, job.Observation{Detail: job.QueuedActive})
	ahead := time.Now().Add(24 * time.Hour)
	again(job.Observation{Detail: job.Running, Observed: ahead})
	require.NoError(t, store.MarkStale(t.Context(), tag, "no answer", ahead.Add(time.Hour)))

	now := time.Now()
	j := again(job.Observation{Detail: job.Completed, Observed: now})
	require.Equal(t, job.Completed, j.Detail)
	require.Equal(t, now.UnixNano(), j.Observed.UnixNano())
	require.False(t, j.Stale, "the doubt is of a time that is still to come, too")
	events := history(t, store, tag)
	require.Equal(t, []job.EventKind{jobstore.EventClock, job.EventState}, kinds(events[len(events)-2:]))
}

func TestAnAnswerThatANewerOneHasOvertakenIsLeftOut(t *testing.T) {
	t.Parallel()
	_, _, again := seenAs(t, job.Observation{Detail: job.QueuedActive})
	again(job.Observation{Detail: job.Running, Observed: time.Now().Add(-time.Second)})
	require.Equal(t, job.Running, again(job.Observation{Detail: job.Completed, Observed: time.Now().Add(-time.Minute)}).Detail)
}
