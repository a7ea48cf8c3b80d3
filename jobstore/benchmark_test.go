package jobstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func BenchmarkOpen(b *testing.B) {
	directory := b.TempDir()
	store, err := jobstore.Open(b.Context(), directory)
	require.NoError(b, err)
	fill(b, store, 1000)
	require.NoError(b, store.Close())
	for b.Loop() {
		store, err := jobstore.Open(b.Context(), directory)
		require.NoError(b, err)
		require.NoError(b, store.Close())
	}
}

func BenchmarkIntendAndAccept(b *testing.B) {
	store := openStore(b, b.TempDir())
	for i := 0; b.Loop(); i++ {
		j := fullJob(i)
		require.NoError(b, store.Intend(b.Context(), j))
		_, err := store.Accept(b.Context(), j.Tag, job.Job{ID: fmt.Sprint(i), Observation: job.Observation{Detail: job.Submitted}})
		require.NoError(b, err)
	}
}

func BenchmarkObserve(b *testing.B) {
	store := openStore(b, b.TempDir())
	fill(b, store, 1000)
	for i := 0; b.Loop(); i++ {
		_, err := store.Observe(b.Context(), fmt.Sprintf("tag-%d", i%1000), job.Observation{
			Detail: job.Running, Native: "RUNNING", Observed: noon.Add(time.Duration(i) * time.Millisecond),
			Source: "get-job-status", Evidence: "4711 RUNNING normal",
		})
		require.NoError(b, err)
	}
}

func BenchmarkFindAmong10000(b *testing.B) {
	store := openStore(b, b.TempDir())
	fill(b, store, 10_000)
	for i := 0; b.Loop(); i++ {
		_, err := store.Find(b.Context(), fmt.Sprint(i%10_000), "")
		require.NoError(b, err)
	}
}

func BenchmarkList10000(b *testing.B) {
	store := openStore(b, b.TempDir())
	fill(b, store, 10_000)
	for b.Loop() {
		jobs, err := store.List(b.Context(), jobstore.Filter{All: true})
		require.NoError(b, err)
		require.Len(b, jobs, 10_000)
	}
}

func BenchmarkEachOf10000Processes(b *testing.B) {
	for name, output := range map[string]string{"silent": "", "short": "step 1\nstep 2\n", "long": strings.Repeat("a line of output\n", 240)} {
		b.Run(name, func(b *testing.B) {
			store := openStore(b, b.TempDir())
			fill(b, store, 1)
			processes := make([]job.Process, 10_000)
			for rank := range processes {
				processes[rank] = job.Process{Rank: rank, Node: "n1", PID: rank + 1, State: "RUNNING", Output: output, ErrorOutput: output}
			}
			require.NoError(b, store.RecordProcesses(b.Context(), "tag-0", processes))
			b.ReportAllocs()
			for b.Loop() {
				count := 0
				require.NoError(b, store.EachProcess(b.Context(), "big", func(string, job.Process) error { count++; return nil }))
				require.Equal(b, 10_000, count)
			}
		})
	}
}

// fill adopts that many jobs with the numbers from 0 as ids.
func fill(b *testing.B, store *jobstore.Store, count int) {
	for i := range count {
		j := fullJob(i)
		j.ID, j.Detail = fmt.Sprint(i), job.QueuedActive
		_, err := store.Adopt(b.Context(), j)
		require.NoError(b, err)
	}
}
