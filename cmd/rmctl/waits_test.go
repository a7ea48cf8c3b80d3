package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// defineScripted adds a target whose scheduler writes a line for each query to the file
// "asked", with the time in seconds. All of its jobs have ended so many seconds after the
// first query.
func (h *household) defineScripted(length int) {
	configuration := h.path(".config/rmctl")
	require.NoError(h.t, os.MkdirAll(configuration, 0o700))
	require.NoError(h.t, os.WriteFile(configuration+"/targets.toml", []byte("[targets.scripted]\ndefinition = \"scripted.xml\"\n"), 0o600))
	require.NoError(h.t, os.WriteFile(configuration+"/scripted.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="scripted">
	<control-data><attribute name="executablePath"/>
		<submit-batch name="submit" waitForId="true"><arg>sh -c</arg><arg resolve="false">'echo "$TAG" >>jobs; echo "job $TAG"'</arg>
			<environment name="TAG" value="${ptp_rm:job.tag#value}"/>
			<stdout-parser delim="\n"><target ref="@jobId"><match><expression>job (\S+)</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>
		</submit-batch>
		<get-job-status name="status"><arg>sh -c</arg><arg resolve="false">'echo "status $(date +%s)" >>asked; exit 1'</arg></get-job-status>
	</control-data>
	<monitor-data schedulerType="SCRIPTED">
		<x:list-jobs name="list" x:interval="1s"><arg>sh -c</arg>
			<arg resolve="false">'echo "list $(date +%s)" >>asked; awk "NR == 1 { begun = \$2 } { now = \$2 } END { print now - begun }" asked >age;
				awk -v age="$(cat age)" -v takes="`+strconv.Itoa(length)+`" "{ left = takes - NR % 2 - age; print \$1, (left &gt; takes / 2 ? \"QUEUED_ACTIVE\" : left &gt; 0 ? \"RUNNING\" : \"COMPLETED\") }" jobs'</arg>
			<stdout-parser delim="\n"><target><match><expression>(\S+) ([A-Z_]+)</expression>
				<set field="name"><entry valueGroup="1"/></set><put field="value"><entry key="state" valueGroup="2"/></put></match></target></stdout-parser>
		</x:list-jobs>
	</monitor-data></resource-manager-builder>`), 0o600))
}

// waitTogether submits jobs to the scripted scheduler, whose jobs take length seconds,
// and has many processes wait for all of them at the same time. It returns how many
// queries they ran, and how many a single process may run in that time. Program is
// the path of rmctl.
func (h *household) waitTogether(program string, length, jobs, waits int) (asked, mostOfOne int) {
	h.defineScripted(length)
	submit := h.command("rmctl", "submit", "-t", "scripted", "--parallel", "8", "--batch", h.writeBatch(jobs))
	submit.Path = program
	output, err := submit.Output()
	require.NoError(h.t, err)
	ids := strings.Fields(string(output))
	require.Len(h.t, ids, jobs)
	commands, reported := make([]*exec.Cmd, waits), make([]bytes.Buffer, waits)
	for i := range commands {
		commands[i] = h.command("rmctl", append([]string{"wait", "-t", "scripted", "--timeout", "10m"}, ids...)...)
		commands[i].Path, commands[i].Stderr = program, &reported[i]
		require.NoError(h.t, commands[i].Start())
	}
	for i, command := range commands {
		require.NoError(h.t, command.Wait(), "%s", reported[i].String())
		require.Equal(h.t, jobs, strings.Count(reported[i].String(), " COMPLETED"), "each wait reports each job")
	}
	text, err := os.ReadFile(h.path("asked"))
	require.NoError(h.t, err)
	queries := strings.Split(strings.TrimSpace(string(text)), "\n")
	seconds := func(query string) int {
		kind, at, _ := strings.Cut(query, " ")
		require.Equal(h.t, "list", kind, "no job is asked for by itself")
		number, err := strconv.Atoi(at)
		require.NoError(h.t, err)
		return number
	}
	for i := range queries {
		seconds(queries[i])
	}
	return len(queries), seconds(queries[len(queries)-1]) - seconds(queries[0]) + 2
}

func TestWaitsOfManyProcessesShareQueries(t *testing.T) {
	t.Parallel()
	rmctl, err := exec.LookPath("rmctl")
	require.NoError(t, err)
	asked, mostOfOne := newHousehold(t, "scripted").waitTogether(rmctl, 3, 12, 6)
	require.LessOrEqual(t, asked, mostOfOne)
}

// BenchmarkWaits has one process, and then 50 at the same time, wait half a minute for
// the same 1,000 jobs: how often they ask.
//
//	go test ./cmd/rmctl -run '^$' -bench Waits -benchtime 1x
func BenchmarkWaits(b *testing.B) {
	rmctl := buildRmctl(b)
	for _, waits := range []int{1, 50} {
		b.Run("waits="+strconv.Itoa(waits), func(b *testing.B) {
			for b.Loop() {
				asked, mostOfOne := newHousehold(b, "scripted").waitTogether(rmctl, 30, 1000, waits)
				require.LessOrEqual(b, asked, mostOfOne)
				b.ReportMetric(float64(asked), "queries")
			}
		})
	}
}
