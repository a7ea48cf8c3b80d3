package monitor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// Recorded states may be older than those of other observers.
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
		require.Equal(t, []string{"1", "2", "5"}, unconfirmed(), "the listing that has 2 may be from before, 3 has ended, 4 was observed since, and of 5 a query failed")
		jobs[0].Observed, jobs[1].Observed = time.Now(), time.Now()
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

// Schedulers forget jobs soon after their end, maybe before that is on record.
func TestEndedJobsStayEndedWithoutARow(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		recorded := job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Running, Observed: time.Now()}}
		late := job.Job{Tag: "tag-2", ID: "2", Observation: job.Observation{Detail: job.Submitted, Observed: time.Now()}}
		w.record.set(recorded)
		w.source.set(model.Job, nil, rowOf("1", "state=FAILED", "exitCode=3"), rowOf("2", "state=COMPLETED", "exitCode=0", "owner=me"), rowOf("3", "state=COMPLETED", "owner=her"), rowOf("4", "state=COMPLETED"))
		w.begin()
		details := func() map[string]string {
			found := map[string]string{}
			for each := range w.manager().All(model.Job) {
				found[each.ID()] = w.value(model.Job, each.ID(), vocabulary.AttributeJobDetail)
			}
			return found
		}
		soon := job.Job{Tag: "tag-4", ID: "4", Observation: job.Observation{Detail: job.Submitted, Observed: time.Now()}}
		w.record.set(recorded, soon)
		w.settle(3 * time.Second)
		w.source.set(model.Job, nil)
		w.again()
		require.Equal(t, map[string]string{"1": "FAILED", "4": "COMPLETED"}, details(), "the record says RUNNING and SUBMITTED")
		require.Equal(t, "3", w.value(model.Job, "1", vocabulary.AttributeJobExitCode))
		recorded.Name = "renamed"
		w.record.set(recorded, soon, late, job.Job{Tag: "tag-3", ID: "3", Observation: job.Observation{Detail: job.Submitted, Observed: time.Now()}})
		w.settle(3 * time.Second)
		require.Equal(t, map[string]string{"1": "FAILED", "2": "COMPLETED", "3": "SUBMITTED", "4": "COMPLETED"}, details(), "3 was a job of another user")
		late.Detail, late.Observed = job.Failed, time.Now()
		w.record.set(recorded, late)
		w.settle(3 * time.Second)
		require.Equal(t, map[string]string{"1": "FAILED", "2": "FAILED"}, details(), "the scheduler was queried since")
	})
}
