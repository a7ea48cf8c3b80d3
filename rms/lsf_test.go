package rms_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// Outputs are made after LSF's documentation and what other projects published.
const (
	lsfCases   = "../testdata/lsf"
	lsfHistory = "fallback:get-job-status-from-history"
)

// lsfRunning is what bjobs prints about job 4711, which runs, with some of its fields.
func lsfRunning(fields string) string {
	return `{"COMMAND":"bjobs","JOBS":1,"RECORDS":[{"JOBID":"4711","JOBINDEX":"0","STAT":"RUN","EXIT_CODE":"","EXIT_REASON":"",` +
		`"SUBMIT_TIME":"Jan 10 17:50:11 2027",` + fields + "}]}\n"
}

// The tag of a submission is added to the description, whoever has set that.
func TestLSFSubmitsTheScriptWithItsTagBehindTheDescription(t *testing.T) {
	local, err := remote.NewLocal()
	require.NoError(t, err)
	for directive, description := range map[string]string{
		"":                                    "",
		`#BSUB -Jd "my job; ok"`:              "my job; ok",
		`#BSUB -q short -Jd 'it is' -n 4`:     "it is",
		`#BSUB -Jd word -n 4`:                 "word",
		`echo "#BSUB -Jd no directive"`:       "",
		"#BSUB -Jd first\n#BSUB -Jd \"last\"": "last",
		`#BSUB -Jd "not \"representable\""`:   "",
	} {
		script := filepath.Join(t.TempDir(), "a script")
		text := "#!/bin/sh\n" + directive + "\nexec true 'x y'\n"
		require.NoError(t, os.WriteFile(script, []byte(text), 0o600))
		rendering, err := control.New(control.Options{Definition: shippedDefinition(t, "lsf"), Connection: local}).Render(job.Submission{Script: script})
		require.NoError(t, err)
		require.Equal(t, text, rendering.Script, "it arrives as it is")
		submit := false
		for _, each := range rendering.Commands {
			if each.Arguments[0] != "bsub" {
				continue
			}
			submit = true
			require.Len(t, each.Arguments, 3)
			require.Equal(t, "-Jd", each.Arguments[1])
			require.True(t, strings.HasPrefix(each.Arguments[2], description+" RMCTL_TAG="), "%q", each.Arguments)
			require.True(t, strings.HasSuffix(each.InputFile, "/a_script"), each.InputFile)
		}
		require.True(t, submit)
	}
}

// An id goes into command lines: nothing else may pass for one.
func TestLSFRefusesWhatIsNoID(t *testing.T) {
	ids, err := reader.NewIDs(shippedDefinition(t, "lsf").IDs)
	require.NoError(t, err)
	for _, id := range []string{"", "-a", "0; date", "4711[*]", "12[1-3]", "a", "4711[", "4711\n"} {
		_, _, isID := ids.Split(id)
		require.False(t, isID, id)
	}
	number, task, isID := ids.Split("4711[2]")
	require.True(t, isID)
	require.Equal(t, []string{"4711", "2"}, []string{number, task})
}

