package rms_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

// No Flux was at hand: the outputs are made up after its documentation.
var fluxCases = casesOf("flux")

// answersOfFlux prints the file of $ANSWERS that tells of its question, and exits with the code in the file with .exit
// behind it. Where it is not asked for names it prints the file with .plain behind it.
const answersOfFlux = `case "$1 $2" in
"jobs "*) file=jobs;;
"job info") file=jobspec; [ ! -e "$ANSWERS/jobspec-$3" ] || file=jobspec-$3;;
"job id") file=id;;
"resource R") file=R-$4;;
*) file=$1-$2;;
esac
file=$ANSWERS/$file
case "$*" in *"{name}"*) ;; *) [ ! -e "$file.plain" ] || file=$file.plain;; esac
[ -e "$file" ] || { echo "no answer to $*" >&2; exit 99; }
cat "$file"
[ ! -e "$file.err" ] || cat "$file.err" >&2
[ ! -e "$file.exit" ] || exit "$(cat "$file.exit")"`

// The shell makes lines of what Flux's commands print, which are what the definition reads in the case of the same folder.
func TestFluxMakesLinesOfWhatItsCommandsPrint(t *testing.T) {
	eachAnswered(t, fluxCases, func(t *testing.T, recorded *cases.Case, name string) (stdout, stderr string, exit int) {
		var arguments []string
		switch recorded.Command {
		case "get-job-status":
			arguments = []string{recorded.Job}
		case "list-jobs":
			arguments = []string{map[bool]string{true: "all", false: "own"}[name == "list-all"]}
		case "find-job":
			arguments = []string{tag, "100"}
		case "submit-batch":
			arguments = []string{"/x/script", tag}
		}
		programs := map[string]string{"flux": answersOfFlux, "date": "echo 1800000000"}
		return runReplacing(t, "flux", recorded.Command, programs, arguments...)
	})
}

// Flux shows ids with the letter ƒ, which users copy.
func TestFluxKnowsIDsAsItShowsThem(t *testing.T) {
	answers, err := filepath.Abs(filepath.Join(fluxCases, "status-done", "answers"))
	require.NoError(t, err)
	t.Setenv("ANSWERS", answers)
	stdout, stderr, exit := runReplacing(t, "flux", "get-job-status", map[string]string{"flux": answersOfFlux}, "ƒ3RCmVt1")
	require.Zero(t, exit, "%s", stderr)
	require.Contains(t, stdout, "state\tINACTIVE/COMPLETED\t")
}

// The tag is an attribute that Flux itself does not look at; the script's own directives stay as they are.
func TestFluxSubmitsTheScriptWithItsTagAsAnAttribute(t *testing.T) {
	says := map[string]string{"flux": `case $1 in batch) printf '%s|' "$@" >&2; exit 1;; esac`}
	stdout, stderr, exit := runReplacing(t, "flux", "submit-batch", says, "/a script", tag)
	require.Equal(t, 1, exit)
	require.Empty(t, stdout)
	require.Equal(t, "batch|--setattr=user.rmctl_tag="+tag+"|/a script|\n", stderr)
}

// What users can forge is asked for by name only where it belongs to this user.
func TestFluxAsksForNoNamesOfOthers(t *testing.T) {
	for scope, says := range map[string]string{
		"own": `case "$*" in *"-c 0"*"{name}"*) ;; *) exit 9;; esac`,
		"all": `case "$*" in *"{name}"*) exit 9;; *"-c 0"*"-u all"*) ;; *) exit 9;; esac`,
	} {
		stdout, stderr, exit := runReplacing(t, "flux", "list-jobs", map[string]string{"flux": says}, scope)
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "listed\n", stdout)
	}
}

// Of thousands of jobs only those are looked at that may be the one.
func TestFluxLooksOnlyAtJobsThatWereSubmittedSince(t *testing.T) {
	read := filepath.Join(t.TempDir(), "read")
	says := map[string]string{
		"date": "echo 10000",
		"flux": `case $2 in info) echo $3 >>"` + read + `"; echo '{"rmctl_tag": "` + otherTag + `"}';; *) for t in 8500.9 8600 8601.5 9999 10500; do n=$((n + 1)); echo "$n|f$n|$t"; done;; esac`,
	}
	stdout, stderr, exit := runReplacing(t, "flux", "find-job", says, tag, "1100")
	require.Zero(t, exit, "%s", stderr)
	require.Equal(t, "found no job\n", stdout)
	content, err := os.ReadFile(read)
	require.NoError(t, err)
	require.Equal(t, "2\n3\n4\n5\n", string(content))
}

