package monitor

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// A listedCluster is a cluster whose listings are files, in the form that the
// commands of rms/slurm.xml print: its parsers read them.
type listedCluster struct {
	folder     string
	controller *control.Controller
}

var listingElements = map[model.Kind]config.CommandElement{model.Queue: config.ListQueues, model.Node: config.ListNodes, model.Job: config.ListJobs}

func newListedCluster(b testing.TB) *listedCluster {
	c := &listedCluster{folder: b.TempDir()}
	source, err := os.ReadFile(filepath.Join("..", "rms", "slurm.xml"))
	require.NoError(b, err)
	source = bytes.ReplaceAll(source, []byte(`x:timeout="60s"`), []byte(`x:timeout="10m"`)) // the machine may be busy
	source = regexp.MustCompile(`(?s)<start-up-command .*?</start-up-command>`).ReplaceAll(source, nil)
	for _, element := range listingElements {
		arguments := regexp.MustCompile(`(?s)(<x:` + string(element) + ` [^>]*>).*?(<x:read)`)
		require.Regexp(b, arguments, string(source))
		source = arguments.ReplaceAll(source, []byte("$1<arg>cat</arg><arg>"+c.file(element)+"</arg>$2"))
	}
	counted := regexp.MustCompile(`(?s)(<x:join name="job"[^>]*>).*?(<x:table)`) // the jobs of each queue
	require.Regexp(b, counted, string(source))
	source = counted.ReplaceAll(source, []byte("$1<arg>cat</arg><arg>"+c.file(countedJobs)+"</arg>$2"))
	source = bytes.ReplaceAll(source, []byte(`separator="mark"`), []byte(`separator="|"`)) // otherwise each listing has its own mark
	definition, err := config.Read("slurm.xml", source, nil)
	require.NoError(b, err)
	local, err := remote.NewLocal()
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, local.Close()) })
	store, err := jobstore.Open(b.Context(), c.folder)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	c.controller = control.New(control.Options{Target: "cluster", Definition: definition, Connection: local, Store: store})
	return c
}

// countedJobs lists the queues and states of the jobs.
const countedJobs = "counted"

func (c *listedCluster) file(element config.CommandElement) string {
	return filepath.Join(c.folder, string(element))
}

// write makes a listing of lines.
func (c *listedCluster) write(b testing.TB, element config.CommandElement, lines int, line func(w *bufio.Writer, i int)) {
	file, err := os.Create(c.file(element))
	require.NoError(b, err)
	w := bufio.NewWriter(file)
	for i := range lines {
		line(w, i)
	}
	require.NoError(b, w.Flush())
	require.NoError(b, file.Close())
}

// fill makes listings of a busy cluster: a tenth of the jobs run, on up to four nodes, most
// others wait. Jobs for which changed is true are in another state.
func (c *listedCluster) fill(b testing.TB, jobs, nodes int, changed func(int) bool) {
	const queues, users = 20, 500
	c.write(b, config.ListQueues, queues, func(w *bufio.Writer, i int) {
		fmt.Fprintf(w, "batch%d|batch%d|up|7-00:00:00|%d\n", i, i, nodes/queues)
	})
	c.write(b, config.ListNodes, nodes, func(w *bufio.Writer, i int) {
		for _, queue := range []int{i % queues, (i + 1) % queues} {
			fmt.Fprintf(w, "node%05d|batch%d|mixed|%d/%d/0/128|%d.%02d|515000|none\n", i, queue, i%129, 128-i%129, i%128, i%100)
		}
	})
	c.write(b, config.ListJobs, jobs, func(w *bufio.Writer, i int) {
		native, reason, where, started, ended := "PENDING", "Priority", "", "N/A", "N/A"
		if (i%10 == 0) != changed(i) {
			first := i % max(nodes-4, 1)
			native, reason, where = "RUNNING", "None", fmt.Sprintf("node[%05d-%05d]", first, first+i/10%4)
			started, ended = fmt.Sprintf("2026-11-%02dT%02d:%02d:00", 1+i%28, i%24, i%60), fmt.Sprintf("2026-12-%02dT%02d:%02d:00", 1+i%28, i%24, i%60)
		}
		fmt.Fprintf(w, "%d|%s|%s|batch%d|%s|2026-11-%02dT%02d:%02d:%02d|%s|%s|user%d|%d|0|/home/user%d/run-%d.sh|train-%d-of-%d\n",
			4_000_000+i, native, reason, i%queues, where, 1+i%28, i%24, i%60, i%59, started, ended, i%users, 1<<(i%8), i%users, i, i%977, i)
	})

	c.write(b, countedJobs, jobs, func(w *bufio.Writer, i int) {
		fmt.Fprintf(w, "batch%d|%s\n", i%queues, []string{"RUNNING", "PENDING"}[min(i%10, 1)])
	})
}

func none(int) bool { return false }

