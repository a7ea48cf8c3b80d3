package control_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/remote"
)

// A playedConnection answers each command with the same output, in pieces as a
// pipe gives them, and with the mark of the command instead of benchmarkMark.
type playedConnection struct {
	remote.Connection
	output []byte
}

// benchmarkMark is as long as the marks of queries.
const benchmarkMark = "@A2B3C4D5E6F7G2H3"

var marks = regexp.MustCompile(`@[A-Z0-9]{16}`)

func (p playedConnection) Start(_ context.Context, c remote.Command) (remote.Handle, error) {
	const piece = 32 << 10
	output := p.output
	if mark := marks.FindString(strings.Join(c.Arguments, " ")); mark != "" {
		output = bytes.ReplaceAll(output, []byte(benchmarkMark), []byte(mark))
	}
	for rest := output; len(rest) > 0; rest = rest[min(len(rest), piece):] {
		if _, err := c.Stdout.Write(rest[:min(len(rest), piece)]); err != nil {
			return nil, err
		}
	}
	return endedProcess{}, nil
}

type endedProcess struct{ remote.Handle }

func (endedProcess) Wait() (int, error) { return 0, nil }

// everybodysJobs is the output of x:list-jobs of the Slurm definition on a busy cluster.
func everybodysJobs(jobs int) []byte {
	var listing bytes.Buffer
	for i := range jobs {
		id, state, reason, nodes, started, ends := fmt.Sprint(4000000+i), "PENDING", "Priority", "", "N/A", "N/A"
		switch {
		case i%4 == 0:
			state, reason, nodes, started, ends = "RUNNING", "None", fmt.Sprintf("node[%04d-%04d]", i%9000, i%9000+3), "2026-11-21T07:02:13", "2026-11-23T07:02:13"
		case i%33 == 1:
			id = fmt.Sprintf("%d_[%d-1000%%20]", 4000000+i, i%999)
		case i%50 == 2:
			reason = "JobHeldUser"
		case i%50 == 3:
			reason = "Dependency"
		case i%100 == 5:
			state, reason, nodes, started, ends = "COMPLETING", "None", "node0001", "2026-11-21T07:02:13", "2026-11-22T07:02:13"
		case i%100 == 6:
			state, reason, nodes, started, ends = "FAILED", "NonZeroExitCode", "node0002", "2026-11-21T07:02:13", "2026-11-22T07:02:13"
		}
		script := fmt.Sprintf("/home/user%03d/project/run-%d.sh", i%400, i%30)
		if i%2 == 0 {
			script = fmt.Sprintf("/home/user%03d/.eclipsesettings/f1dc87c0-af2a-4f4c-8d9f-a5fa%08dmanaged_file_for_script", i%400, i)
		}
		row := fmt.Sprintf("%s|%s|%s|batch|%s|2026-11-20T07:05:05|%s|%s|user%03d|%d|0|%s|simulation step %d|\n", id, state, reason, nodes, started, ends, i%400, 1<<(i%8), script, i%20)
		listing.WriteString(strings.ReplaceAll(row, "|", benchmarkMark))
	}
	return listing.Bytes()
}

// BenchmarkRows lists 100,000 jobs of everybody with the definition for Slurm, and
// forgets them: rows in a second, and in one of a processor, and how much memory is
// allocated for each.
//
//	go test ./control -run '^$' -bench Rows -benchtime 3x
func BenchmarkRows(b *testing.B) {
	const jobs = 100_000
	definition, _, err := check.UsableDefinition("slurm")
	require.NoError(b, err)
	listing := everybodysJobs(jobs)
	s := newSite(b, definition)
	s.options.Connection = playedConnection{Connection: s.options.Connection, output: listing}
	s.Controller = control.New(s.options)
	list := func() {
		listed, err := s.Rows(b.Context(), config.ListJobs, config.AllJobs, func(command.Row) error { return nil })
		require.NoError(b, err)
		require.Equal(b, command.Listed{Rows: jobs}, listed)
	}
	list() // the session is started and expressions are compiled once
	b.SetBytes(int64(len(listing)))
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := processorTime(b)
	for b.Loop() {
		list()
	}
	spent := processorTime(b) - begun
	runtime.ReadMemStats(&after)
	b.ReportMetric(jobs*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(jobs*float64(b.N)/spent.Seconds(), "rows/s-core")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(jobs*float64(b.N)), "B/row")
}

// BenchmarkSharedRows lists 100,000 jobs as BenchmarkRows, shares them with another process,
// and lets that read them. It reports rows per second for each.
//
//	go test ./control -run '^$' -bench SharedRows -benchtime 3x
func BenchmarkSharedRows(b *testing.B) {
	const jobs = 100_000
	definition, _, err := check.UsableDefinition("slurm")
	require.NoError(b, err)
	s := newSite(b, definition)
	s.options.Connection = playedConnection{Connection: s.options.Connection, output: everybodysJobs(jobs)}
	turns, controller := control.New(s.options).Turns(true), control.New(s.options)
	count := 0
	each := func(command.Row) error {
		count++
		return nil
	}
	var listing, reading time.Duration
	for b.Loop() {
		s.ahead += time.Hour
		begun := time.Now()
		_, err := turns.Rows(b.Context(), config.ListJobs, each)
		require.NoError(b, err)
		listed := time.Now()
		_, err = controller.LatestRows(b.Context(), config.ListJobs, each)
		require.NoError(b, err)
		listing, reading = listing+listed.Sub(begun), reading+time.Since(listed)
	}
	require.Equal(b, 2*jobs*b.N, count)
	b.ReportMetric(jobs*float64(b.N)/listing.Seconds(), "listed-rows/s")
	b.ReportMetric(jobs*float64(b.N)/reading.Seconds(), "read-rows/s")
}

// processorTime is the CPU time of this process.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
