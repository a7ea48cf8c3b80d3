package rms_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
)

// No PJM was at hand: the outputs are made up after its documentation.
var pjmCases = casesOf("pjm")

// printsJobs is pjstat: it prints the file of $ANSWERS that tells of its question, of jobs that have not ended, of the
// history or of resource groups, and exits with the code in the file with .exit behind it. Where it is not asked for
// names it prints the file with .plain behind it.
const printsJobs = `file=$ANSWERS/pjstat
case " $* " in *" -H "*) file=$ANSWERS/history;; *" --rsc "*) file=$ANSWERS/rsc;; esac
case "$*" in *jnam*) ;; *) [ ! -e "$file.plain" ] || file=$file.plain;; esac
[ -e "$file" ] || { echo "no answer to $*" >&2; exit 99; }
cat "$file"
[ ! -e "$file.err" ] || cat "$file.err" >&2
[ ! -e "$file.exit" ] || exit "$(cat "$file.exit")"`

// pjm is the programs of a PJM that knows what the files of $ANSWERS tell.
var pjm = map[string]string{"pjstat": printsJobs, "id": "echo user", "pjhold": `echo "[INFO] PJM 0300 pjhold Accepted job $1."`}

// The shell makes lines of what pjstat prints, which are what the definition reads in the case of the same folder.
func TestPJMMakesLinesOfWhatPjstatPrints(t *testing.T) {
	eachAnswered(t, pjmCases, func(t *testing.T, recorded *cases.Case, name string) (stdout, stderr string, exit int) {
		var arguments []string
		switch recorded.Command {
		case "get-job-status", "hold-job":
			arguments = []string{recorded.Job}
		case "list-jobs":
			arguments = []string{map[bool]string{true: "all", false: "own"}[name == "list-all"]}
		case "find-job":
			arguments = []string{tag, map[bool]string{true: "40000000", false: "100"}[name == "find-old"]}
		}
		return runReplacing(t, "pjm", recorded.Command, pjm, arguments...)
	})
}

// The history, which may be long, is asked for only where a job is not among those that have not ended.
func TestPJMAsksForTheHistoryOnlyWhereAJobIsNotThere(t *testing.T) {
	questions := filepath.Join(t.TempDir(), "questions")
	asks := func(answer string) (stdout, stderr string) {
		require.NoError(t, os.WriteFile(questions, nil, 0o600))
		stdout, stderr, _ = runReplacing(t, "pjm", "get-job-status", map[string]string{"id": "echo user", "pjstat": `echo "$*" >>"` + questions + `"; ` + answer}, "7[1]")
		return stdout, stderr
	}
	const fields = "jid,st,jmdl,ec,sn,pc,rscg,adt,sdt,edt,lhusr,nidlu,ermsg,std,stde,jnam"
	asked := func() string {
		content, err := os.ReadFile(questions)
		require.NoError(t, err)
		return string(content)
	}
	stdout, stderr := asks("echo H,JOB_ID,ST,a,b,c,d,e,f,g,h,i,j,k,l,m,n; echo ',7[1],RUN,BU,-,-,-,-,-,-,-,-,-,-,-,-,-'")
	require.Contains(t, stdout, "state\tRUN\tRUN\n", "%s", stderr)
	require.Equal(t, "-s -E --data --choose="+fields+" 7[1]\n", asked())
	for _, none := range []string{"exit 0", "echo '[ERR.] PJM 0212 pjstat Job 7[1] does not exist.' >&2; exit 1"} {
		stdout, stderr = asks(none)
		require.Empty(t, stdout)
		require.Equal(t, "no job 7[1] is known\n", stderr)
		require.Equal(t, "-s -E --data --choose="+fields+" 7[1]\n-H day=365 -s -E --data --choose="+fields+" 7[1]\n", asked())
	}
}

// The tag of a submission is added to the comment, whoever has set that, and the script arrives as it is.
func TestPJMSubmitsTheScriptWithItsTagBehindTheComment(t *testing.T) {
	for directive, comment := range map[string]string{
		"":                               "RMCTL_TAG=" + tag,
		`#PJM --comment "my job; $HOME"`: "my job; $HOME RMCTL_TAG=" + tag,
		`#PJM -j --comment 'it is' -S`:   "it is RMCTL_TAG=" + tag,
		`#PJM --comment=word -j`:         "word RMCTL_TAG=" + tag,
		`echo "#PJM --comment no"`:       "RMCTL_TAG=" + tag,
		"#PJM --comment a\n#PJM --comment \"last\"": "last RMCTL_TAG=" + tag,
	} {
		script := filepath.Join(t.TempDir(), "a script")
		require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"+directive+"\nexec true 'x y'\n"), 0o600))
		stdout, stderr, exit := runReplacing(t, "pjm", "submit-batch", map[string]string{"pjsub": `printf '%s|' "$@"; echo " submitted."`}, script, tag)
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "--comment|"+comment+"|"+script+"| submitted.\n", stdout)
	}
	_, stderr, exit := runReplacing(t, "pjm", "submit-batch", map[string]string{"pjsub": "echo submitted."}, "/no/such/script", tag)
	require.NotZero(t, exit)
	require.Contains(t, stderr, "/no/such/script")
}