// Rows lists with the commands of the cluster.
func (c *listedCluster) Rows(ctx context.Context, kind model.Kind, each func(string, Facts) error) (Outcome, error) {
	listed, err := c.controller.Rows(ctx, listingElements[kind], config.AllJobs, func(row command.Row) error { return each(row.ID, &row) })
	return Outcome{NotUnderstood: listed.NotUnderstood}, err
}

// A lister lists rows.
type lister interface {
	Rows(ctx context.Context, kind model.Kind, each func(string, Facts) error) (Outcome, error)
}

// watched returns a monitor of the cluster over an empty model.
func (c *listedCluster) watched(b testing.TB, source lister) *Monitor {
	m := model.New()
	m.Update(func(u *model.Update) { u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"}) })
	watching := New(Options{Model: m, Manager: "rm", Rows: source.Rows, Location: time.UTC, User: "user1"})
	require.NoError(b, define(m))
	watching.adopt()
	return watching
}

// pass lists everything once.
func (m *Monitor) pass(b testing.TB) {
	for _, kind := range []model.Kind{model.Queue, model.Node, model.Job} {
		if _, _, err := m.list(b.Context(), kind); err != nil {
			require.NoError(b, err)
		}
	}
	require.Empty(b, m.Problems())
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// processorTime is the CPU time of the process.
func processorTime(b testing.TB) time.Duration {
	var used unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// passes runs passes and reports their processor time: wall time says little while others use
// the machine.
func passes(b *testing.B, pass func()) {
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		pass()
	}
	b.ReportMetric((processorTime(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
}

var sizes = []struct{ jobs, nodes int }{{100_000, 10_000}, {1_000_000, 10_000}}

// sources are the sources of the rows of a pass: a command and its parsers, or memory, which
// measures only the monitor and the model.
var sources = []struct {
	name string
	of   func(b testing.TB, c *listedCluster) lister
}{
	{"listed", func(_ testing.TB, c *listedCluster) lister { return c }},
	{"merged", func(b testing.TB, c *listedCluster) lister { return remember(b, c) }},
}

// BenchmarkFirstPass fills an empty model; B/job is the memory kept per job.
func BenchmarkFirstPass(b *testing.B) {
	for _, source := range sources {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("%s/%d", source.name, size.jobs), func(b *testing.B) {
				c := newListedCluster(b)
				c.fill(b, size.jobs, size.nodes, none)
				from := source.of(b, c)
				before := heap()
				var m *Monitor
				passes(b, func() {
					m = c.watched(b, from)
					m.pass(b)
				})
				b.ReportMetric(float64(heap()-before)/float64(size.jobs), "B/job")
				manager, _ := m.options.Model.Snapshot().Manager("rm")
				require.Equal(b, size.jobs, manager.Len(model.Job))
				require.Equal(b, size.nodes, manager.Len(model.Node))
			})
		}
	}
}

// BenchmarkNextPass lists everything again, after 1 % of the jobs changed.
func BenchmarkNextPass(b *testing.B) {
	for _, source := range sources {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("%s/%d", source.name, size.jobs), func(b *testing.B) {
				calm, moved := newListedCluster(b), newListedCluster(b)
				calm.fill(b, size.jobs, size.nodes, none)
				moved.fill(b, size.jobs, size.nodes, func(i int) bool { return i%100 == 0 })
				either := &alternating{sources: []lister{source.of(b, calm), source.of(b, moved)}}
				m := calm.watched(b, either)
				m.pass(b)
				passes(b, func() {
					either.passes++
					m.pass(b)
				})
			})
		}
	}
}

// BenchmarkReading is the part of a pass over 100,000 jobs that is not the monitor's: the
// command, the parsers and the hand-over of rows.
func BenchmarkReading(b *testing.B) {
	c := newListedCluster(b)
	c.fill(b, 100_000, 10_000, none)
	passes(b, func() {
		for kind := range listingElements {
			if _, err := c.Rows(b.Context(), kind, func(string, Facts) error { return nil }); err != nil {
				require.NoError(b, err)
			}
		}
	})
}

// alternating lists from one source after the other.
type alternating struct {
	sources []lister
	passes  int
}

func (a *alternating) Rows(ctx context.Context, kind model.Kind, each func(string, Facts) error) (Outcome, error) {
	return a.sources[a.passes%len(a.sources)].Rows(ctx, kind, each)
}

// remembered has the rows of listings in memory.
type remembered map[model.Kind][]command.Row

func remember(b testing.TB, c *listedCluster) remembered {
	kept := remembered{}
	for kind, element := range listingElements {
		_, err := c.controller.Rows(b.Context(), element, config.AllJobs, func(row command.Row) error {
			kept[kind] = append(kept[kind], row)
			return nil
		})
		require.NoError(b, err)
	}
	return kept
}

func (r remembered) Rows(_ context.Context, kind model.Kind, each func(string, Facts) error) (Outcome, error) {
	for i := range r[kind] {
		if err := each(r[kind][i].ID, &r[kind][i]); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, nil
}