// A name may hold line breaks and what looks like other fields and records, which LSF need not escape.
func TestLSFNoNameMakesAJobEnd(t *testing.T) {
	definition := shippedDefinition(t, "lsf")
	for _, name := range []string{
		"x\ny", `x","STAT":"DONE`, "x\",\n\"STAT\":\"DONE\",\"A\":\"", `x"},{"JOBID":"4711","STAT":"DONE","EXIT_CODE":"","EXIT_REASON":"","SUBMIT_TIME":"`,
		`x"}]}{"COMMAND":"bjobs","JOBS":1,"RECORDS":[{"JOBID":"4711","STAT":"DONE","EXIT_CODE":"","EXIT_REASON":"","SUBMIT_TIME":"`,
		`x"}],"JOBS":2,"X":[{"A":"`, `x","ERROR":"Job <4711> is not found`, "x\nJob <4711> is not found", "\"\nNo job found", `\`, "\x00", "Jan 10 17:50:11 2027",
	} {
		got := replay(t, definition, exchange{selector: "get-job-status", job: "4711", stdout: lsfRunning(`"JOB_NAME":"` + name + `"`)})
		require.Contains(t, []string{"", "RUNNING"}, got.State, name)
		require.NotEqual(t, config.NotFound, got.Outcome, name)
	}
	running := recordedExchange(t, filepath.Join(lsfCases, "status-past-open"))
	for _, command := range []string{
		"\nSun Jan 10 17:50:30 2027: Done successfully. x", ">\nJob <4711>, x\nSun Jan 10 17:50:30 2027: Done successfully. x",
		"\nSun Jan 10 17:50:30 2027: Completed <exit>; TERM_OWNER: x.\nSummary of time ", "\nSun Jan 10 17:50:12 2027: Signal <KILL> requested by user",
	} {
		forged := running
		forged.stdout = strings.Replace(running.stdout, "Command <", "Command <"+command, 1)
		require.Empty(t, replay(t, definition, forged).State, command)
	}
}

// A history that is cut anywhere says nothing.
func TestLSFConcludesNothingFromACutHistory(t *testing.T) {
	definition := shippedDefinition(t, "lsf")
	for _, name := range []string{"status-past-killed", "status-past-array", "status-past-done"} {
		whole := recordedExchange(t, filepath.Join(lsfCases, name))
		require.Equal(t, lsfHistory, whole.selector)
		require.NotEmpty(t, replay(t, definition, whole).State)
		end := strings.Index(whole.stdout, "Summary of time")
		for length := range end {
			cut := whole
			cut.stdout = whole.stdout[:length]
			require.Empty(t, replay(t, definition, cut).State, "%s: %q", name, cut.stdout)
		}
	}
}

// What other projects know of LSF, read where it is: every state that they name has a meaning here, and what
// bsub printed there is understood.
func TestLSFKnowsWhatOtherProjectsRecorded(t *testing.T) {
	peers := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures-peers")
	if _, err := os.Stat(peers); err != nil {
		t.Skipf("no recorded outputs in %s; set RMCTL_SHARED", peers)
	}
	read := func(name string, into any) {
		content, err := os.ReadFile(filepath.Join(peers, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(content, into))
	}
	known := map[string]bool{}
	for _, folder := range caseFolders(t, lsfCases) {
		if detail, native := expectedState(t, folder); detail != "" {
			known[native] = true
		}
	}
	var states map[string]string
	read("snakemake-lsf/lsf-states.json", &states)
	require.NotEmpty(t, states)
	for state := range states {
		require.True(t, known[state], state)
	}

	definition := shippedDefinition(t, "lsf")
	var hosts struct {
		ExecHost [][]any  `json:"exec_host"`
		Bsub     []string `json:"bsub"`
	}
	read("ood_core/lsf-values.json", &hosts)
	require.NotEmpty(t, hosts.ExecHost)
	for _, pair := range hosts.ExecHost {
		got := replay(t, definition, exchange{selector: "get-job-status", job: "7", stdout: strings.Replace(lsfRunning(`"EXEC_HOST":"`+pair[0].(string)+`"`), "4711", "7", 1)})
		require.Equal(t, "RUNNING", got.State)
		var expected []string
		for host := range pair[1].(map[string]any) {
			expected = append(expected, host)
		}
		require.ElementsMatch(t, expected, strings.Split(got.Facts["job.nodes"], ","))
	}
	submitted := map[string]string{hosts.Bsub[0]: hosts.Bsub[1]}
	var commands []struct {
		Command string `json:"cmd"`
		Stdout  string `json:"stdout"`
		JobID   string `json:"job_id"`
	}
	read("aiida-core/lsf-commands.json", &commands)
	for _, command := range commands {
		if command.Command == "bsub" {
			submitted[command.Stdout+"\n"] = command.JobID
		}
	}
	for printed, id := range submitted {
		require.Equal(t, id, lsfSubmitted(t, printed), printed)
	}
}

// lsfSubmitted returns the id that a submission reads in what bsub prints, empty without one.
func lsfSubmitted(t *testing.T, printed string) string {
	t.Helper()
	submit, _, err := shippedDefinition(t, "lsf").Select("submit-batch")
	require.NoError(t, err)
	compiled, err := reader.New(submit.Read, reader.Query{IDs: &reader.IDs{}})
	require.NoError(t, err)
	_, err = compiled.Write([]byte(printed))
	require.NoError(t, err)
	answer, err := compiled.Close()
	require.NoError(t, err)
	for each := range answer.All() {
		return each.ID
	}
	return ""
}
