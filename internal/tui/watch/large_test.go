package watch

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

// large is a model of a cluster with many jobs and nodes.
func large(t testing.TB, jobs, nodes int) *model.Model {
	t.Helper()
	m := model.New()
	change(t, m, func(u *model.Update) {
		for _, word := range []string{"STARTING", "STARTED"} {
			u.Put(model.Row{Kind: model.ResourceManager, ID: "slurm", Attributes: attributes("rmState", word)})
		}
		u.Put(model.Row{Manager: "slurm", Kind: model.Machine, ID: "host"})
		for i := range nodes {
			use := []string{"NONE", "OTHER_ALLOC_SHARED", "OTHER_ALLOC_EXCL"}[i%3]
			u.Put(model.Row{Manager: "slurm", Kind: model.Node, Parent: "host", ID: fmt.Sprintf("n%05d", i), Attributes: attributes("nodeState", "UP", "nodeExtraState", use, "nodeCPUs", "64")})
		}
		for i := range 20 {
			u.Put(model.Row{Manager: "slurm", Kind: model.Queue, ID: fmt.Sprintf("queue%d", i)})
		}
		for i := range jobs {
			word, native := "PENDING", "QUEUED_ACTIVE"
			if i%5 == 0 {
				word, native = "RUNNING", "RUNNING"
			}
			u.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: fmt.Sprintf("queue%d", i%20), ID: fmt.Sprint(4_000_000 + i), Attributes: attributes(
				"jobState", word, "jobDetail", native, "name", fmt.Sprintf("train-%d-of-%d", i%977, i), "userId", fmt.Sprintf("user%d", i%500),
				"jobStatusMessage", "Priority", "jobSubmitted", at(time.Duration(i)*time.Second))})
		}
	})
	return m
}

// BenchmarkKey presses keys of a list of 100,000 jobs: drawing does not wait
// until the rows are filtered and sorted again, which BenchmarkAnswer measures.
func BenchmarkKey(b *testing.B) {
	u := sit(b, large(b, 100_000, 10_000))
	for _, name := range []string{"down", "end", "pgup", "space", "/", "home"} {
		b.Run(name, func(b *testing.B) {
			key, known := namedKeys[name]
			if !known {
				key = tea.KeyPressMsg{Code: rune(name[0]), Text: name}
			}
			for b.Loop() {
				u.Update(key)
				u.View()
				u.typing = false
			}
		})
		u.settle()
	}
	u.press("3")
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			u.Update(namedKeys["down"])
			u.View()
		}
	})
}

// BenchmarkAnswer sorts and chooses rows among 100,000 jobs.
func BenchmarkAnswer(b *testing.B) {
	snapshot := large(b, 100_000, 10_000).Snapshot()
	for name, q := range map[string]query{
		"id": {kind: model.Job, reverse: true}, "name": {kind: model.Job, column: 5}, "state": {kind: model.Job, column: 2}, "age": {kind: model.Job, column: 6},
		"search": {kind: model.Job, words: []string{"user77"}}, "mine": {kind: model.Job, mine: true, user: "user7"}, "nodes": {kind: model.Node},
	} {
		b.Run(name, func(b *testing.B) {
			q.snapshot = snapshot
			for b.Loop() {
				require.NotEmpty(b, q.answer().rows)
			}
		})
	}
}
