package control_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// teller is a definition whose listing prints the file "jobs": of each job all facts,
// in the order of the names below.
func teller(t testing.TB) *config.Definition {
	t.Helper()
	names := []string{"state", "identity", "native", "reason", "queue", "name", "nodes", "submitted", "started", "ended", "exitCode", "signal", "outputPath", "errorPath", "owner"}
	expression, entries := `([0-9]+)`, ""
	for i, name := range names {
		expression += `\|([^|]*)`
		entries += fmt.Sprintf(`<entry key="%s" valueGroup="%d"/>`, name, i+2)
	}
	return define(t, submitting(`number=$(cat number 2>/dev/null || echo 6); number=$((number+1)); echo $number >number; echo job $number`, "")+
		running("get-job-status", `exit 1`, "", asStatus), `<monitor-data schedulerType="test">`+
		running("x:list-jobs", `cat jobs`, "", `<stdout-parser delim="\n"><target><match><expression>`+expression+`</expression>
			<set field="name"><entry valueGroup="1"/></set><put field="value">`+entries+`</put></match></target></stdout-parser>`)+`</monitor-data>`)
}

// listsAs lets a definition with all facts list two jobs, and returns the first.
func listsAs(t *testing.T, rows ...string) job.Job {
	t.Helper()
	s := newSite(t, teller(t))
	jobs := []job.Job{s.submits(t, job.Submission{Executable: "x"}), s.submits(t, job.Submission{Executable: "x"})}
	s.write(t, "jobs", strings.Join(append(rows, rowOf("8", "RUNNING")), ""))
	return s.updates(t, jobs, false)[0]
}

// rowOf is a row with the first facts of a job.
func rowOf(id string, facts ...string) string {
	return id + "|" + strings.Join(append(facts, make([]string, 15-len(facts))...), "|") + "\n"
}

func TestAListingHasAllFactsOfAJob(t *testing.T) {
	long := strings.Repeat("wörter ", 100) // beyond where the line is cut that is kept
	j := listsAs(t, rowOf("7", "FAILED", "made-10:00", "F", long, "batch", "\x1b[31m<b>\xff", "n1 n2", "10:00", "10:01", "10:02", "3", "9", "/a/out", "/a/err", "user"))
	require.Equal(t, job.Failed, j.Detail)
	require.Equal(t, []string{"made-10:00", "F", long, "batch", "n1 n2", "10:00", "10:01", "10:02", "/a/out", "/a/err", "user"},
		[]string{j.Identity, j.Native, j.Reason, j.Queue, j.Nodes, j.Submitted, j.Started, j.Ended, j.OutputPath, j.ErrorPath, j.Owner})
	require.Equal(t, []int{3, 9}, []int{*j.ExitCode, *j.Signal})
	require.Equal(t, job.Origin{Stream: "stdout", Line: 1, Text: j.Origin.Text}, j.Origin)
	require.Contains(t, j.Origin.Text, "|F|wörter wörter")
}

func TestTwoRowsOfAJobAreMerged(t *testing.T) {
	bare, first, later := rowOf("7"), rowOf("7", "RUNNING", "", "R", "first"), rowOf("7", "SUSPENDED", "", "S")
	for name, c := range map[string]struct {
		rows           []string
		detail         job.Detail
		native, reason string
		line           int
	}{
		"the later counts":              {[]string{first, later}, job.Suspended, "S", "first", 2},
		"whatever has no state":         {[]string{first, bare}, job.Running, "R", "first", 1},
		"and where that stood before":   {[]string{bare, later}, job.Suspended, "S", "", 2},
		"rows without a state, and one": {[]string{bare, bare, first}, job.Running, "R", "first", 3},
	} {
		t.Run(name, func(t *testing.T) {
			job := listsAs(t, c.rows...)
			require.Equal(t, c.detail, job.Detail)
			require.Equal(t, []string{c.native, c.reason}, []string{job.Native, job.Reason})
			require.Equal(t, c.line, job.Origin.Line)
		})
	}
}
