package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkLocalJobs measures jobs of true on this machine: how many rmctl submits in a
// second, and how long after the last of them has ended a wait for all returns. The wait
// begins when all are submitted.
//
//	go test ./cmd/rmctl -run '^$' -bench LocalJobs -benchtime 1x -timeout 20m
func BenchmarkLocalJobs(b *testing.B) {
	rmctl := buildRmctl(b)
	for _, count := range []int{200, 2000, 10_000} {
		b.Run(strconv.Itoa(count), func(b *testing.B) {
			var submitting, late time.Duration
			for b.Loop() {
				h := newHousehold(b, "local")
				batch := h.path("batch")
				require.NoError(b, os.WriteFile(batch, []byte(strings.Repeat(`{"executable": "/bin/true"}`+"\n", count)), 0o600))
				begun := time.Now()
				ids := strings.Fields(h.outputOf(b, rmctl, "submit", "-t", "local", "--parallel", "4", "--batch", batch))
				submitting += time.Since(begun)
				require.Len(b, ids, count)
				h.outputOf(b, rmctl, append([]string{"wait", "-t", "local"}, ids...)...)
				late += time.Since(h.lastEndOfLocal(b))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(count*b.N)/submitting.Seconds(), "jobs/s")
			b.ReportMetric(late.Seconds()/float64(b.N), "s-after-last-end")
		})
	}
}

// BenchmarkLocalWait measures how long after the end of a job on this machine a wait for it
// returns.
//
//	go test ./cmd/rmctl -run '^$' -bench LocalWait -benchtime 3x
func BenchmarkLocalWait(b *testing.B) {
	rmctl := buildRmctl(b)
	for _, seconds := range []int{1, 3, 10, 60} {
		b.Run(fmt.Sprintf("%ds", seconds), func(b *testing.B) {
			h := newHousehold(b, "local")
			var late time.Duration
			for b.Loop() {
				id := strings.TrimSpace(h.outputOf(b, rmctl, "submit", "-t", "local", "--", "sleep", strconv.Itoa(seconds)))
				h.outputOf(b, rmctl, "wait", "-t", "local", id)
				late += time.Since(h.lastEndOfLocal(b))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(late.Seconds()/float64(b.N), "s-after-end")
		})
	}
}

// outputOf runs a built rmctl, which must succeed.
func (h *household) outputOf(b *testing.B, rmctl string, arguments ...string) string {
	b.Helper()
	command := h.command("rmctl", arguments...)
	command.Path = rmctl
	output, err := command.Output()
	require.NoError(b, err)
	return string(output)
}

// lastEndOfLocal returns when the last job of this machine noted its end.
func (h *household) lastEndOfLocal(b *testing.B) time.Time {
	b.Helper()
	var last time.Time
	require.NoError(b, filepath.WalkDir(h.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "ended" {
			return nil // jobs come and go
		}
		info, err := entry.Info()
		if err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return err
	}))
	require.False(b, last.IsZero())
	return last
}
