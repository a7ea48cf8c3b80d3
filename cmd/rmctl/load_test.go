package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/jobstore"
)

// BenchmarkSubmitBatch measures rmctl submit --batch against a submit command
// that only prints an id: whole processes, 1,000 jobs each, and what each job
// takes of a processor with its submit command, whatever else the machine does.
//
//	go test ./cmd/rmctl -run '^$' -bench SubmitBatch -benchtime 3x
func BenchmarkSubmitBatch(b *testing.B) {
	const jobs = 1000
	rmctl := buildRmctl(b)
	for _, width := range []int{1, 4, 16} {
		b.Run("parallel="+strconv.Itoa(width), func(b *testing.B) {
			h := newHousehold(b, "instant")
			h.defineInstant()
			batch := h.writeBatch(jobs)
			var spent time.Duration
			for b.Loop() {
				command := h.command("rmctl", "submit", "-t", "instant", "--parallel", strconv.Itoa(width), "--batch", batch)
				command.Path = rmctl
				output, err := command.Output()
				require.NoError(b, err)
				require.Equal(b, jobs, strings.Count(string(output), "\n"))
				spent += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(jobs*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			b.ReportMetric(1000*spent.Seconds()/(jobs*float64(b.N)), "ms-core/job")
		})
	}
}

// defineInstant adds the target of a scheduler that answers at once.
func (h *household) defineInstant() {
	configuration := h.path(".config/rmctl")
	require.NoError(h.t, os.MkdirAll(configuration, 0o700))
	require.NoError(h.t, os.WriteFile(configuration+"/targets.toml", []byte("[targets.instant]\ndefinition = \"instant.xml\"\n"), 0o600))
	require.NoError(h.t, os.WriteFile(configuration+"/instant.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="instant">
	<control-data><attribute name="executablePath"/>
		<submit-batch name="submit" waitForId="true"><arg>echo job ${ptp_rm:job.tag#value}</arg>
			<stdout-parser delim="\n"><target ref="@jobId"><match><expression>job (\S+)</expression>
				<set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>
		</submit-batch>
	</control-data></resource-manager-builder>`), 0o600))
}

// BenchmarkTracking measures a minute of rmctl wait for 10,000 jobs. None changes after
// the first listing. It reports the peak memory and the CPU time of rmctl without
// its commands: until the first listing is recorded, for each later one, and
// between them. Wide rows have fifteen fields of 36 characters each, others two.
//
//	go test ./cmd/rmctl -run '^$' -bench Tracking -benchtime 1x
func BenchmarkTracking(b *testing.B) {
	b.Run("narrow", func(b *testing.B) { benchmarkTracking(b, newChaos(b, "CHAOS_CALM=1")) })
	b.Run("wide", func(b *testing.B) { benchmarkTracking(b, newChaos(b, "CHAOS_CALM=1", "CHAOS_WIDE=1")) })
}

func benchmarkTracking(b *testing.B, h *household) {
	const jobs, length = 10_000, time.Minute
	rmctl := buildRmctl(b)
	ids := h.submitMany(b, rmctl, jobs)
	for b.Loop() {
		wait := h.command("rmctl", append([]string{"wait", "-t", "chaos"}, ids...)...)
		wait.Path = rmctl
		require.NoError(b, wait.Start())
		load := h.watch(wait.Process.Pid, length)
		require.NoError(b, wait.Process.Kill())
		require.Error(b, wait.Wait())
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(load.highest, "MiB-peak")
		b.ReportMetric(load.first.Seconds(), "s-first-listing")
		b.ReportMetric(load.listing.Seconds()/float64(max(load.listings, 1)), "s-later-listing")
		b.ReportMetric(float64(load.listings), "later-listings")
		require.Positive(b, load.quietFor, "one listing follows the other")
		b.ReportMetric(load.quietFor.Seconds(), "s-between")
		b.ReportMetric(100*load.quiet.Seconds()/load.quietFor.Seconds(), "%core-between")
	}
}

// submitMany submits jobs to the chaos scheduler and returns their ids.
func (h *household) submitMany(b testing.TB, rmctl string, jobs int) []string {
	submit := h.command("rmctl", "submit", "-t", "chaos", "--parallel", "8", "--batch", h.writeBatch(jobs))
	submit.Path = rmctl
	output, err := submit.Output()
	require.NoError(b, err)
	ids := strings.Fields(string(output))
	require.Len(b, ids, jobs)
	return ids
}

// A trackingLoad is the resource usage of a wait.
type trackingLoad struct {
	highest         float64       // memory, in MiB
	first           time.Duration // of a processor, until the first listing was recorded
	listing         time.Duration // of a processor, for those after it
	listings        int           // that these are
	quiet, quietFor time.Duration // of a processor, and in all, while there was no listing
}

// settling is the time after a listing during which the CPU time of a wait counts as
// due to that listing, because the wait then reports the changes.
const settling = 2 * time.Second

// watch looks at a process ten times a second.
func (h *household) watch(process int, length time.Duration) trackingLoad {
	const step = 100 * time.Millisecond
	var load trackingLoad
	store, err := jobstore.Open(h.t.Context(), h.path(".local/state/rmctl"))
	require.NoError(h.t, err)
	defer func() { require.NoError(h.t, store.Close()) }()
	steps := time.NewTicker(step)
	defer steps.Stop()
	before, listed, last := time.Duration(0), 0, time.Now() // when a listing was last under way
	for end := time.Now().Add(length); time.Now().Before(end); {
		<-steps.C
		polls, err := store.Polls().All(h.t.Context(), time.Now())
		require.NoError(h.t, err)
		spent, highest := used(h.t, process)
		if len(polls) == 0 || polls[0].Day == 0 || polls[0].Holder != "" || polls[0].Day > listed {
			last = time.Now()
		}
		listed = 0
		if len(polls) > 0 {
			listed = polls[0].Day
		}
		switch isQuiet := time.Since(last) >= settling; {
		case listed <= 1 && !isQuiet && load.quietFor == 0:
			load.first = spent
		case isQuiet:
			load.quiet += spent - before
			load.quietFor += step
		default:
			load.listing += spent - before
		}
		before, load.highest = spent, highest
	}
	load.listings = listed - 1
	return load
}

// used returns the processor's time that a process itself has used, and its
// highest memory in MiB.
func used(b testing.TB, process int) (time.Duration, float64) {
	const ticks = 100 // ticks per second on every Linux, see proc(5)
	folder := fmt.Sprintf("/proc/%d/", process)
	stat, err := os.ReadFile(folder + "stat")
	require.NoError(b, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var spent int
	for _, field := range fields[11:13] {
		value, err := strconv.Atoi(field)
		require.NoError(b, err)
		spent += value
	}
	status, err := os.ReadFile(folder + "status")
	require.NoError(b, err)
	_, after, found := strings.Cut(string(status), "VmHWM:")
	require.True(b, found)
	kibibytes, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(b, err)
	return time.Duration(spent) * time.Second / ticks, float64(kibibytes) / 1024
}