// The K computer's pjsub ended with 0 when it had refused a job.
func TestPJMTakesARefusalForOneWhateverTheExitCode(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, nil, 0o600))
	for refuses, want := range map[string]int{
		"echo '[ERR.] PJM 0007 pjsub Staging option error (3).'":               1,
		"echo '[ERR.] PJM 0057 pjsub node=32 is greater than 24.' >&2; exit 9": 9,
		"echo 'hello'": 0, // nobody knows what became of the job
	} {
		stdout, stderr, exit := runReplacing(t, "pjm", "submit-batch", map[string]string{"pjsub": refuses}, script, tag)
		require.Equal(t, want, exit, refuses)
		require.Empty(t, stdout)
		require.NotEmpty(t, stderr)
	}
}

// What users can forge is asked for by name only where it belongs to this user.
func TestPJMAsksForNoNamesOfOthers(t *testing.T) {
	const says = `case "$*" in *-A*jnam*|*cmt*) exit 9;; esac; echo H,JOB_ID,ST,a,b,c,d,e,f,g,h$(case "$*" in *jnam*) echo ,i;; esac)`
	for _, scope := range []string{"own", "all"} {
		stdout, stderr, exit := runReplacing(t, "pjm", "list-jobs", map[string]string{"pjstat": says, "id": "echo user"}, scope)
		require.Zero(t, exit, "%s", stderr)
		require.Equal(t, "listed\n", stdout)
	}
}

// An id and a tag go into command lines: nothing else may pass for one.
func TestPJMRefusesWhatIsNoIDAndNoTag(t *testing.T) {
	never := map[string]string{"pjstat": "echo asked; exit 0"}
	for _, id := range []string{"", "-a", "0; date", "4711[*]", "12[1-3]", "a", "7 8"} {
		stdout, stderr, exit := runReplacing(t, "pjm", "get-job-status", never, id)
		require.Equal(t, 1, exit, id)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "no job ")
	}
	for _, wrong := range []string{"", "*", "a b"} {
		_, stderr, exit := runReplacing(t, "pjm", "find-job", never, wrong, "100")
		require.Equal(t, 1, exit)
		require.Contains(t, stderr, "is not the tag of a submission")
	}
}

// Of jobs that have ended a few days ago it is asked what was told of those days, and one more.
func TestPJMLooksForASubmissionAsFarBackAsItWasMade(t *testing.T) {
	says := map[string]string{"pjstat": `case "$*" in "-H day=3 "*) echo H,JOB_ID,ST,COMMENT; echo ",9,EXT,RMCTL_TAG=` + tag + `";; -H*) exit 9;; *) echo H,JOB_ID,ST,COMMENT;; esac`}
	stdout, stderr, exit := runReplacing(t, "pjm", "find-job", says, tag, "200000")
	require.Zero(t, exit, "%s", stderr)
	require.Equal(t, "found job 9, which is 9\n", stdout)
}

// What other projects know of PJM, read where it is: every state that they name has a meaning here.
func TestPJMKnowsWhatOtherProjectsRecorded(t *testing.T) {
	peers := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures-peers", "nextflow")
	if _, err := os.Stat(peers); err != nil {
		t.Skipf("no recorded outputs in %s; set RMCTL_SHARED", peers)
	}
	known := map[string]string{}
	for _, folder := range caseFolders(t, pjmCases) {
		if detail, native := expectedState(t, folder); detail != "" {
			known[native] = detail
		}
	}
	table, err := os.ReadFile(filepath.Join(peers, "tcs-1.stdout"))
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(peers, "tcs-1.expect.json"))
	require.NoError(t, err)
	var expected map[string]string
	require.NoError(t, json.Unmarshal(content, &expected))
	require.NotEmpty(t, expected)
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) == 4 {
			word := map[string][]string{
				"PENDING": {"QUEUED_ACTIVE", "SUBMITTED"}, "RUNNING": {"RUNNING", "QUEUED_ACTIVE"}, // RNA gets its nodes
				"DONE": {"COMPLETED", "FAILED", "CANCELED"}, "HOLD": {"USER_ON_HOLD", "SYSTEM_ON_HOLD"}, "ERROR": {"SYSTEM_ON_HOLD"},
			}[expected[fields[0]]]
			require.Contains(t, word, known[fields[3]], line)
		}
	}
}

