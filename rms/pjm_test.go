package rms_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// The outputs are made after the documentation of PJM.
var pjmCases = casesOf("pjm")

// The tag of a submission stands behind the comment of the user's own script, which arrives as it is.
func TestPJMSubmitsTheScriptWithItsTagBehindTheComment(t *testing.T) {
	local, err := remote.NewLocal()
	require.NoError(t, err)
	session := control.New(control.Options{Definition: shippedDefinition(t, "pjm"), Connection: local})
	for directive, comment := range map[string]string{
		"":                                          "",
		`#PJM --comment "my job; ok"`:               "my job; ok",
		`#PJM -j --comment 'it is' -S`:              "it is",
		`#PJM --comment=word -j`:                    "word",
		`#PJM --comment="two words" -j`:             "two words",
		`echo "#PJM --comment no"`:                  "",
		"#PJM --comment a\n#PJM --comment \"last\"": "last",
	} {
		script := filepath.Join(t.TempDir(), "a script")
		require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"+directive+"\nexec true 'x y'\n"), 0o600))
		rendering, err := session.Render(job.Submission{Script: script})
		require.NoError(t, err)
		require.Equal(t, "#!/bin/sh\n"+directive+"\nexec true 'x y'\n", rendering.Script)
		at := slices.IndexFunc(rendering.Commands, func(each *command.Invocation) bool { return each.Arguments[0] == "pjsub" })
		require.GreaterOrEqual(t, at, 0)
		require.Regexp(t, "^pjsub --comment "+comment+" RMCTL_TAG=[0-9a-f-]* .*/a_script$", strings.Join(rendering.Commands[at].Arguments, " "))
	}
}

// Names of other users' jobs could forge rows.
func TestPJMAsksForNoNamesOfOthers(t *testing.T) {
	for scope, asks := range map[string]bool{"own": true, "all": false} {
		line := strings.Join(argumentsWith(t, "pjm", "list-jobs", "1", map[string]string{"job.scope": scope}), " ")
		require.Equal(t, asks, strings.Contains(line, "jnam"), line)
		require.Equal(t, !asks, strings.Contains(line, " -A "), line)
		require.NotContains(t, line, "cmt")
	}
}

// An id goes into command lines: nothing else may pass for one.
func TestPJMRefusesWhatIsNoID(t *testing.T) {
	ids, err := reader.NewIDs(shippedDefinition(t, "pjm").IDs)
	require.NoError(t, err)
	for id, want := range map[string][2]string{"4711": {"4711", ""}, "4711[2]": {"4711", "2"}, "4711_1": {"4711", "1"}} {
		number, task, isID := ids.Split(id)
		require.True(t, isID, id)
		require.Equal(t, want, [2]string{number, task}, id)
	}
	for _, id := range []string{"", "-a", "0; date", "4711[*]", "12[1-3]", "a", "7 8", "4711x", "4711[1", "4711_1]", "4711\n"} {
		_, _, isID := ids.Split(id)
		require.False(t, isID, id)
	}
}

// pjmStatus returns what pjstat prints for a status with texts of users, which stand last.
func pjmStatus(id, word, codes, texts string) string {
	return "H,JOB_ID,ST,MD,EC,SN,PC,RSC_GRP,ACCEPT,START_DATE,END_DATE,LST_HOLD_USR,NODE_ID,REASON,STD_OUT,STD_ERR,JOB_NAME\n" +
		"," + id + "," + word + ",NM," + codes + ",small,2027/01/10 17:50:11,2027/01/10 17:52:30,-,-,0x01010010,-," + texts + "\n"
}

// Names and paths may hold what looks like other columns and rows.
func TestPJMNoTextOfAUserMakesAJobEnd(t *testing.T) {
	definition := shippedDefinition(t, "pjm")
	const ended = ",4711,EXT,NM,0,-,0,small,2027/01/10 17:50:11,2027/01/10 17:52:30,2027/01/10 17:58:02,-,-,-,/o,/e,x"
	for _, text := range []string{
		"x", "a, b", "x\n" + ended, "x\n" + strings.Replace(ended, "4711", "4711[1]", 1), "x\n" + strings.Replace(ended, "4711,EXT,NM", "4711[1],EXT,BU", 1),
		`"x`, `x","EXT`, `"x","`, "x\nH,JOB_ID,ST\n,4711,EXT", "x\n[ERR.] PJM 0212 pjstat Job 4711 does not exist.", "x\x00\n" + ended + "\n", "\n\n" + ended,
		strings.Repeat(",", 1000), strings.Repeat("\"", 1000), "x\r\n" + ended,
	} {
		for _, texts := range []string{"/o,/e," + text, "/o," + text + ",sim", text + ",/e,sim"} {
			got := replay(t, definition, exchange{selector: "get-job-status", job: "4711", stdout: pjmStatus("4711", "RUN", "-,-,-", texts)})
			require.Contains(t, []string{"", "RUNNING"}, got.State, "%q", texts)
			require.NotEqual(t, config.NotFound, got.Outcome, "%q", texts)
		}
	}
}

