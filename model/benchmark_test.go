package model_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// benchmarkQueues and benchmarkUsers are how many queues and users the jobs have.
const (
	benchmarkQueues = 20
	benchmarkUsers  = 500
)

// jobRows calls put with rows of jobs like those of a scheduler: most wait, some run.
func jobRows(jobs int, changed func(int) bool, put func(model.Row)) {
	attributes := make([]model.Attribute, 0, 10)
	for i := range jobs {
		state, native := "PENDING", "PD"
		if (i%5 == 0) != changed(i) {
			state, native = "RUNNING", "R"
		}
		attributes = append(attributes[:0],
			model.Attribute{ID: vocabulary.AttributeJobState, Text: state}, model.Attribute{ID: vocabulary.AttributeJobStatus, Text: native},
			model.Attribute{ID: vocabulary.AttributeName, Text: fmt.Sprintf("train-%d-of-%d", i%977, i)}, model.Attribute{ID: "userId", Text: fmt.Sprintf("user%d", i%benchmarkUsers)},
			model.Attribute{ID: "jobNumProcs", Text: fmt.Sprint(1 << (i % 8))}, model.Attribute{ID: vocabulary.AttributeJobMessage, Text: "Priority"},
			model.Attribute{ID: "submitted", Text: fmt.Sprintf("2026-01-%02dT%02d:%02d:%02d", 1+i%28, i%24, i%60, i%59)},
			model.Attribute{ID: "started", Text: "Unknown"}, model.Attribute{ID: "nodes", Text: fmt.Sprintf("n[%d-%d]", i%10000, i%10000+3)},
		)
		put(model.Row{Manager: "rm", Kind: model.Job, Parent: fmt.Sprintf("queue%d", i%benchmarkQueues), ID: fmt.Sprint(4_000_000 + i), Attributes: attributes, Whole: true})
	}
}

func unchanged(int) bool { return false }

func emptyCluster() *model.Model {
	m := model.New()
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		for i := range benchmarkQueues {
			u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: fmt.Sprintf("queue%d", i)})
		}
	})
	return m
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// BenchmarkFirstPass fills an empty model. B/job is what the model keeps for a job.
func BenchmarkFirstPass(b *testing.B) {
	for _, jobs := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			b.ReportAllocs()
			var m *model.Model
			before := heap()
			for b.Loop() {
				m = emptyCluster()
				m.Update(func(u *model.Update) { jobRows(jobs, unchanged, u.Put) })
			}
			b.StopTimer()
			b.ReportMetric(float64(heap()-before)/float64(jobs), "B/job")
			runtime.KeepAlive(m)
		})
	}
}

// BenchmarkNextPass puts all rows again, with changes in 1 % of them, while a reader holds the previous
// snapshot.
func BenchmarkNextPass(b *testing.B) {
	for _, jobs := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			m := emptyCluster()
			m.Update(func(u *model.Update) { jobRows(jobs, unchanged, u.Put) })
			flipped := false
			b.ReportAllocs()
			for b.Loop() {
				flipped = !flipped
				before := m.Snapshot()
				m.Update(func(u *model.Update) {
					jobRows(jobs, func(i int) bool { return flipped && i%100 == 0 }, u.Put)
				})
				runtime.KeepAlive(before)
			}
		})
	}
}

// BenchmarkChange changes one of 100,000 jobs and finds the change.
func BenchmarkChange(b *testing.B) {
	m := emptyCluster()
	m.Update(func(u *model.Update) { jobRows(100_000, unchanged, u.Put) })
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		before, _ := m.Snapshot().Manager("rm")
		m.Update(func(u *model.Update) {
			u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "queue0", ID: "4000000", Attributes: []model.Attribute{{ID: "progress", Text: fmt.Sprint(i)}}})
		})
		after, _ := m.Snapshot().Manager("rm")
		for change := range after.Changes(model.Job, before) {
			runtime.KeepAlive(change)
		}
	}
}