func TestPJMEveryAttributeMakesItsDirective(t *testing.T) {
	definition := shippedDefinition(t, "pjm")
	covered := map[string]bool{"shell": true, "launcher": true}
	for pair, directive := range map[string]string{
		"job-name=a.b-c": `-N "a.b-c"`, "queue=large-2.x": `-L "rscgrp=large-2.x"`, "resource-unit=rscunit_ft01": `-L "rscunit=rscunit_ft01"`,
		"nodes=2x3x2:torus": `-L "node=2x3x2:torus"`, "vnodes=2": `-L "vnode=2"`, "vnode-cores=8": `-L "vnode-core=8"`, "gpu=1": `-L "gpu=1"`,
		"elapse=0:30:00-2:00:00": `-L "elapse=0:30:00-2:00:00"`, "node-memory=28Gi": `-L "node-mem=28Gi"`, "vnode-memory=64Gi": `-L "vnode-mem=64Gi"`,
		"frequency=2200": `-L "freq=2200"`, "resources=eco_state=2,jobenv=singularity": `-L "eco_state=2,jobenv=singularity"`,
		"mpi-processes=48": `--mpi "proc=48"`, "mpi-per-node=4": `--mpi "max-proc-per-node=4"`, "mpi-options=shape=2x2,rank-map-bynode": `--mpi "shape=2x2,rank-map-bynode"`,
		"group=hp120001": `-g "hp120001"`, "array=0-9": `--bulk --sparam "0-9"`, "step=true": `--step`, "step-parameters=jid=64856,sd=ec!=0:all": `--sparam "jid=64856,sd=ec!=0:all"`,
		"begin=202701101830": `--at "202701101830"`, "priority=100": `-p 100`, "restart=norestart": `--norestart`, "comment=my job": `--comment "my job"`,
		"output=o.%j": `-o "o.%j"`, "error=e": `-e "e"`, "join=true": `-j`, "statistics=S": `-S`, "statistics-file=s.%j": `--spath "s.%j"`,
		"mail-events=b,e": `-m b,e`, "mail-user=ada@example.org": `--mail-list "ada@example.org"`, "environment=A=1,B": `-x "A=1,B"`, "whole-environment=true": `-X`,
		"no-check-directory=true": `--no-check-directory`, "pjsub-options=--llio localtmp-size=10Gi": `--llio localtmp-size=10Gi`,
	} {
		name, value, _ := strings.Cut(pair, "=")
		covered[name] = true
		script, err := renderGridEngine(t, definition, name, value)
		require.NoError(t, err, pair)
		require.Contains(t, strings.Split(script, "\n"), "#PJM "+directive, pair)
	}
	for _, defined := range definition.Attributes {
		require.True(t, covered[defined.Name()] || !defined.Visible(), "attribute %s", defined.Name())
	}
	script, err := renderGridEngine(t, definition, "join", "false", "shell", "/bin/bash -l", "launcher", "mpiexec -n 4")
	require.NoError(t, err)
	require.Equal(t, "#!/bin/bash -l\n#PJM -N \"true\"\nexec mpiexec -n 4 true\n", script)
}

// A value stands in a directive as it is: none may end the quotes around it, or the line.
func TestPJMRefusesValuesThatItsDirectivesCannotHold(t *testing.T) {
	definition := shippedDefinition(t, "pjm")
	refuses(t, definition, "pjsub-options")
	for name, value := range map[string]string{
		"job-name": "a b", "nodes": "2 -q", "output": "a b", "array": "1,5", "node-memory": "much", "elapse": "tomorrow", "begin": "2027",
		"pjsub-options": "rm -rf", "restart": "yes", "step-parameters": "a b", "mail-events": "be", "environment": "1=2", "launcher": "a; b",
	} {
		_, err := renderGridEngine(t, definition, name, value)
		require.Error(t, err, "%s=%q", name, value)
	}
}

// refuses demands of all attributes of a definition, but for some, that they take no text that could end a directive.
func refuses(t *testing.T, definition *config.Definition, except ...string) {
	t.Helper()
	excepted := map[string]bool{}
	for _, name := range except {
		excepted[name] = true
	}
	for _, defined := range definition.Attributes {
		if !defined.Visible() || excepted[defined.Name()] {
			continue
		}
		for _, value := range []string{"x\nrm -rf /", `a"b`, "a'b", "a`b`", "$(date)", `a\b`} {
			_, err := renderGridEngine(t, definition, defined.Name(), value)
			require.Error(t, err, "%s=%q", defined.Name(), value)
		}
	}
}
