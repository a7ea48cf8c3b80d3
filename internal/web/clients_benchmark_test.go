package web

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

// The load that the server is to bear.
const (
	loadClients = 200
	loadJobs    = 100_000
	loadNodes   = 10_000
)

// A crowd is a number of clients that all show jobs, with the time of each one's last event.
type crowd struct {
	reported []atomic.Int64 // nanoseconds since start
	events   atomic.Int64
	bytes    atomic.Int64
	news     chan struct{} // has an element once a client was sent something
	start    time.Time
}

// join opens a client's stream and reads it until the benchmark ends.
func (c *crowd) join(b *testing.B, base *browser, i int, query url.Values, reading *sync.WaitGroup) {
	query.Set("view", "jobs")
	response := base.stream("/events?"+query.Encode(), nil)
	first := make(chan struct{})
	reading.Go(func() {
		lines := bufio.NewReaderSize(response.Body, 64<<10)
		for n := 0; ; {
			line, err := lines.ReadSlice('\n')
			if err != nil && err != bufio.ErrBufferFull {
				return // the stream has ended with the benchmark
			}
			c.bytes.Add(int64(len(line)))
			if bytes.HasPrefix(line, []byte("event: patch")) {
				c.events.Add(1)
				if n++; n == 1 {
					close(first)
				}
			}
			c.reported[i].Store(int64(time.Since(c.start)))
			select {
			case c.news <- struct{}{}:
			default: // there is one already
			}
		}
	})
	<-first
}

// settled waits until nobody was sent anything for longer than there is between two drawings.
func (c *crowd) settled() {
	const quiet = 1200 * time.Millisecond
	for end := time.NewTimer(quiet); ; end.Reset(quiet) {
		select {
		case <-c.news:
		case <-end.C:
			return
		}
	}
}

// queriesOf returns what the clients look at: all the same, or each something else.
func queriesOf(isOne bool) []url.Values {
	var all []url.Values
	for i := range loadClients {
		query := url.Values{"sort": {"-submitted"}}
		if !isOne {
			query.Set("user", []string{"", "ada", "grace", "emmy", "lise", "noether", "kathleen", "hedy"}[i%8])
			query.Set("state", []string{"", "running", "waiting", "ended", "failed"}[i/8%5])
			query.Set("sort", "-"+[]string{"submitted", "id", "name", "state", "started"}[i/40])
		}
		all = append(all, query)
	}
	return all
}

// BenchmarkClients has 200 browsers show 100,000 jobs; 1 % change with each refresh.
// It reports what a refresh costs, including the clients, which run in the same
// process, and the time until a client receives the change.
func BenchmarkClients(b *testing.B) {
	for _, try := range []struct {
		name  string
		isOne bool
	}{{"OneView", true}, {"ViewEach", false}} {
		b.Run(try.name, func(b *testing.B) { benchmarkClients(b, queriesOf(try.isOne)) })
	}
}

func benchmarkClients(b *testing.B, queries []url.Values) {
	options := testPlatform(b)
	m := options.Platform.Model()
	webtest.Demonstrate(b, m, loadJobs, loadNodes, time.Now())
	server := options.server(b)
	base := run(b, server).enter()
	base.client.Transport.(*http.Transport).MaxIdleConnsPerHost = loadClients
	c := &crowd{reported: make([]atomic.Int64, len(queries)), news: make(chan struct{}, 1), start: time.Now()}
	var reading sync.WaitGroup
	b.Cleanup(reading.Wait)
	b.Cleanup(server.cancel)
	for i, query := range queries {
		c.join(b, base, i, query, &reading)
	}
	c.settled()
	c.events.Store(0)
	c.bytes.Store(0)
	var delays []float64
	cpu := processorTime()
	b.ResetTimer()
	for round := range b.N {
		began := time.Since(c.start)
		refresh(m, round)
		c.settled()
		for i := range c.reported {
			if reported := time.Duration(c.reported[i].Load()); reported > began {
				delays = append(delays, float64((reported - began).Milliseconds()))
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64((processorTime()-cpu).Milliseconds())/float64(b.N), "cpu-ms/refresh")
	b.ReportMetric(float64(c.events.Load())/float64(b.N), "events/refresh")
	b.ReportMetric(float64(c.bytes.Load())/float64(max(c.events.Load(), 1))/1024, "KiB/event")
	slices.Sort(delays)
	b.ReportMetric(delays[len(delays)/2], "p50-ms")
	b.ReportMetric(delays[len(delays)*99/100], "p99-ms")
	b.ReportMetric(float64(heapInUse())/(1<<20), "MiB")
}

// refresh changes 1 % of the jobs, as a listing does that found them changed.
func refresh(m *model.Model, round int) {
	states := [][3]string{{"RUNNING", "R", "RUNNING"}, {"PENDING", "PD", "QUEUED_ACTIVE"}}
	m.Update(func(u *model.Update) {
		for i := round % 100; i < loadJobs; i += 100 {
			now := states[(round/100+i/100)%2]
			u.Put(model.Row{Manager: "cluster", Kind: model.Job, Parent: "normal", ID: strconv.Itoa(4_000_000 + i), Attributes: webtest.Attributes(
				vocabulary.AttributeJobState, now[0], vocabulary.AttributeJobStatus, now[1], vocabulary.AttributeJobDetail, now[2], vocabulary.AttributeJobMessage, fmt.Sprint("round ", round))})
		}
		u.Put(model.Row{Kind: model.ResourceManager, ID: "cluster", Attributes: webtest.Attributes(vocabulary.AttributeListedJobs, time.Now().UTC().Format(time.RFC3339Nano))})
	})
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what pools hold outlives one
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
