package rms_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

// No Cobalt was at hand: the outputs are made up after its documentation and its sources.
var cobaltCases = casesOf("cobalt")

// printsCobaltAnswer is printsAnswer of a program that has other files for queues (-Q), and where it is asked for no job.
const printsCobaltAnswer = `file=$ANSWERS/$(basename "$0")
case "$(basename "$0") $*" in
"qstat -Q"*) file=$file.Q;;
qstat*[!0-9]) [ ! -e "$file.all" ] || file=$file.all;;
esac
[ -e "$file" ] || { echo "no answer to $0" >&2; exit 99; }
cat "$file"
[ ! -e "$file.err" ] || cat "$file.err" >&2
[ ! -e "$file.exit" ] || exit "$(cat "$file.exit")"`

// runCobalt is runAtHome of Cobalt's definition.
func runCobalt(t *testing.T, selector, home string, programs map[string]string, arguments ...string) (stdout, stderr string, exit int) {
	t.Helper()
	return runAtHome(t, "cobalt", selector, "1", home, programs, arguments...)
}

// cobaltAnswers is programs that print the files of $ANSWERS.
func cobaltAnswers() map[string]string {
	programs := map[string]string{"id": "echo user"}
	for _, name := range []string{"qstat", "qsub", "qdel", "qhold", "qrls", "nodelist"} {
		programs[name] = printsCobaltAnswer
	}
	return programs
}

// The shell makes lines of what Cobalt's commands print and of the logs, which are what the definition reads in the case of the same folder.
func TestCobaltMakesLinesOfWhatItsCommandsPrint(t *testing.T) {
	eachAnswered(t, cobaltCases, func(t *testing.T, recorded *cases.Case, name string) (stdout, stderr string, exit int) {
		home := filepath.Join(os.Getenv("ANSWERS"), "home")
		var arguments []string
		switch recorded.Command {
		case "get-job-status", "terminate-job", "hold-job", "release-job":
			arguments = []string{recorded.Job}
		case "list-jobs":
			arguments = []string{strings.Split(name, "-")[1]}
		case "find-job":
			arguments = []string{tag}
		case "submit-batch":
			home = t.TempDir()
			script := filepath.Join(home, "script")
			require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700))
			arguments = []string{script, tag}
		}
		return runCobalt(t, recorded.Command, home, cobaltAnswers(), arguments...)
	})
}

// The log has the tag for its name, and is there before the job is, with something in it once there is one.
func TestCobaltKeepsALogOfEachSubmissionByItsTag(t *testing.T) {
	const says = `printf '%s|' "$@" >"$HOME/called"; cp "$HOME/.eclipsesettings/cobalt/TAG.log" "$HOME/before"; cat "$HOME/.eclipsesettings/cobalt/TAG.sh" >"$HOME/script"; echo 1234`
	program := map[string]string{"qsub": strings.ReplaceAll(says, "TAG", tag)}
	for text, options := range map[string]string{
		"#!/bin/sh\n#COBALT -n 2\ntrue 'x y'\n":          "--debuglog|HOME/.eclipsesettings/cobalt/TAG.log|",
		"#!/bin/sh\n#COBALT -n 2 --debuglog own\ntrue\n": "", // which Cobalt is to keep where the script says
	} {
		home := t.TempDir()
		notes := filepath.Join(home, ".eclipsesettings", "cobalt")
		script := filepath.Join(home, "a script")
		require.NoError(t, os.WriteFile(script, []byte(text), 0o600))
		stdout, stderr, exit := runCobalt(t, "submit-batch", home, program, script, tag)
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "submitted job 1234, which is 1234\n", stdout)
		content := func(path ...string) string {
			text, err := os.ReadFile(filepath.Join(path...))
			require.NoError(t, err)
			return string(text)
		}
		called := strings.ReplaceAll(strings.ReplaceAll(options+"HOME/.eclipsesettings/cobalt/TAG.sh|", "HOME", home), "TAG", tag)
		require.Equal(t, called, content(home, "called"))
		require.Empty(t, content(home, "before"))
		require.Equal(t, text, content(home, "script"))
		require.Equal(t, "Jobid: 1234\n", content(notes, tag+".log"))
		for name, mode := range map[string]os.FileMode{tag + ".log": 0o600, tag + ".sh": 0o700} {
			information, err := os.Stat(filepath.Join(notes, name))
			require.NoError(t, err)
			require.Equal(t, mode, information.Mode())
		}
	}
}

// What was refused leaves nothing, and what Cobalt has noted of a job stays even if its id was not read.
func TestCobaltRemovesTheLogOfARefusedSubmissionOnly(t *testing.T) {
	for says, left := range map[string]int{
		"echo no such project >&2; exit 1": 0,
		"echo no id":                       0,
		`echo "Info: stdin received" >>"$2"; echo cut off >&2; exit 1`: 2,
	} {
		home := t.TempDir()
		script := filepath.Join(home, "script")
		require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700))
		stdout, stderr, exit := runCobalt(t, "submit-batch", home, map[string]string{"qsub": says}, script, tag)
		require.Equal(t, 1, exit)
		require.Empty(t, stdout)
		require.NotEmpty(t, stderr)
		files, err := os.ReadDir(filepath.Join(home, ".eclipsesettings", "cobalt"))
		require.NoError(t, err)
		require.Len(t, files, left, says)
	}
	_, stderr, exit := runCobalt(t, "submit-batch", t.TempDir(), map[string]string{"qsub": "echo 1"}, "/no/such/script", tag)
	require.Equal(t, 1, exit)
	require.Contains(t, stderr, "/no/such/script")
}

// Names of jobs may hold line breaks: listings do without them.
func TestCobaltAsksForNoNamesInListings(t *testing.T) {
	const says = `case "$*" in *JobName*|*Path*|*Args*|*Envs*) exit 9;; esac`
	for _, scope := range []string{"own", "all"} {
		stdout, stderr, exit := runCobalt(t, "list-jobs", t.TempDir(), map[string]string{"qstat": says}, scope)
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "listed\n", stdout)
	}
}

// An id and a tag go into command lines: nothing else may pass for one.
func TestCobaltRefusesWhatIsNoIDAndNoTag(t *testing.T) {
	never := map[string]string{"qstat": "echo asked; exit 0"}
	for _, id := range []string{"", "-l", "1; date", "*", "1 2", "default"} {
		stdout, stderr, exit := runCobalt(t, "get-job-status", t.TempDir(), never, id)
		require.Equal(t, 1, exit, id)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "it is not a number")
	}
	for _, wrong := range []string{"", "*", "a b", "../x"} {
		_, stderr, exit := runCobalt(t, "find-job", t.TempDir(), never, wrong)
		require.Equal(t, 1, exit)
		require.Contains(t, stderr, "is not the tag of a submission")
	}
}