// An id and a tag go into command lines: nothing else may pass for one.
func TestFluxRefusesWhatIsNoIDAndNoTag(t *testing.T) {
	never := map[string]string{"flux": "echo asked; exit 0"}
	for _, id := range []string{"", "-a", "0; date", "f1/f2", "f1 f2", "ƒ-1"} {
		stdout, stderr, exit := runReplacing(t, "flux", "get-job-status", never, id)
		require.Equal(t, 1, exit, id)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "no job ")
	}
	for _, wrong := range []string{"", "*", "a b", `"`} {
		_, stderr, exit := runReplacing(t, "flux", "find-job", never, wrong, "100")
		require.Equal(t, 1, exit)
		require.Contains(t, stderr, "is not the tag of a submission")
	}
}

func TestFluxEveryAttributeMakesItsDirective(t *testing.T) {
	definition := shippedDefinition(t, "flux")
	covered := map[string]bool{"shell": true, "launcher": true}
	for pair, directive := range map[string]string{
		"job-name=a.b-c": `--job-name="a.b-c"`, "queue=long-2.x": `--queue="long-2.x"`, "bank=fusion": `--setattr=bank="fusion"`, "project=p": `--setattr=project="p"`,
		"nodes=2": `--nodes=2`, "slots=8": `--nslots=8`, "cores-per-slot=4": `--cores-per-slot=4`, "gpus-per-slot=1": `--gpus-per-slot=1`, "exclusive=true": `--exclusive`,
		"time-limit=1.5h": `--time-limit=1.5h`, "requires=amd64|-host:node[1-3]": `--requires="amd64|-host:node[1-3]"`,
		"dependency=afterok:f2 --dependency=after:12": `--dependency=afterok:f2 --dependency=after:12`, "begin-time=+2h": `--begin-time="+2h"`, "urgency=hold": `--urgency=hold`,
		"signal=USR1@60s": `--signal=USR1@60s`, "working-directory=/scratch": `--cwd="/scratch"`, "output=o.{{id.dec}}": `--output="o.{{id.dec}}"`, "error=e": `--error="e"`,
		"unbuffered=true": `--unbuffered`, "environment=-LD_*": `--env="-LD_*"`, "resource-limits=-*,core=16": `--rlimit="-*,core=16"`, "shell-option=mpi=intel": `--setopt="mpi=intel"`,
		"configuration=a.toml": `--conf="a.toml"`, "flux-options=--dump --broker-opts=-v": `--dump --broker-opts=-v`,
	} {
		name, value, _ := strings.Cut(pair, "=")
		covered[name] = true
		script, err := renderGridEngine(t, definition, name, value)
		require.NoError(t, err, pair)
		require.Contains(t, strings.Split(script, "\n"), "#flux: "+directive, pair)
	}
	for _, defined := range definition.Attributes {
		require.True(t, covered[defined.Name()] || !defined.Visible(), "attribute %s", defined.Name())
	}
	script, err := renderGridEngine(t, definition, "nodes", "4", "exclusive", "false", "shell", "/bin/bash -l", "launcher", "flux run -N 4")
	require.NoError(t, err)
	require.Equal(t, "#!/bin/bash -l\n#flux: --job-name=\"true\"\n#flux: --nodes=4\n#flux: --output=\"true.{{id.dec}}.out\"\nexec flux run -N 4 true\n", script)
}

// flux batch takes no job without a number of slots or nodes.
func TestFluxAsksForOneSlotWhereNothingIsAskedFor(t *testing.T) {
	definition := shippedDefinition(t, "flux")
	for nslots, pair := range map[string][]string{
		"#flux: --nslots=1\n": {"queue", "a"}, "#flux: --nslots=3\n": {"slots", "3"}, "": {"nodes", "3"},
	} {
		script, err := renderGridEngine(t, definition, pair...)
		require.NoError(t, err)
		require.Equal(t, strings.Count(nslots, "\n"), strings.Count(script, "--nslots="), script)
		require.Contains(t, script, nslots)
	}
}

// A value stands in a directive as it is: none may end the quotes around it, or the line.
func TestFluxRefusesValuesThatItsDirectivesCannotHold(t *testing.T) {
	definition := shippedDefinition(t, "flux")
	refuses(t, definition, "flux-options")
	for name, value := range map[string]string{
		"job-name": "a b", "nodes": "2-4", "slots": "0", "time-limit": "1:30:00", "dependency": "afterok:1 --urgency=31", "urgency": "32", "output": "a b",
		"flux-options": "rm -rf", "working-directory": "relative", "shell-option": "a b", "launcher": "a; b", "signal": "USR1 60s",
	} {
		_, err := renderGridEngine(t, definition, name, value)
		require.Error(t, err, "%s=%q", name, value)
	}
}
