package command_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// The marks of a launcher that tags the output of processes, and of the wrapper of each
// process.
const (
	tags    = `<x:process-mark text="[1,{rank}]&lt;{stream}&gt;:" output="true" shown="${ptp_rm:tagged#value}"/>`
	records = `<x:process-mark text="@mark {rank} on {node} pid {pid}&#10;"/><x:process-mark text="@mark {rank} ended {status}&#10;"/>`
)

// A printer is a connection whose command prints texts in parts of some bytes.
type printer struct {
	remote.Connection
	stdout, stderr string
	part           int
	code           int
}

func (p printer) Start(_ context.Context, start remote.Command) (remote.Handle, error) {
	for _, stream := range []struct {
		text string
		to   io.Writer
	}{{p.stderr, start.Stderr}, {p.stdout, start.Stdout}} {
		for rest := stream.text; rest != ""; {
			size := min(p.part, len(rest))
			if _, err := io.WriteString(stream.to, rest[:size]); err != nil {
				return nil, err
			}
			rest = rest[size:]
		}
	}
	return over(p.code), nil
}

type over int

func (p over) Wait() (int, error)        { return int(p), nil }
func (over) Terminate()                  {}
func (over) Signal(syscall.Signal) error { return nil }

// seen is the result of an output with marks.
type seen struct {
	stdout, stderr string
	lines          string // that the parser of standard output got
	processes      string
}

// printing runs an interactive command whose output has marks.
func printing(t *testing.T, p printer, marks, shown string) seen {
	t.Helper()
	definition := define(t, `<attribute name="lines"/><attribute name="tagged"><default>`+shown+`</default></attribute>`+
		`<submit-interactive name="run"><arg>mpirun</arg>`+lines("stdout-parser", "lines")+marks+`</submit-interactive>`)
	env := environment(definition)
	var stdout, stderr bytes.Buffer
	reported := map[int]job.Process{}
	var lock sync.Mutex
	_, err := resolveAndRun(t.Context(), p, command.Request{
		Command: definition.Command(config.SubmitInteractive), Scope: config.Scope{Environment: env},
		Attach: &command.Attachment{Stdout: &stdout, Stderr: &stderr, Processes: func(changed []job.Process) {
			lock.Lock()
			defer lock.Unlock()
			for _, one := range changed {
				reported[one.Rank] = one
			}
		}},
	})
	require.NoError(t, err)
	kept := command.Processes(env)
	require.Len(t, reported, len(kept))
	for _, one := range kept {
		require.Equal(t, one, reported[one.Rank], "the environment has what the caller gets")
	}
	return seen{stdout.String(), stderr.String(), env.Text("lines"), written(kept)}
}

