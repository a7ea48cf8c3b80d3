package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkSubmitBatch measures rmctl submit --batch against a submit command
// that only prints an id: whole processes, 1,000 jobs each.
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
			for b.Loop() {
				command := h.command("rmctl", "submit", "-t", "instant", "--parallel", strconv.Itoa(width), "--batch", batch)
				command.Path = rmctl
				output, err := command.Output()
				require.NoError(b, err)
				require.Equal(b, jobs, strings.Count(string(output), "\n"))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(jobs*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
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

// BenchmarkTracking measures rmctl wait for 10,000 jobs of which none changes, for
// a minute: its memory, its own share of a processor without the commands that it
// runs, and how often it asks.
//
//	go test ./cmd/rmctl -run '^$' -bench Tracking -benchtime 1x
func BenchmarkTracking(b *testing.B) {
	const jobs, length = 10_000, time.Minute
	h := newChaos(b, "CHAOS_CALM=1")
	rmctl := buildRmctl(b)
	submit := h.command("rmctl", "submit", "-t", "chaos", "--parallel", "8", "--batch", h.writeBatch(jobs))
	submit.Path = rmctl
	output, err := submit.Output()
	require.NoError(b, err)
	ids := strings.Fields(string(output))
	require.Len(b, ids, jobs)
	for b.Loop() {
		before := h.listings()
		wait := h.command("rmctl", append([]string{"wait", "-t", "chaos"}, ids...)...)
		wait.Path = rmctl
		require.NoError(b, wait.Start())
		timer := time.NewTimer(length)
		<-timer.C
		spent, highest := used(b, wait.Process.Pid)
		require.NoError(b, wait.Process.Kill())
		require.Error(b, wait.Wait())
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(h.listings()-before), "listings")
		b.ReportMetric(100*spent.Seconds()/length.Seconds(), "%core")
		b.ReportMetric(highest, "MiB-peak")
	}
}

// listings counts how often the scheduler was asked for all jobs.
func (h *household) listings() int {
	var listings int
	for line := range strings.Lines(h.run("polls", "--json")) {
		var poll struct {
			Hour int `json:"hour"`
		}
		require.NoError(h.t, json.Unmarshal([]byte(line), &poll))
		listings += poll.Hour
	}
	return listings
}

// used returns the processor's time that a process itself has used, and its
// highest memory in MiB.
func used(b *testing.B, process int) (time.Duration, float64) {
	const ticks = 100 // a second, says proc(5) on every Linux
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
