package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// BenchmarkOverhead measures complete processes: rmctl and the bare command that it runs,
// alternating, so that a drift of the machine's speed affects both. Each iteration is one
// pair; the figures are medians.
//
//	RMCTL_CLUSTERS=1 go test ./cmd/rmctl -run '^$' -bench Overhead -benchtime 50x
func BenchmarkOverhead(b *testing.B) {
	rmctl := buildRmctl(b)
	b.Setenv("HOME", b.TempDir())
	b.Run("version", func(b *testing.B) {
		info, err := os.Stat(rmctl)
		require.NoError(b, err)
		reportPairs(b, nil, []string{rmctl, "version"})
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB-binary")
	})
	b.Setenv("SLURM_CONF", rmctltest.Slurm(b, "overhead").Configuration)
	script := filepath.Join(b.TempDir(), "job.sh")
	require.NoError(b, os.WriteFile(script, []byte("#!/bin/sh\nexec true\n"), 0o600))
	b.Run("submit", func(b *testing.B) {
		b.Cleanup(cancelAll(b))
		reportPairs(b, []string{"sbatch", "--hold", script}, []string{rmctl, "submit", "-t", "slurm", "-s", "hold=true", "--", "true"})
	})
	b.Run("status", func(b *testing.B) {
		b.Cleanup(cancelAll(b))
		reportStatus(b, rmctl, "submit", "-t", "slurm", "-s", "hold=true", "--", "true")
	})
}

// reportStatus is reportPairs for the status of jobs that were just submitted: answers about
// others might be shared.
func reportStatus(b *testing.B, rmctl string, submit ...string) {
	reportEach(b, func() (bare, with []string) {
		output, err := exec.Command(rmctl, submit...).Output()
		require.NoError(b, err)
		job := strings.TrimSpace(string(output))
		return []string{"scontrol", "show", "job", job}, []string{rmctl, "status", "--fresh", job}
	})
}

// buildRmctl builds the command as it is released: without cgo, which costs a
// millisecond of dynamic linking at each start.
func buildRmctl(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "rmctl")
	build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := build.CombinedOutput()
	require.NoError(b, err, "%s", output)
	return path
}

func cancelAll(b *testing.B) func() {
	return func() {
		output, err := exec.Command("scancel", "--quiet", "--user=root").CombinedOutput()
		require.NoError(b, err, "%s", output)
	}
}

// reportPairs runs the two commands alternately and reports the medians of their times and of
// the differences, in milliseconds. Without a bare command it reports the other one alone. It
// also reports figures that hardly depend on the load: the mean processor time of rmctl and
// its children, and the number of memory pages that both touch.
func reportPairs(b *testing.B, bare, rmctl []string) {
	reportEach(b, func() ([]string, []string) { return bare, rmctl })
}

// reportEach is reportPairs for commands that differ from round to round.
func reportEach(b *testing.B, commands func() (bare, rmctl []string)) {
	var bareTimes, rmctlTimes, differences, pages []float64
	var processor time.Duration
	for range 3 { // what the first runs load into memory is not measured
		_, rmctl := commands()
		measure(b, rmctl)
	}
	for b.Loop() {
		bare, rmctl := commands()
		with, ended := measure(b, rmctl)
		rmctlTimes = append(rmctlTimes, with)
		processor += ended.UserTime() + ended.SystemTime()
		if usage, isKnown := ended.SysUsage().(*syscall.Rusage); isKnown {
			pages = append(pages, float64(usage.Minflt))
		}
		if bare != nil {
			without, _ := measure(b, bare)
			bareTimes = append(bareTimes, without)
			differences = append(differences, with-without)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(rmctlTimes), "ms-rmctl")
	b.ReportMetric(milliseconds(processor)/float64(len(rmctlTimes)), "ms-processor")
	b.ReportMetric(median(pages), "pages")
	if len(bareTimes) > 0 {
		b.ReportMetric(median(bareTimes), "ms-bare")
		b.ReportMetric(median(differences), "ms-over")
	}
}

// measure runs a command and returns its wall time in milliseconds.
func measure(b *testing.B, command []string) (float64, *os.ProcessState) {
	start := time.Now()
	run := exec.Command(command[0], command[1:]...)
	output, err := run.CombinedOutput()
	passed := time.Since(start)
	require.NoError(b, err, fmt.Sprintf("%s: %s", command, output))
	return milliseconds(passed), run.ProcessState
}

func milliseconds(passed time.Duration) float64 { return float64(passed.Microseconds()) / 1000 }

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
