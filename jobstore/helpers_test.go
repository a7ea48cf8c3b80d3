package jobstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// noon is the time at which the tests' first observation is made.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 123456789, time.UTC)

func openStore(t testing.TB, directory string) *jobstore.Store {
	t.Helper()
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// intend records a submission that says little.
func intend(t testing.TB, store *jobstore.Store, tag, target string) {
	t.Helper()
	require.NoError(t, store.Intend(t.Context(), job.Job{Tag: tag, Target: target}))
}

// submit records a submission that was accepted.
func submit(t testing.TB, store *jobstore.Store, tag, target, id string) {
	t.Helper()
	intend(t, store, tag, target)
	_, err := store.Accept(t.Context(), tag, job.Job{ID: id, Observation: job.Observation{Observed: noon.Add(-time.Hour)}})
	require.NoError(t, err)
}

// fullJob returns a job with every field of an intent set.
func fullJob(number int) job.Job {
	return job.Job{
		Tag: fmt.Sprintf("tag-%d", number), Target: "big", Definition: "slurm", Connection: "ssh:login.example.org",
		Observation: job.Observation{Name: "simulation", Queue: "normal", Owner: "alice"}, Directory: "/home/alice/run", Ensemble: "4f1c2a7e5b0f", Part: "solver", Interactive: true, Hosted: true, Undated: true,
		Created: noon.Add(time.Duration(number) * time.Second),
		Attributes: map[string]any{
			"nodes": 4, "exclusive": true, "queue": "normal", "unset": nil,
			"queues": []string{"normal", "debug"}, "limits": map[string]string{"time": "1:00:00"}, "none": []string{}, "empty": map[string]string{},
		},
		Arguments: []string{"sbatch", "--parsable", "/home/alice/run/job.sh", ""},
		Script:    "#!/bin/sh\n#SBATCH -N 4\nsrun ./simulate\n",
		Request:   "executable = \"./simulate\"\n",
	}
}

func number(value int) *int { return &value }

// tags returns the tags of jobs in their order.
func tags(jobs []job.Job) []string {
	list := make([]string, 0, len(jobs))
	for _, job := range jobs {
		list = append(list, job.Tag)
	}
	return list
}
