package rms_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The answer to a query may end anywhere, if the connection is lost or a client
// killed. A part must not give a state that the whole does not give.
func TestPBSConcludesNothingWrongFromPartOfARecord(t *testing.T) {
	definition := shippedDefinition(t, "pbs")
	tried := map[string]bool{}
	for _, folder := range caseFolders(t, pbsCases) {
		recorded := recordedExchange(t, folder)
		detail, _ := expectedState(t, folder)
		kind := recorded.selector + decidingLine.FindString(recorded.stdout) + detail
		if !strings.HasPrefix(recorded.stdout, "Job Id: ") || tried[kind] {
			continue
		}
		tried[kind] = true // one of each kind: reading takes its time
		t.Run(filepath.Base(folder), func(t *testing.T) {
			ask := func(stdout string) reading {
				return replay(t, definition, exchange{selector: recorded.selector, job: recorded.job, stdout: stdout})
			}
			whole := ask(recorded.stdout)
			for _, end := range cuts(recorded.stdout) {
				part := ask(recorded.stdout[:end])
				context := "of the first " + strconv.Itoa(end) + " bytes"
				if whole.State != "SYSTEM_SUSPENDED" || part.State != "SUSPENDED" { // less is said, nothing wrong
					require.Contains(t, []string{"", whole.State}, part.State, context)
				}
				for name, text := range part.Facts {
					require.True(t, strings.HasPrefix(whole.Facts[name], text), "%s is %q %s", name, text, context)
				}
				require.Contains(t, []string{"", whole.Facts["job.exitCode"]}, part.Facts["job.exitCode"], context)
			}
		})
	}
}

var decidingLine = regexp.MustCompile(`(?m)^ {4}(?:job_state|Hold_Types|substate|Exit_status|history_timestamp) = .*$`)

// cuts returns where to cut a record: in the value, before the line break and
// after it of every line that decides a state.
func cuts(record string) []int {
	var ends []int
	for _, place := range decidingLine.FindAllStringIndex(record, -1) {
		ends = append(ends, place[1]-1, place[1], place[1]+1)
	}
	return ends
}

// Whatever record is read after another, nothing of the other decides.
func TestPBSKeepsRecordsApart(t *testing.T) {
	definition := shippedDefinition(t, "pbs")
	record := func(name string) string { return recordedExchange(t, filepath.Join(pbsCases, name)).stdout }
	without := func(line, name string) string {
		return regexp.MustCompile(`(?m)^    `+line+` = .*\n`).ReplaceAllLiteralString(record(name), "")
	}
	// ask asks for the job of a record that is behind that of another job.
	ask := func(selector, first, second string) reading {
		return replay(t, definition, exchange{selector: selector, job: strings.Fields(second)[2], stdout: strings.Replace(first, "Job Id: ", "Job Id: 9", 1) + second})
	}
	for _, test := range []struct {
		behaviour     string
		first, second string
		state         string
	}{
		{"exit status", record("finished-ok"), record("finished-never-ran"), "FAILED"},
		{"substate", record("finished-deleted-in-queue"), without("substate", "finished-ok"), "COMPLETED"},
		{"exceeded limit", record("made-over-walltime-by-term"), record("made-deleted-without-substate"), "CANCELED"},
		{"hold", record("status-held-by-user"), record("made-held-no-types"), "SYSTEM_ON_HOLD"},
		{"letter of the state", record("finished-ok"), without("job_state", "finished-ok"), ""},
		{"end of the record", record("finished-ok"), record("made-cut-before-exit-status"), ""},
	} {
		for _, selector := range []string{"get-job-status", "fallback:qstat-finished"} {
			got := ask(selector, test.first, test.second)
			require.Equal(t, test.state, got.State, test.behaviour)
		}
	}
	got := ask("get-job-status", record("finished-by-signal"), record("finished-ok"))
	require.Empty(t, got.Facts["job.signal"])

	for _, test := range []struct {
		behaviour     string
		first, second string
		state         string
	}{
		{"substate", record("folded-finished-deleted"), without("substate", "folded-finished-ok"), ""},
		{"start", record("folded-finished-ok"), record("folded-finished-never-ran"), "FAILED"},
		{"hold", record("folded-held"), without("Hold_Types", "folded-held"), "SYSTEM_ON_HOLD"},
		{"letter of the state", record("folded-held"), without("job_state", "folded-suspended"), ""},
	} {
		untilVariables := test.first[:strings.Index(test.first, "    Variable_List")]
		got := ask("fallback:qstat-folded", untilVariables, test.second)
		require.Equal(t, test.state, got.State, test.behaviour)
	}
}

// What PBS says of a job that has not ended means the same from every client.
func TestPBSReadsFoldedRecordsLikeUnfoldedOnes(t *testing.T) {
	definition := shippedDefinition(t, "pbs")
	for _, folder := range caseFolders(t, pbsCases) {
		expected, native := expectedState(t, folder)
		if native == "" || strings.Contains("FX", native) {
			continue
		}
		recorded := recordedExchange(t, folder)
		if recorded.job == "" {
			continue // it is no query for a job
		}
		got := replay(t, definition, exchange{selector: "fallback:qstat-folded", job: recorded.job, stdout: recorded.stdout})
		require.Equal(t, expected, got.State, folder)
	}
}

func TestPBSNamesTheSignalThatEndedAJob(t *testing.T) {
	definition := shippedDefinition(t, "pbs")
	record := recordedExchange(t, filepath.Join(pbsCases, "finished-by-signal")).stdout
	for _, signal := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 31} {
		for _, base := range []int{128, 256} { // of the script, of the whole job
			status := strconv.Itoa(base + signal)
			stdout := strings.Replace(record, "Exit_status = 137\n", "Exit_status = "+status+"\n", 1)
			got := replay(t, definition, exchange{selector: "fallback:qstat-finished", job: "38.pbs01", stdout: stdout})
			require.Equal(t, strconv.Itoa(signal), got.Facts["job.signal"], status)
			require.Equal(t, status, got.Facts["job.exitCode"])
		}
	}
}
