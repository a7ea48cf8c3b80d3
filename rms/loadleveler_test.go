package rms_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

// No LoadLeveler was at hand: the outputs are made up after its documentation.
var loadlevelerCases = casesOf("loadleveler")

// printsRawAnswer is printsAnswer of a program whose raw form, with -r, is in a file with .raw behind its name.
const printsRawAnswer = `file=$ANSWERS/$(basename "$0")
case $1 in -r) [ ! -e "$file.raw" ] || file=$file.raw;; esac
[ -e "$file" ] || { echo "no answer to $0" >&2; exit 99; }
cat "$file"
[ ! -e "$file.err" ] || cat "$file.err" >&2
[ ! -e "$file.exit" ] || exit "$(cat "$file.exit")"`

// runLoadLeveler is runAtHome of LoadLeveler's definition.
func runLoadLeveler(t *testing.T, selector, home string, programs map[string]string, arguments ...string) (stdout, stderr string, exit int) {
	t.Helper()
	return runAtHome(t, "loadleveler", selector, "ll1.1", home, programs, arguments...)
}

// loadlevelerAnswers is programs that print the files of $ANSWERS.
func loadlevelerAnswers() map[string]string {
	programs := map[string]string{}
	for _, name := range []string{"llq", "llsummary", "llclass", "llstatus", "llcancel", "llhold"} {
		programs[name] = printsRawAnswer
	}
	return programs
}

// The shell makes lines of what LoadLeveler's commands print, which are what the definition reads in the case of the same folder.
func TestLoadLevelerMakesLinesOfWhatItsCommandsPrint(t *testing.T) {
	eachAnswered(t, loadlevelerCases, func(t *testing.T, recorded *cases.Case, name string) (stdout, stderr string, exit int) {
		var arguments []string
		switch recorded.Command {
		case "get-job-status", "terminate-job", "hold-job", "release-job":
			arguments = []string{recorded.Job}
		case "list-jobs":
			arguments = []string{"own", ""}
			if name == "list-all" {
				arguments[0] = "all"
			}
			if name == "list-asked" {
				arguments[1] = "ll1.example.org.123,ll2.5"
			}
		case "find-job":
			arguments = []string{tag, "100"}
		}
		return runLoadLeveler(t, recorded.Command, filepath.Join(os.Getenv("ANSWERS"), "home"), loadlevelerAnswers(), arguments...)
	})
}

// The tag of a submission goes before the comment, whoever has set that, and nothing else of the script changes.
func TestLoadLevelerSubmitsTheScriptWithItsTagBeforeTheComment(t *testing.T) {
	for script, submitted := range map[string]string{
		"#!/bin/sh\n# @ class = a\n# @ queue\ntrue 'x y'\n":                     "#!/bin/sh\n# @ comment = RMCTL_TAG=TAG\n# @ class = a\n# @ queue\ntrue 'x y'\n",
		"# @ executable = /bin/true\n# @ queue\n":                               "# @ comment = RMCTL_TAG=TAG\n# @ executable = /bin/true\n# @ queue\n",
		"#!/bin/sh\n# @ comment = my \"job\"\n# @ queue\n":                      "#!/bin/sh\n# @ comment = RMCTL_TAG=TAG my \"job\"\n# @ queue\n",
		"#!/bin/sh\n#@Comment= a\n# @ queue\n# @ comment = b = \\\n# @ queue\n": "#!/bin/sh\n#@Comment= RMCTL_TAG=TAG a\n# @ queue\n# @ comment = RMCTL_TAG=TAG b = \\\n# @ queue\n",
	} {
		home := t.TempDir()
		file := filepath.Join(home, "a script")
		require.NoError(t, os.WriteFile(file, []byte(script), 0o700))
		stdout, stderr, exit := runLoadLeveler(t, "submit-batch", home, map[string]string{"llsubmit": `cat "$1"`}, file, tag)
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, strings.ReplaceAll(submitted, "TAG=TAG", "TAG="+tag), stdout)
		information, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), information.Mode())
	}
	_, stderr, exit := runLoadLeveler(t, "submit-batch", t.TempDir(), map[string]string{"llsubmit": "echo submitted"}, "/no/such/script", tag)
	require.NotZero(t, exit)
	require.Contains(t, stderr, "/no/such/script")
}

