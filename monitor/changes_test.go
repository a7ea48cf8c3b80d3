package monitor_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

func TestJobsThatChangedAreMergedWithoutTheOthers(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		var mutex sync.Mutex
		var changed []row
		var gone, asked []string
		change := func(to []row, without ...string) {
			mutex.Lock()
			defer mutex.Unlock()
			changed, gone = to, without
		}
		w.options.JobChanges = func(_ context.Context, ids []string, each func(string, monitor.Facts) error) (monitor.Outcome, bool, error) {
			mutex.Lock()
			defer mutex.Unlock()
			asked = append(asked, ids...)
			for _, r := range changed {
				require.NoError(t, each(r.id, r.facts))
			}
			for _, r := range w.source.rows[model.Job] {
				if slices.Contains(ids, r.id) {
					require.NoError(t, each(r.id, r.facts))
				}
			}
			return monitor.Outcome{Gone: gone}, changed != nil, nil
		}
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING"), rowOf("2", "state=RUNNING"), rowOf("3", "state=QUEUED_ACTIVE"))
		w.begin()
		require.Equal(t, []string{"1", "2", "3"}, w.ids(model.Job))

		change([]row{rowOf("3", "state=RUNNING"), rowOf("4", "state=QUEUED_ACTIVE"), rowOf("5", "state=RUNNING")}, "1", "5", "none")
		w.again()
		require.Equal(t, []string{"2", "3", "4", "5"}, w.ids(model.Job), "a row counts more than that its job is gone")
		require.Equal(t, vocabulary.StateRunning, w.value(model.Job, "3", vocabulary.AttributeJobState))
		require.Equal(t, 1, w.source.asked(model.Job), "only the first listing is of all jobs")
		require.Equal(t, 4, w.Listings()[2].Rows)

		// A job that is new on record is found among the rows from before.
		change([]row{})
		w.record.set(job.Job{Tag: "tag-2", ID: "2", Observation: job.Observation{Detail: job.Running}})
		w.again()
		w.again()
		mutex.Lock()
		require.Equal(t, []string{"2"}, slices.Compact(asked))
		mutex.Unlock()
		require.Equal(t, "tag-2", w.value(model.Job, "2", vocabulary.AttributeJobTag))

		// It stays because of its record after the scheduler has forgotten it.
		change([]row{}, "2", "3")
		w.again()
		require.Equal(t, []string{"2", "4", "5"}, w.ids(model.Job))
		require.Equal(t, 1, w.source.asked(model.Job))
	})
}
