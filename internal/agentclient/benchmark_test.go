package agentclient_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// A cluster of benchmarks, as its agent announces it.
const (
	benchmarkJobs  = 100_000
	benchmarkNodes = 10_000
	groupsOfFrame  = 200
)

// announcement returns the events with which an agent announces the cluster.
func announcement(transaction uint32) []byte {
	next := uint64(1)
	id := func() proxy.IDs {
		next++
		return proxy.IDsOf(next)
	}
	var text []byte
	send := func(kind model.Kind, parent string, groups []proxy.Group) {
		for some := range slices.Chunk(groups, groupsOfFrame) {
			text = proxy.Update{Change: proxy.New, Transaction: transaction, Kind: kind, Parent: parent, Groups: some}.Frame().Append(text)
		}
	}
	send(model.Machine, "1", []proxy.Group{{IDs: id(), Attributes: proxy.Attributes{{ID: "name", Value: "cluster"}}}})
	nodes := make([]proxy.Group, benchmarkNodes)
	for i := range nodes {
		nodes[i] = proxy.Group{IDs: id(), Attributes: proxy.Attributes{{ID: "name", Value: fmt.Sprint("n", i)}, {ID: "nodeState", Value: "UP"}}}
	}
	send(model.Node, "2", nodes)
	for queue := range 20 {
		parent := id()
		send(model.Queue, "1", []proxy.Group{{IDs: parent, Attributes: proxy.Attributes{{ID: "name", Value: fmt.Sprint("queue", queue)}}}})
		jobs := make([]proxy.Group, benchmarkJobs/20)
		for i := range jobs {
			number := queue*len(jobs) + i
			jobs[i] = proxy.Group{IDs: id(), Attributes: proxy.Attributes{{ID: "jobId", Value: strconv.Itoa(4_000_000 + number)}, {ID: "name", Value: fmt.Sprintf("train-%d", number%977)},
				{ID: "jobState", Value: "PENDING"}, {ID: "jobStatus", Value: "PD"}, {ID: "userId", Value: fmt.Sprint("user", number%500)}, {ID: "jobNumProcs", Value: strconv.Itoa(1 << (number % 8))}}}
		}
		send(model.Job, parent.String(), jobs)
	}
	return proxy.Update{Change: proxy.Changed, Transaction: transaction, Kind: model.ResourceManager,
		Groups: []proxy.Group{{IDs: proxy.IDsOf(1), Attributes: proxy.Attributes{{ID: proxy.LastEventAttribute, Value: "1"}}}}}.Frame().Append(text)
}

// BenchmarkAnnouncement puts 100,000 jobs with six attributes and 10,000 nodes from events into
// the model of a client.
func BenchmarkAnnouncement(b *testing.B) {
	text := announcement(3)
	b.SetBytes(int64(len(text)))
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		s, err := agentclient.Start(b.Context(), agentclient.Options{Agent: []string{"agent"}, Connection: agenttest.Acting(func(a *agenttest.Agent) {
			require.EqualValues(b, 3, a.Begin("details,resume").Transaction)
			a.Write(text)
			a.Await(proxy.Quit)
		})})
		require.NoError(b, err)
		require.NoError(b, s.Listed(b.Context()))
		require.Len(b, ids(s, model.Job), benchmarkJobs)
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
		require.NoError(b, s.Close())
		b.StartTimer()
	}
}

// BenchmarkChanges changes 100,000 jobs one by one and waits for each change in the model.
func BenchmarkChanges(b *testing.B) {
	text, changes := announcement(3), make(chan int)
	s, err := agentclient.Start(b.Context(), agentclient.Options{Agent: []string{"agent"}, Connection: agenttest.Acting(func(a *agenttest.Agent) {
		a.Begin("details,resume")
		a.Write(text)
		for change := range changes {
			a.Events(fmt.Sprintf("e6 1 %d 1 jobStatus=%d", benchmarkNodes+100+change*7919%(benchmarkJobs-1000), change))
		}
	})})
	require.NoError(b, err)
	require.NoError(b, s.Listed(b.Context()))
	took := make([]time.Duration, 0, 1000)
	for i := 0; b.Loop(); i++ {
		snapshot, begun := s.Model().Snapshot(), time.Now()
		changes <- i
		_, err := s.Model().Next(b.Context(), snapshot)
		require.NoError(b, err)
		took = append(took, time.Since(begun))
	}
	close(changes)
	<-s.Done()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
}

// BenchmarkIdle waits a second with 100,000 jobs in the model while nothing happens.
func BenchmarkIdle(b *testing.B) {
	text := announcement(3)
	s, err := agentclient.Start(b.Context(), agentclient.Options{Agent: []string{"agent"}, Connection: agenttest.Acting(func(a *agenttest.Agent) {
		a.Begin("details,resume")
		a.Write(text)
		a.Await(proxy.Quit)
	})})
	require.NoError(b, err)
	require.NoError(b, s.Listed(b.Context()))
	runtime.GC()
	var used time.Duration
	seconds := 0
	for b.Loop() {
		begun := processorTime(b)
		<-time.After(time.Second)
		used += processorTime(b) - begun
		seconds++
	}
	b.ReportMetric(100*used.Seconds()/float64(seconds), "%-of-a-core")
	require.NoError(b, s.Close())
}

// processorTime returns the CPU time of this process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
