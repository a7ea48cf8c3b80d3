package bothends_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// BenchmarkAnnouncement brings a cluster from the model of an agent to the model of a client in
// another process.
func BenchmarkAnnouncement(b *testing.B) {
	var took time.Duration
	for b.Loop() {
		s := start(b)
		begun := time.Now() // the agent's model is filled and the client requests events
		require.NoError(b, s.Listed(b.Context()))
		took += time.Since(begun)
		snapshot, _ := s.Model().Snapshot().Manager(s.Manager())
		require.Equal(b, clusterJobs, snapshot.Len(model.Job))
		require.Equal(b, clusterNodes, snapshot.Len(model.Node))
		f := operate(b, s, "release")
		b.ReportMetric(float64(f.written)/1e6, "MB-written")
		b.ReportMetric(float64(f.highest)/1024, "MiB-agent")
		b.ReportMetric(f.processor.Seconds(), "cpu-s-agent")
		require.NoError(b, s.Close())
	}
	b.ReportMetric(float64(highest())/1024, "MiB-client")
	b.ReportMetric(took.Seconds()/float64(b.N), "s-announcement")
}

// BenchmarkChanges changes 1,000 of 100,000 jobs a second in the agent's model, and measures until
// the client's model has each change.
func BenchmarkChanges(b *testing.B) {
	s := start(b)
	require.NoError(b, s.Listed(b.Context()))
	for b.Loop() {
		took := make([]time.Duration, 0, changes)
		operate(b, s, "hold")
		own := processorTime()
		snapshot := s.Model().Snapshot()
		operate(b, s, "suspend")
		for len(took) < changes {
			next, err := s.Model().Next(b.Context(), snapshot)
			require.NoError(b, err)
			now := time.Now().UnixNano()
			before, _ := snapshot.Manager(s.Manager())
			after, _ := next.Manager(s.Manager())
			for change := range after.Changes(model.Job, before) {
				value, _ := change.After.Value(vocabulary.AttributeJobMessage)
				changed, err := strconv.ParseInt(value.Text(), 10, 64)
				require.NoError(b, err)
				took = append(took, time.Duration(now-changed))
			}
			snapshot = next
		}
		slices.Sort(took)
		f := operate(b, s, "release")
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
		b.ReportMetric(float64(f.written)/changes, "B/change")
		b.ReportMetric(f.processor.Seconds()*1e6/changes, "cpu-µs-agent")
		b.ReportMetric((processorTime()-own).Seconds()*1e6/changes, "cpu-µs-client")
	}
	require.NoError(b, s.Close())
}

// BenchmarkIdle does nothing for ten seconds.
func BenchmarkIdle(b *testing.B) {
	s := start(b)
	require.NoError(b, s.Listed(b.Context()))
	for b.Loop() {
		<-time.After(12 * time.Second) // wait for garbage collection
		operate(b, s, "hold")
		own := processorTime()
		<-time.After(10 * time.Second)
		own = processorTime() - own
		f := operate(b, s, "release")
		b.ReportMetric(own.Seconds()*10, "%-client")
		b.ReportMetric(f.processor.Seconds()*10, "%-agent")
		b.ReportMetric(float64(f.written), "bytes") // the answer to the start of the measurement
	}
	require.NoError(b, s.Close())
}