// written writes processes on lines.
func written(all []job.Process) string {
	var text strings.Builder
	for _, p := range all {
		fmt.Fprintf(&text, "%d %s %d %s", p.Rank, p.Node, p.PID, p.State)
		if p.ExitCode != nil {
			fmt.Fprintf(&text, " code %d", *p.ExitCode)
		}
		if p.Signal != nil {
			fmt.Fprintf(&text, " signal %d", *p.Signal)
		}
		fmt.Fprintf(&text, " %q", p.Output)
		if p.ErrorOutput != "" {
			fmt.Fprintf(&text, " errors %q", p.ErrorOutput)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func TestMarksReportProcessesAndAreNotShown(t *testing.T) {
	for name, test := range map[string]struct {
		marks, shown string
		printer
		want seen
	}{
		"without tags": {
			marks:   records,
			printer: printer{stdout: "one\ntwo\n", stderr: "@mark 0 on n0 pid 7\n@mark 1 on n1.cluster pid 8\nmpirun: it failed\n@mark 1 ended 3\n@mark 0 ended 143\n", code: 3},
			want: seen{stdout: "one\ntwo\n", stderr: "mpirun: it failed\n", lines: "one,two",
				processes: "0 n0 7 EXITED_SIGNALLED signal 15 \"\"\n1 n1.cluster 8 EXITED code 3 \"\"\n"},
		},
		"a success sets the unseen ends": {
			marks:   records,
			printer: printer{stderr: "@mark 0 on n0 pid 7\n"},
			want:    seen{processes: "0 n0 7 EXITED code 0 \"\"\n"},
		},
		"a failure does not": {
			marks:   records,
			printer: printer{stderr: "@mark 0 on n0 pid 7\n", code: 1},
			want:    seen{processes: "0 n0 7 UNKNOWN \"\"\n"},
		},
		"tags, also within a line": {
			marks: tags + records,
			printer: printer{stdout: "[1,0]<stdout>:a? [1,1]<stdout>:b? [1,0]<stdout>:yes\n[1,0]<stdout>:last[1,1]<stdout>:no\nmpirun says\n",
				stderr: "[1,1]<stderr>:@mark 1 on n1 pid 8\n[1,0]<stderr>:@ma[1,1]<stderr>:oops\n[1,0]<stderr>:rk 0 on n0 pid 7\n"},
			want: seen{stdout: "a? b? yes\nlastno\nmpirun says\n", stderr: "oops\n", lines: "mpirun says",
				processes: "0 n0 7 EXITED code 0 \"a? yes\\nlast\"\n1 n1 8 EXITED code 0 \"b? no\\n\" errors \"oops\\n\"\n"},
		},
		"tags that users want to see": {
			marks: tags + records, shown: "true",
			printer: printer{stdout: "[1,0]<stdout>:a\n[1,1]<stdout>:b\n", stderr: "[1,0]<stderr>:@mark 0 on n0 pid 7\n[1,1]<stderr>:oops\n"},
			want: seen{stdout: "[1,0]<stdout>:a\n[1,1]<stdout>:b\n", stderr: "[1,1]<stderr>:oops\n",
				processes: "0 n0 7 EXITED code 0 \"a\\n\"\n1  0 EXITED code 0 \"b\\n\" errors \"oops\\n\"\n"},
		},
		"on a terminal": {
			marks:   tags + records,
			printer: printer{stdout: "@mark 0 on n0 pid 7\r\n[1,0]<stdout>:a\r\n[1,0]<stderr>:oops\r\n"},
			want:    seen{stdout: "a\r\noops\r\n", processes: "0 n0 7 EXITED code 0 \"a\\r\\n\" errors \"oops\\r\\n\"\n"},
		},
		"what only resembles marks": {
			marks: tags + records,
			printer: printer{stdout: "choose [1,2]: [1,x]<stdout>:[1,3]<stdout>;\n@mark 0 on n/0 pid 7\n@mark 99999999999 on n0 pid 7\n@mark 1 on " +
				strings.Repeat("n", 300) + " pid 7\n@@mark 2 on n0 pid 9\n@mark 3 o"},
			want: seen{
				stdout: "choose [1,2]: [1,x]<stdout>:[1,3]<stdout>;\n@mark 0 on n/0 pid 7\n@mark 99999999999 on n0 pid 7\n@mark 1 on " + strings.Repeat("n", 300) + " pid 7\n@@mark 3 o",
				lines: "choose [1,2]: [1,x]<stdout>:[1,3]<stdout>;,@mark 0 on n/0 pid 7,@mark 99999999999 on n0 pid 7,@mark 1 on " +
					strings.Repeat("n", 300) + " pid 7,@@mark 3 o",
				processes: "2 n0 9 EXITED code 0 \"\"\n"},
		},
		"a rank that no job has": {
			marks:   tags,
			printer: printer{stdout: "[1,2000000000]<stdout>:a\n"},
			want:    seen{stdout: "a\n", lines: "a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, part := range []int{1, 2, 3, 7, 20, 1 << 20} {
				test.part = part
				require.Equal(t, test.want, printing(t, test.printer, test.marks, test.shown), "in parts of %d bytes", part)
			}
		})
	}
}

func TestTheLastOutputOfEachProcessIsKept(t *testing.T) {
	var stdout, all strings.Builder
	for line := range 2000 {
		fmt.Fprintf(&stdout, "[1,%d]<stdout>:line %d\n", line%2, line)
		fmt.Fprintf(&all, "line %d\n", line)
	}
	got := printing(t, printer{stdout: stdout.String(), part: 4096}, tags, "")
	require.Equal(t, all.String(), got.stdout)
	require.Contains(t, got.processes, `line 1998\n"`)
	require.Less(t, len(got.processes), 4*4096)
}

// A prompt is seen before it is answered, even if it begins like a mark.
func TestTextThatIsNoMarkIsShownAtOnce(t *testing.T) {
	b := newBench(t, `<attribute name="tagged"/>`+element("submit-interactive", `printf "choose [1,2]: "; read -r answer <now; echo "$answer"`, "", tags+records))
	fifo(t, b, "now")
	stdout := b.attach(nil)
	require.NoError(t, b.whileRunning(t, stdout.sees("choose [1,2]: "), func() { b.notify(t, "now", "2\n") }))
	require.Equal(t, "choose [1,2]: 2\n", stdout.String())
}

func TestProcessesAreReportedWhileTheJobRuns(t *testing.T) {
	b := newBench(t, element("submit-interactive", `echo "@mark 0 on n0 pid 7"; read -r answer <now`, "", records))
	fifo(t, b, "now")
	b.attach(nil)
	var reported []job.ProcessState
	ready := make(chan struct{})
	b.request.Attach.Processes = func(changed []job.Process) {
		if reported = append(reported, changed[0].State); len(reported) == 1 {
			close(ready)
		}
	}
	require.NoError(t, b.whileRunning(t, ready, func() { b.notify(t, "now", "go\n") }))
	require.Equal(t, []job.ProcessState{"RUNNING", "EXITED"}, reported)
}

// Parsers of the definition read a launcher's messages about failed processes.
func TestMarksAndParsersDescribeTheSameProcesses(t *testing.T) {
	const noticed = `<stderr-parser delim="\n"><target><match><expression>rank (\d+) exited on signal (\d+)</expression>` +
		`<set field="name"><entry value="process."/></set><append field="name"><entry valueGroup="1"/></append>` +
		`<put field="value"><entry key="signal" valueGroup="2"/><entry key="node" value="elsewhere"/></put></match></target></stderr-parser>`
	definition := define(t, `<submit-interactive name="run"><arg>mpirun</arg>`+noticed+records+`</submit-interactive>`)
	for text, want := range map[string]string{
		"@mark 1 on n1 pid 8\nrank 1 exited on signal 9\n":                  "1 n1 8 EXITED_SIGNALLED signal 9 \"\"\n",
		"@mark 1 on n1 pid 8\n@mark 1 ended 2\nrank 1 exited on signal 9\n": "1 n1 8 EXITED code 2 \"\"\n",
		"rank 3 exited on signal 11\n":                                      "3 elsewhere 0 EXITED_SIGNALLED signal 11 \"\"\n",
	} {
		env := attribute.NewEnvironment()
		_, err := resolveAndRun(t.Context(), printer{stderr: text, part: 5, code: 0}, command.Request{
			Command: definition.Command(config.SubmitInteractive), Scope: config.Scope{Environment: env},
		})
		require.NoError(t, err)
		require.Equal(t, want, written(command.Processes(env)))
	}
}

func TestAMarkThatCannotBeFoundIsAnErrorBeforeAnythingRuns(t *testing.T) {
	b := newBench(t, `<attribute name="end"/>`+element("submit-interactive", `touch ran`, "", `<x:process-mark text="rank {rank}${ptp_rm:end#value}"/>`))
	failed := b.fails(t, config.SubmitInteractive)
	require.Equal(t, command.Failure("not resolvable"), failed.Failure)
	require.ErrorContains(t, failed, `the mark "rank {rank}" can never be found`)
	require.False(t, b.exists("ran"))
}

func TestAnEmptyMarkIsIgnored(t *testing.T) {
	got := printing(t, printer{stdout: "a\n", part: 1}, `<x:process-mark text="${ptp_rm:tagged#value}" output="true"/>`, "")
	require.Equal(t, seen{stdout: "a\n", lines: "a"}, got)
}

// No text is lost, whatever the output and its parts.
func FuzzMarks(f *testing.F) {
	f.Add("[1,0]<stdout>:a[1,1]<stdout>:@mark 1 on n pid 2\n[1,\n", uint8(3))
	definition := define(f, `<attribute name="tagged"/><submit-interactive name="run"><arg>mpirun</arg>`+tags+records+`</submit-interactive>`)
	run := func(t *testing.T, stdout string, part int) (string, string) {
		env := environment(definition)
		var shown bytes.Buffer
		_, err := resolveAndRun(t.Context(), printer{stdout: stdout, part: part}, command.Request{
			Command: definition.Command(config.SubmitInteractive), Scope: config.Scope{Environment: env},
			Attach: &command.Attachment{Stdout: &shown},
		})
		require.NoError(t, err)
		return shown.String(), written(command.Processes(env))
	}
	f.Fuzz(func(t *testing.T, stdout string, part uint8) {
		shown, processes := run(t, stdout, len(stdout)+1)
		inParts, processesInParts := run(t, stdout, int(part)+1)
		require.Equal(t, shown, inParts)
		require.Equal(t, processes, processesInParts)
		if !strings.Contains(stdout, "[1,") && !strings.Contains(stdout, "@mark") {
			require.Equal(t, stdout, shown)
		}
	})
}
