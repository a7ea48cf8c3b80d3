package rms_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// torqueRecord is a job as qstat -x prints it.
func torqueRecord(id, owner, state, more string) string {
	return fmt.Sprintf("<Job><Job_Id>%s</Job_Id><Job_Name>a|b</Job_Name><Job_Owner>%s@login</Job_Owner><job_state>%s</job_state><queue>batch</queue><ctime>1</ctime>%s</Job>", id, owner, state, more)
}

// runTorque runs a command for real, where qstat -x prints records.
func runTorque(t *testing.T, selector, records string, arguments ...string) (stdout, stderr string, exit int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "records")
	require.NoError(t, os.WriteFile(file, []byte(records), 0o600))
	programs := map[string]string{"qstat": `case "$*" in -x*) cat "` + file + `";; "-B -f") echo "    keep_completed = 300";; *) exit 9;; esac`, "id": "echo ada"}
	program := argumentsOf(t, "torque", selector, "1")[4] // of awk
	return run(t, "torque", selector, programs, append([]string{program}, arguments...)...)
}

func TestTorqueSumsUpAnArray(t *testing.T) {
	exit := func(code int) string { return fmt.Sprintf("<exit_status>%d</exit_status>", code) }
	for what, c := range map[string]struct{ records, said string }{
		"one runs":                   {torqueRecord("9[1].s", "ada", "C", exit(3)) + torqueRecord("9[2].s", "ada", "Q", "") + torqueRecord("9[3].s", "ada", "R", ""), "job|9[].s|R|"},
		"none runs, one waits":       {torqueRecord("9[1].s", "ada", "C", exit(3)) + torqueRecord("9[2].s", "ada", "Q", "") + torqueRecord("9[3].s", "ada", "H", ""), "job|9[].s|Q|"},
		"one has failed":             {torqueRecord("9[1].s", "ada", "C", exit(0)) + torqueRecord("9[2].s", "ada", "C", exit(3)) + torqueRecord("9[3].s", "ada", "C", exit(0)), "end|9[].s|C|3|C|3|"},
		"one never ran":              {torqueRecord("9[1].s", "ada", "C", exit(0)) + torqueRecord("9[2].s", "ada", "C", ""), "end|9[].s|C|none|C|none|"},
		"all ended well":             {torqueRecord("9[1].s", "ada", "C", exit(0)) + torqueRecord("9[2].s", "ada", "C", exit(0)), "end|9[].s|C|0|C|0|"},
		"the server shows it itself": {torqueRecord("9[].s", "ada", "H", "") + torqueRecord("9[1].s", "ada", "C", exit(0)), "end|9[].s|C|0|C|0|"},
	} {
		t.Run(what, func(t *testing.T) {
			stdout, stderr, code := runTorque(t, "get-job-status", "<Data>"+c.records+"</Data>", "9[].s")
			require.Zero(t, code, "%s", stderr)
			require.True(t, strings.HasPrefix(stdout, c.said), stdout)
		})
	}
	stdout, _, code := runTorque(t, "get-job-status", "<Data>"+torqueRecord("7.s", "ada", "C", exit(0))[:150], "7.s")
	require.Zero(t, code)
	require.Empty(t, stdout, "a record without its end tells nothing")
}

func TestTorqueListsAndFindsJobsOfTheUserOnly(t *testing.T) {
	script := "<submit_args>-q batch " + place + "/" + tag + "managed_file_for_script</submit_args>"
	records := "<Data>" + torqueRecord("1.s", "ada", "R", "<comment>x&lt;y &amp; z</comment>") + torqueRecord("2.s", "bob", "R", script) + torqueRecord("3[].s", "ada", "Q", "") + "</Data>"
	stdout, stderr, code := runTorque(t, "list-jobs", records, "own")
	require.Zero(t, code, "%s", stderr)
	require.Equal(t, "job|1.s|R||batch|1|||ada@login|x<y & z||a!b\nlisted\n", stdout)
	stdout, _, _ = runTorque(t, "list-jobs", records, "all")
	require.Equal(t, 4, strings.Count(stdout, "\n"), stdout)

	stdout, stderr, code = runTorque(t, "find-job", records, tag, place, "100")
	require.Zero(t, code, "%s", stderr)
	require.Equal(t, "found no job\n", stdout, "the other's job")
	stdout, _, _ = runTorque(t, "find-job", strings.ReplaceAll(records, ">bob@", ">ada@"), tag, place, "100")
	require.Equal(t, "found job 2.s, which is 2.s\n", stdout)
	_, stderr, code = runTorque(t, "find-job", strings.NewReplacer(">bob@", ">ada@", "-q batch "+place, "x.sh A="+place).Replace(records), tag, place, "100")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "unusual place")
	_, stderr, code = runTorque(t, "find-job", records, tag, place, "300")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "keeps jobs that ended for 300 seconds only")
}

// A row comes while qstat prints, and the last line only where qstat has told all.
func TestTorqueListsJobsWhileQstatPrints(t *testing.T) {
	long := "<comment>" + strings.Repeat("x", 20000) + "</comment>" // more than awk reads at a time
	rows := rowsWhile(t, "torque", "list-jobs", "qstat", []string{"own"}, map[string]string{"id": "echo ada"},
		"<Data>"+torqueRecord("1.s", "ada", "R", "")+torqueRecord("2.s", "ada", "R", long), torqueRecord("3.s", "ada", "Q", "")+"</Data>")
	require.Contains(t, rows.first, "job|1.s|R|")
	require.Regexp(t, `(?s)^job\|2\.s\|.*\njob\|3\.s\|Q\|.*\nlisted\n$`, rows.others)

	for what, c := range map[string]struct {
		records string
		exit    int
		said    string
	}{
		"cut":     {"<Data>" + torqueRecord("1.s", "ada", "R", ""), 1, "the answer of qstat is not whole"},
		"nothing": {"", 0, ""},
	} {
		stdout, stderr, code := runTorque(t, "list-jobs", c.records, "own")
		require.Equal(t, c.exit, code, what)
		require.Contains(t, stderr, c.said)
		require.Equal(t, c.exit == 0, strings.HasSuffix(stdout, "listed\n"), stdout)
	}
	stdout, _, code := runReplacing(t, "torque", "list-jobs", map[string]string{"qstat": "echo '<Data>" + torqueRecord("1.s", "ada", "R", "") + "</Data>'; exit 170", "id": "echo ada"}, "own")
	require.Equal(t, 170, code)
	require.NotContains(t, stdout, "listed")
}

// What another project recorded, read where it is.
func TestTorqueReadsAListingOfAnotherProject(t *testing.T) {
	path := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures-peers", "xenon", "torque-jobs.xml")
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no recorded output %s; set RMCTL_SHARED", path)
	}
	stdout, stderr, code := runTorque(t, "list-jobs", string(recorded), "all")
	require.Zero(t, code, "%s", stderr)
	states := regexp.MustCompile(`(?m)^job\|\d+\.\S+\|([A-Z])\|n\|\w+\|\d+\|`).FindAllStringSubmatch(stdout, -1)
	require.Len(t, states, strings.Count(string(recorded), "<job_state>"))
	require.Equal(t, strings.Count(string(recorded), "<job_state>R"), strings.Count(stdout, "|R|n|"))
}
