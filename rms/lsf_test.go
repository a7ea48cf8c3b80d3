package rms_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
)

// No LSF was at hand: the outputs are made up after its documentation.
const lsfCases = "../testdata/lsf"

// printsAnswer is a program that prints the file which is called as it, and exits with the code in that
// file with .exit behind it. Where it is not asked for names it prints the file with .plain behind it.
const printsAnswer = `file=$ANSWERS/$(basename "$0")
case "$*" in *job_name*) ;; *) [ ! -e "$file.plain" ] || file=$file.plain;; esac
[ -e "$file" ] || { echo "no answer to $0" >&2; exit 99; }
cat "$file"
[ ! -e "$file.err" ] || cat "$file.err" >&2
[ ! -e "$file.exit" ] || exit "$(cat "$file.exit")"`

// runLSF runs the shell of a command for real, on programs in place of LSF's.
func runLSF(t *testing.T, selector string, programs map[string]string, arguments ...string) (stdout, stderr string, exit int) {
	t.Helper()
	return runReplacing(t, "lsf", selector, programs, arguments...)
}

// answered is programs that print the files of $ANSWERS.
func answered(names ...string) map[string]string {
	programs := map[string]string{}
	for _, name := range names {
		programs[name] = printsAnswer
	}
	return programs
}

// The shell makes lines of what LSF's commands print, which are what the definition reads in the case of the same folder.
func TestLSFMakesLinesOfWhatItsCommandsPrint(t *testing.T) {
	eachAnswered(t, lsfCases, func(t *testing.T, recorded *cases.Case, name string) (stdout, stderr string, exit int) {
		var arguments []string
		switch recorded.Command {
		case "get-job-status", "hold-job":
			arguments = []string{recorded.Job}
		case "list-jobs":
			arguments = []string{strings.Split(name, "-")[1]}
		case "find-job":
			age := "100"
			if strings.Contains(string(recorded.Stderr), "keeps jobs") {
				age = "3700"
			}
			arguments = []string{tag, age}
		}
		return runLSF(t, recorded.Command, answered("bjobs", "bhist", "bparams", "bqueues", "bhosts", "lshosts", "lsload", "bstop"), arguments...)
	})
}

// The tag of a submission is added to the description, whoever has set that, and the script arrives as it is.
func TestLSFSubmitsTheScriptWithItsTagBehindTheDescription(t *testing.T) {
	for directive, description := range map[string]string{
		"":                                    "RMCTL_TAG=" + tag,
		`#BSUB -Jd "my job; $HOME"`:           "my job; $HOME RMCTL_TAG=" + tag,
		`#BSUB -q short -Jd 'it is' -n 4`:     "it is RMCTL_TAG=" + tag,
		`#BSUB -Jd word -n 4`:                 "word RMCTL_TAG=" + tag,
		`echo "#BSUB -Jd no directive"`:       "RMCTL_TAG=" + tag,
		"#BSUB -Jd first\n#BSUB -Jd \"last\"": "last RMCTL_TAG=" + tag,
	} {
		script := filepath.Join(t.TempDir(), "a script")
		text := "#!/bin/sh\n" + directive + "\nexec true 'x y'\n"
		require.NoError(t, os.WriteFile(script, []byte(text), 0o600))
		stdout, stderr, exit := runLSF(t, "submit-batch", map[string]string{"bsub": `printf '%s|' "$@"; cat`}, script, tag)
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "-Jd|"+description+"|"+text, stdout)
	}
	_, stderr, exit := runLSF(t, "submit-batch", map[string]string{"bsub": "echo submitted"}, "/no/such/script", tag)
	require.NotZero(t, exit)
	require.Contains(t, stderr, "/no/such/script")
}

// What users can forge is asked for by name only where it belongs to this user.
func TestLSFAsksForNoNamesOfOthers(t *testing.T) {
	const says = `case "$*" in *"-u all "*job_name*|*job_description*) exit 9;; esac; echo No job found >&2; exit 255`
	for _, scope := range []string{"own", "all"} {
		stdout, stderr, exit := runLSF(t, "list-jobs", map[string]string{"bjobs": says}, scope)
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "listed\n", stdout)
	}
}

// An id and a tag go into command lines: nothing else may pass for one.
func TestLSFRefusesWhatIsNoIDAndNoTag(t *testing.T) {
	never := map[string]string{"bjobs": "echo asked; exit 0", "bhist": "echo asked; exit 0"}
	for _, id := range []string{"", "-a", "0; date", "4711[*]", "12[1-3]", "a"} {
		stdout, stderr, exit := runLSF(t, "get-job-status", never, id)
		require.Equal(t, 1, exit, id)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "no job ")
	}
	for _, wrong := range []string{"", "*", "a b"} {
		_, stderr, exit := runLSF(t, "find-job", never, wrong, "100")
		require.Equal(t, 1, exit)
		require.Contains(t, stderr, "is not the tag of a submission")
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

	var hosts struct {
		ExecHost [][]any  `json:"exec_host"`
		Bsub     []string `json:"bsub"`
	}
	read("ood_core/lsf-values.json", &hosts)
	require.NotEmpty(t, hosts.ExecHost)
	for _, pair := range hosts.ExecHost {
		t.Setenv("ANSWERS", t.TempDir())
		record := `{` + "\n" + `"JOBS":1,` + "\n" + `"RECORDS":[` + "\n{\n" + `"JOBID":"7",` + "\n" + `"STAT":"RUN",` + "\n" + `"EXEC_HOST":"` + pair[0].(string) + `"` + "\n}\n]\n}\n"
		require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("ANSWERS"), "bjobs"), []byte(record), 0o600))
		stdout, stderr, exit := runLSF(t, "get-job-status", answered("bjobs"), "7")
		require.Zero(t, exit, "%s", stderr)
		_, listed, _ := strings.Cut(stdout, "nodes\t")
		listed, _, _ = strings.Cut(listed, "\t")
		require.Len(t, strings.Fields(listed), len(pair[1].(map[string]any)), listed)
		for host := range pair[1].(map[string]any) {
			require.Contains(t, strings.Fields(listed), host)
		}
	}
	require.Equal(t, hosts.Bsub[1], submittedID(t, hosts.Bsub[0]))

	var commands []struct {
		Command string `json:"cmd"`
		Stdout  string `json:"stdout"`
		JobID   string `json:"job_id"`
	}
	read("aiida-core/lsf-commands.json", &commands)
	for _, command := range commands {
		if command.Command == "bsub" {
			require.Equal(t, command.JobID, submittedID(t, command.Stdout+"\n"))
		}
	}
}

// submittedID returns the id that a submission reads in what bsub prints, empty without one.
func submittedID(t *testing.T, printed string) string {
	t.Helper()
	const key = "a submission"
	definition := shippedDefinition(t, "lsf")
	env := definedEnvironment(definition)
	env.SetVariable(key, nil)
	selected, _, err := definition.Select("submit-batch")
	require.NoError(t, err)
	request := command.Request{Command: selected, Scope: config.Scope{Environment: env, Job: key}}
	invocation, err := request.Resolve()
	require.NoError(t, err)
	_, err = command.Run(t.Context(), answering{exchange: exchange{stdout: printed}}, request, invocation)
	require.NoError(t, err)
	if attribute.Text(env.Variable(key).Value()) != "SUBMITTED" {
		return ""
	}
	return attribute.Text(env.Variable(key).Field(attribute.FieldName))
}
