package monitor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// What is on record from before may be older than what others have seen.
func TestStatesOnRecordAreUnconfirmedUntilTheSchedulerHasAnswered(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		recorded := func(id string, detail job.Detail, observed time.Time) job.Job {
			return job.Job{Tag: "tag-" + id, ID: id, Observation: job.Observation{Detail: detail, Observed: observed}}
		}
		before := time.Now().Add(-time.Minute)
		jobs := []job.Job{
			recorded("1", job.Running, before), recorded("2", job.Running, before), recorded("3", job.Completed, before),
			recorded("4", job.Running, time.Now()), recorded("5", job.Running, before),
		}
		jobs[4].Stale, jobs[4].StaleReason, jobs[4].StaleSince = true, "the query failed", time.Now()
		unconfirmed := func() (ids []string) {
			for job := range w.manager().All(model.Job) {
				if value, _ := job.Value(vocabulary.AttributeJobUnconfirmed); value.Boolean() {
					ids = append(ids, job.ID())
				}
			}
			return ids
		}
		w.record.set(jobs...)
		w.source.set(model.Job, nil, rowOf("2", "state=RUNNING"))
		w.begin()
		require.Equal(t, []string{"1", "5"}, unconfirmed(), "the listing has 2, 3 has ended, 4 was observed since, and of 5 a query failed")
		jobs[0].Observed = time.Now()
		w.record.set(jobs...)
		w.settle(3 * time.Second)
		require.Equal(t, []string{"5"}, unconfirmed())
		jobs[4].Stale, jobs[4].StaleReason, jobs[4].StaleSince = false, "", time.Time{}
		w.record.set(jobs...)
		w.settle(10 * time.Second)
		require.Empty(t, unconfirmed(), "nobody waits longer")
		require.Equal(t, "not confirmed by the scheduler yet", w.value(model.Job, "5", vocabulary.AttributeJobDoubt))
		require.Empty(t, w.value(model.Job, "1", vocabulary.AttributeJobDoubt))
		require.Empty(t, w.value(model.Job, "2", vocabulary.AttributeJobDoubt))
	})
}