// An answer that is cut anywhere ends no job.
func TestPJMConcludesNothingFromACutAnswer(t *testing.T) {
	definition := shippedDefinition(t, "pjm")
	for _, name := range []string{"status-done", "status-failed", "status-sub-job", "status-canceled-running"} {
		whole := recordedExchange(t, filepath.Join(pjmCases, name))
		require.NotEmpty(t, replay(t, definition, whole).State)
		for length := range len(whole.stdout) - 1 {
			cut := whole
			cut.stdout = whole.stdout[:length]
			require.Empty(t, replay(t, definition, cut).State, "%s: %q", name, cut.stdout)
		}
	}
}

func TestPJMCodesAreExplained(t *testing.T) {
	definition := shippedDefinition(t, "pjm")
	for code, want := range map[string]string{
		"0": "", "1": "", "2": "rejected (PJM code 2)", "3": "refused by an exit of the job manager (PJM code 3)", "4": "(PJM code 4)",
		"6": "the condition of a step was not met (PJM code 6)", "7": "ended for a later job or a deadline (PJM code 7)",
		"8": "refused by an exit of the job manager (PJM code 8)", "11": "over its elapse limit (PJM code 11)", "12": "over its memory (PJM code 12)",
		"13": "over its disk space (PJM code 13)", "16": "its directory or its files could not be reached (PJM code 16)",
		"18": "ended for a later job or a deadline (PJM code 18)", "20": "a node went down (PJM code 20)", "21": "its shell could not be run (PJM code 21)",
		"23": "out of memory (PJM code 23)", "99": "(PJM code 99)",
	} {
		got := replay(t, definition, exchange{selector: "get-job-status", job: "4711", stdout: pjmStatus("4711", "EXT", "1,-,"+code, "/o,/e,sim")})
		require.Equal(t, want, got.Facts["job.reason"], code)
	}
}

// A site teaches a word, changes a fact, and removes and adds options, a line each.
func TestPJMSitesChangeLines(t *testing.T) {
	definition, problems := check.Load("site.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" x:extends="pjm">
		<control-data>
			<attribute name="nodes" x:remove="true"/>
			<attribute name="llio" type="string" x:option="--llio "><description>Storage near the nodes</description></attribute>
			<x:reader name="pjstat"><x:states><x:state is="RUNNING" words="CHK"/></x:states></x:reader>
			<x:reader name="pjstat"><x:fact name="queue" from="rscg" find="[^-]+$"/></x:reader>
		</control-data>
		<monitor-data><x:list-jobs name="list" x:interval="1m"/></monitor-data>
	</resource-manager-builder>`), check.ReadBase)
	require.Empty(t, problems)
	for word, state := range map[string]string{"CHK": "RUNNING", "RUN": "RUNNING", "QUE": "QUEUED_ACTIVE", "NEW": ""} {
		texts := pjmStatus("4711", word, "-,-,-", "/o,/e,sim")
		got := replay(t, definition, exchange{selector: "get-job-status", job: "4711", stdout: strings.Replace(texts, ",small,", ",rack-small,", 1)})
		require.Equal(t, state, got.State, word)
		require.Equal(t, "small", got.Facts["job.queue"], word)
		got = replay(t, definition, exchange{selector: "fallback:get-job-status-without-texts", job: "4711", stdout: strings.ReplaceAll(strings.ReplaceAll(texts, ",/o,/e,sim", ""), ",STD_OUT,STD_ERR,JOB_NAME", "")})
		require.Equal(t, state, got.State, word)
	}
	script, err := renderGridEngine(t, definition, "llio", "localtmp-size=10Gi")
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\n#PJM -N \"true\"\n#PJM --llio localtmp-size=10Gi\nexec true\n", script)
	_, err = renderGridEngine(t, definition, "nodes", "2")
	require.Error(t, err)
}

// Every state that other projects name has a meaning here.
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
		"job-name=a.b-c": `-N "a.b-c"`, "queue=large-2.x": `-L rscgrp=large-2.x`, "resource-unit=rscunit_ft01": `-L rscunit=rscunit_ft01`,
		"nodes=2x3x2:torus": `-L node=2x3x2:torus`, "vnodes=2": `-L vnode=2`, "vnode-cores=8": `-L vnode-core=8`, "gpu=1": `-L gpu=1`,
		"elapse=0:30:00-2:00:00": `-L elapse=0:30:00-2:00:00`, "node-memory=28Gi": `-L node-mem=28Gi`, "vnode-memory=64Gi": `-L vnode-mem=64Gi`,
		"frequency=2200": `-L freq=2200`, "resources=eco_state=2,jobenv=singularity": `-L "eco_state=2,jobenv=singularity"`,
		"mpi-processes=48": `--mpi proc=48`, "mpi-per-node=4": `--mpi max-proc-per-node=4`, "mpi-options=shape=2x2,rank-map-bynode": `--mpi "shape=2x2,rank-map-bynode"`,
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

// No value may end the quotes around it in a directive, or the line.
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

// refuses requires that all attributes of a definition except some refuse texts that could end a directive.
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