// What the script of a job notes when its program has ended is what the job's state is told by, where there is no history.
func TestLoadLevelerTellsTheExitCodeThatTheScriptHasNoted(t *testing.T) {
	definition := shippedDefinition(t, "loadleveler")
	gone := map[string]string{"llq": "echo 'llq: There is currently no job status to report.'", "llsummary": "exit 1", "llsubmit": "true"}
	for program, told := range map[string]string{
		"true":                      "exit\t0\t0\nstate\tCOMPLETED\tCOMPLETED\n",
		"false":                     "exit\t1\t1\nstate\tFAILED\tFAILED\n",
		"sh -c 'exit 3'":            "exit\t3\t3\nstate\tFAILED\tFAILED\n",
		"sh -c 'kill -KILL $$; :'":  "exit\t137\t137\nstate\tFAILED\tFAILED\n",
		"sh -c 'cd /; exit 255; :'": "exit\t255\t255\nstate\tFAILED\tFAILED\n",
	} {
		script, err := renderGridEngine(t, definition)
		require.NoError(t, err)
		require.Contains(t, script, "\n true\ncode=$?\n")
		script = strings.Replace(script, "\n true\n", "\n"+program+"\n", 1)
		home := t.TempDir()
		file := filepath.Join(home, "script")
		require.NoError(t, os.WriteFile(file, []byte(script), 0o700))
		_, stderr, exit := runLoadLeveler(t, "submit-batch", home, gone, file, tag)
		require.Zero(t, exit, "%s", stderr)
		job := exec.CommandContext(t.Context(), file)
		job.Env = append(os.Environ(), "HOME="+home, "LOADL_STEP_ID=ll1.example.org.123.0")
		printed, err := job.Output()
		var failed *exec.ExitError
		if err != nil {
			require.ErrorAs(t, err, &failed)
		}
		require.Empty(t, printed)
		stdout, stderr, exit := runLoadLeveler(t, "get-job-status", home, gone, "ll1.example.org.123")
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "native\tCompleted\tCompleted\n"+told, stdout, program)
	}
}

// What users can forge is asked for by name only where it belongs to this user.
func TestLoadLevelerAsksForNoNamesOfOthers(t *testing.T) {
	const says = `case "$*" in *%jn*-u*) ;; *%jn*|*" -l"*) exit 9;; esac; echo "llq: There is currently no job status to report."`
	for _, scope := range []string{"own", "all"} {
		stdout, stderr, exit := runLoadLeveler(t, "list-jobs", t.TempDir(), map[string]string{"llq": says}, scope, "")
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "listed\n", stdout)
	}
}

// An id and a tag go into command lines: nothing else may pass for one.
func TestLoadLevelerRefusesWhatIsNoIDAndNoTag(t *testing.T) {
	never := map[string]string{"llq": "echo asked; exit 0", "llsummary": "echo asked; exit 0"}
	for _, id := range []string{"", "-l", "ll1.1; date", "ll1.*", "12", "../x.1", "ll1."} {
		stdout, stderr, exit := runLoadLeveler(t, "get-job-status", t.TempDir(), never, id)
		require.Equal(t, 1, exit, id)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "is not HOST.NUMBER")
	}
	for _, wrong := range []string{"", "*", "a b"} {
		_, stderr, exit := runLoadLeveler(t, "find-job", t.TempDir(), never, wrong, "100")
		require.Equal(t, 1, exit)
		require.Contains(t, stderr, "is not the tag of a submission")
	}
}
