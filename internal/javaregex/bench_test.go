package javaregex

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// benchmarks are expressions of real definitions, each with a line that
// matches and one that does not.
var benchmarks = []struct {
	name, expression string
	flags            Flags
	hit, miss        string
}{
	{"job id", `([\d]+)[.].+`, 0, "1234567.server.example.org", "qsub: Job rejected by all possible destinations"},
	{"qstat row", `([\d]+)[.].+[\s]+.+[\s]+.+[\s]+.+[\s]+([A-Z])[\s]+.+`, 0,
		"1234567.server       simulation       alice            01:23:45 R normal",
		"Job id              Name             User              Time Use S Queue"},
	{"scontrol state", `^[\s]*JobState=([\w]+)[\s]+Reason=([\w]+)[\s]+.*`, 0,
		"   JobState=RUNNING Reason=None Dependency=(null)", "   Priority=4294901757 Nice=0 Account=(null) QOS=(null)"},
	{"squeue row", `^([\d]+)[\s]+[\S]+[\s]+RUN[\s]+.*$`, 0,
		"1234567 alice RUN normal node01 node[02-05] simulation", "1234567 alice PEND normal node01 - simulation Sep 12 10:00"},
	{"llq row", `^\S+ +\S+ +\S+ +\S+ ((R )|(ST)|(CK)) \d+ +\S+ +\S+.*$`, 0,
		"node01.1234.0 alice 9/12 10:00 R  50 large node02", "node01.1234.0 alice 9/12 10:00 NQ 50 large node02"},
	{"qstat XML", `(?s).*<job>([\d]*):([\w]*)</job>.*`, 0,
		"<jobs><job>1234567:running</job></jobs>", "<jobs><host>node01:available</host><host>node02</host></jobs>"},
	{"ompi_info", `mca:.*:param:([^:]*):value:(.*)`, dotAll | unixLines,
		"mca:btl:tcp:param:btl_tcp_if_include:value:eth0", "mca:btl:tcp:param:btl_tcp_if_include:status:writable"},
	{"pjsub", `\[(.+)\]\s*PJM\s*\d+\s*[^\d]+([\d]+)\s*([\w]+).*`, 0,
		"[INFO] PJM 0000 pjsub Job 1234567 submitted.", "[ERR.] PJM 0043 pjsub: the number of nodes is not right"},
	{"last words", `.*\s+([a-z]+)[\s]+\S+\s*$`, 0,
		"job 1234567 of alice is running node01", "JOB 1234567 OF ALICE IS RUNNING NODE01"},
	{"anything", `.+`, dotAll | unixLines, "job 1234567 of alice is running on node01", ""},
	{"sbatch", `^Submitted batch job ([\d]+)`, 0, "Submitted batch job 1234567", "sbatch: error: Batch job submission failed"},
	{"row of a job", `1234567[\s]+[\S]+[\s]+[\S]+[\s]+([A-Za-z]+)[\s]+.+`, 0,
		"1234567 simulation alice RUNNING 10:00 1:23:45", "7654321 simulation alice RUNNING 10:00 1:23:45"},
}

func BenchmarkMatch(b *testing.B) {
	for _, probe := range benchmarks {
		compiled := mustCompile(b, probe.expression, probe.flags)
		engine, _ := compiled.Engine()
		require.Equal(b, "automaton", engine)
		for _, line := range []struct {
			name, text string
			matches    bool
		}{{"hit", probe.hit, true}, {"miss", probe.miss, false}} {
			b.Run(probe.name+"/"+line.name, func(b *testing.B) {
				text := []byte(line.text)
				positions := make([]int, 0, 16)
				b.ReportAllocs()
				for b.Loop() {
					_, matched, err := compiled.Match(positions, text)
					if err != nil || matched != line.matches {
						b.Fatalf("%q on %q: %t, %v", compiled, text, matched, err)
					}
				}
			})
		}
	}
}
