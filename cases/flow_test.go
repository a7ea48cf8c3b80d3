package cases_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/internal/coverage"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/tokenizer"
)

// site is a definition that submits with "sub FILE" and asks with "ask ID".
const site = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site"><control-data>
	<attribute name="size"><default>1</default><validator><regex>\d+</regex></validator></attribute>
	<attribute name="job.exitCode" visible="false"/>
	<script><line><arg>size=${ptp_rm:size#value}</arg></line></script>
	<submit-batch name="sub" waitForId="true"><arg>sub ${ptp_rm:managed_file_for_script#value} ${ptp_rm:control.user.name#value}</arg><stdout-parser delim="\n">
		<target ref="@jobId"><match><expression>job (\d+)</expression><set field="name"><entry valueGroup="1"/></set><set field="value"><entry value="SUBMITTED"/></set></match></target>
	</stdout-parser></submit-batch>
	<get-job-status name="ask"><arg>ask ${ptp_rm:@jobId#name}</arg><stdout-parser delim="\n">
		<target ref="@jobId">
			<match><expression>runs</expression><set field="value"><entry value="RUNNING"/></set></match>
			<match><expression>done</expression><set field="value"><entry value="COMPLETED"/></set></match>
		</target>
	</stdout-parser></get-job-status>
	<terminate-job name="end"><arg>end ${ptp_rm:@jobId#name}</arg></terminate-job>
	<x:outcome kind="not-found" exit="44"/>
</control-data></resource-manager-builder>`

// toItsEnd is a flow that passes.
var toItsEnd = map[string]string{
	"site.xml": site,
	"flow.toml": `definition = "./site.xml"
[[steps]]
do = "submit"
set = ["size=3"]
expect = {id = "7", state = "SUBMITTED"}
[[steps]]
do = "status"
expect = {id = "7", detail = "RUNNING"}
[[steps]]
do = "cancel"
[[steps]]
do = "wait"
expect = {id = "7", state = "COMPLETED"}
`,
	"01-sub/case.toml": "argv = ['sub', '/home/user/.eclipsesettings/{script}', 'user']\nexit = 0\n", "01-sub/stdout": "job 7\n",
	"02-ask/case.toml": "argv = ['ask', '7']\nexit = 0\n", "02-ask/stdout": "runs\n",
	"03-end/case.toml": "argv = ['end', '7']\nexit = 0\n",
	"04-ask/case.toml": "argv = ['ask', '7']\nexit = 0\n", "04-ask/stdout": "runs\n",
	"05-ask/case.toml": "argv = ['ask', '7']\nexit = 0\n", "05-ask/stdout.gz": "",
}

func flowWith(t testing.TB, changes map[string]string) string {
	files := maps.Clone(toItsEnd)
	files["05-ask/stdout.gz"] = packed(t, "done\n")
	return write(t, t.TempDir(), files, changes)
}

func TestAFlowPassesWhenEveryStepLeavesWhatItExpects(t *testing.T) {
	result := run(t, flowWith(t, nil))
	require.NoError(t, result.Err)
	require.Empty(t, result.Differences)
	require.Equal(t, cases.Passed, result.Verdict)
}

func TestAFlowFailsWithTheStepThatWentWrong(t *testing.T) {
	for name, test := range map[string]struct {
		changes     map[string]string
		differences []cases.Difference
	}{
		"another id": {map[string]string{"01-sub/stdout": "job 8\n"}, []cases.Difference{
			{Where: "step 1 (submit): id", Expected: "7", Actual: "8"},
		}},
		"another state": {map[string]string{"02-ask/stdout": "done\n"}, []cases.Difference{
			{Where: "step 2 (status): detail", Expected: "RUNNING", Actual: "COMPLETED"},
			{Where: "step 3 (cancel): error", Actual: `job 7 cannot be canceled: it has ended (COMPLETED)`},
			{Where: "03-end: a recorded command that was not run", Expected: []string{"end", "7"}},
		}},
		"a command that nobody recorded": {map[string]string{"03-end/case.toml": "argv = ['finish', '7']\nexit = 0\n"}, []cases.Difference{
			{Where: "step 3 (cancel): a command that was not recorded", Expected: []string{"finish", "7"}, Actual: []string{"end", "7"}},
			{Where: "03-end: a recorded command that was not run", Expected: []string{"finish", "7"}},
		}},
		"a recording too few": {map[string]string{"05-ask/case.toml": "argv = ['other']\nexit = 0\n"}, []cases.Difference{
			{Where: "step 4 (wait): state", Expected: "COMPLETED", Actual: "RUNNING"},
			{Where: "step 4 (wait): a command that was not recorded", Expected: []string{"other"}, Actual: []string{"ask", "7"}},
		}},
		"a forgotten job": {map[string]string{"02-ask/case.toml": "argv = ['ask', '7']\nexit = 44\n", "02-ask/stdout": ""}, []cases.Difference{
			{Where: "step 2 (status): missing", Expected: false, Actual: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			result := run(t, flowWith(t, test.changes))
			require.Equal(t, cases.Differing, result.Verdict, "%v", result.Err)
			for _, difference := range test.differences {
				require.Contains(t, result.Differences, difference)
			}
		})
	}
}

func TestAnErrorOfAStepMayBeExpected(t *testing.T) {
	flow := `definition = "./site.xml"
[[steps]]
do = "submit"
set = ["size=big"]
expect = {error = 'size'}
[[steps]]
do = "wait"
expect = {error = 'no job yet'}
[[steps]]
do = "hold"
job = "7"
expect = {error = 'no hold-job command'}
[[steps]]
do = "status"
job = "7"
expect = {error = 'exited with code 3'}
`
	folder := write(t, t.TempDir(), map[string]string{
		"site.xml": site, "flow.toml": flow, "01-ask/case.toml": "argv = ['ask', '7']\nexit = 3\n",
	}, nil)
	result := run(t, folder)
	require.NoError(t, result.Err)
	require.Empty(t, result.Differences)
}

func TestTimePassesInFlowsWithoutBeingWaitedFor(t *testing.T) {
	startUp := `<control-data><start-up-command name="begin"><arg>begin</arg></start-up-command>`
	flow := `definition = "./site.xml"
[[steps]]
do = "submit"
[[steps]]
do = "submit"
after = "59s"
[[steps]]
do = "submit"
after = "59m"
`
	folder := write(t, t.TempDir(), map[string]string{
		"site.xml":  strings.Replace(site, "<control-data>", startUp, 1),
		"flow.toml": flow,
	}, nil)
	for _, name := range []string{"01", "05"} {
		write(t, filepath.Join(folder, name), map[string]string{"case.toml": "argv = ['begin']\nexit = 0\n"}, nil)
	}
	for _, name := range []string{"02", "03", "06"} {
		write(t, filepath.Join(folder, name), map[string]string{"case.toml": "argv = ['sub', '{script}', '{user}']\nexit = 0\n", "stdout": "job 1" + name + "\n"}, nil)
	}
	result := run(t, folder)
	require.NoError(t, result.Err)
	require.Empty(t, result.Differences, "the session is started again when it is old, and not before")
}

func TestUpdateFillsInWhatStepsLeave(t *testing.T) {
	folder := flowWith(t, map[string]string{"flow.toml": `definition = "./site.xml"
[[steps]]
do = "submit"
[[steps]]
do = "status"
expect = {id = "1"}
[[steps]]
do = "cancel"
[[steps]]
do = "wait"
`})
	updating := &cases.Runner{Update: true}
	require.Equal(t, cases.Updated, updating.RunFolder(t.Context(), folder).Verdict)
	flow, err := cases.ReadFlow(folder)
	require.NoError(t, err)
	require.Equal(t, cases.Expect{ID: "7", State: "SUBMITTED", Detail: "SUBMITTED"}, flow.Steps[0].Expect)
	require.Equal(t, cases.Expect{ID: "7", State: "RUNNING", Detail: "RUNNING"}, flow.Steps[1].Expect)
	require.Equal(t, cases.Expect{}, flow.Steps[2].Expect)
	require.Equal(t, cases.Expect{ID: "7", State: "COMPLETED", Detail: "CANCELED"}, flow.Steps[3].Expect)
	require.Equal(t, cases.Passed, updating.RunFolder(t.Context(), folder).Verdict)

	require.NoError(t, os.RemoveAll(filepath.Join(folder, "03-end")))
	require.Equal(t, cases.Differing, updating.RunFolder(t.Context(), folder).Verdict, "no expectation mends that")
}

func TestAFlowComesBackAsItWasWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	exit := 3
	written := &cases.Flow{
		Folder: folder, Description: "a flow", Definition: "slurm", Place: cases.Place{User: "me", Home: "/home/me"},
		Steps: []cases.Step{
			{Do: "submit", Submission: job.Submission{
				Executable: "./a b", Arguments: []string{"x"}, Directory: "/tmp", Tag: "t", Values: []job.Assignment{{Name: "a", Value: "b"}},
				Environment: job.Environment{Variables: []job.Variable{{Name: "A", Value: "b"}}},
			}},
			{Do: "wait", Until: "RUNNING", After: 90e9, Expect: cases.Expect{Exit: &exit, Error: "'\""}},
		},
		Commands: []*cases.Case{{Folder: filepath.Join(folder, "01-sbatch"), Arguments: []string{"sbatch", "{script}"}, Stdout: []byte("1\n")}},
	}
	require.NoError(t, cases.WriteFlow(written))
	read, err := cases.ReadFlow(folder)
	require.NoError(t, err)
	require.Equal(t, written, read)
}

func TestAStepMaySayInTablesWhatItSubmits(t *testing.T) {
	listed, err := cases.ReadFlow(write(t, t.TempDir(), map[string]string{"flow.toml": "[[steps]]\ndo = 'submit'\nset = ['a=1', 'b=x']\nenvironment = ['A=b']"}, nil))
	require.NoError(t, err)
	tables, err := cases.ReadFlow(write(t, t.TempDir(), map[string]string{"flow.toml": "[[steps]]\ndo = 'submit'\n[steps.attributes]\na = 1\nb = 'x'\n[steps.environment]\nA = 'b'"}, nil))
	require.NoError(t, err)
	require.Equal(t, listed.Steps, tables.Steps)
}

func TestAFlowThatCannotBeReadIsNamedWithItsPath(t *testing.T) {
	for name, test := range map[string]struct {
		changes map[string]string
		file    string
		says    string
	}{
		"no steps":           {map[string]string{"flow.toml": "definition = './site.xml'"}, "flow.toml", "no steps"},
		"an unknown deed":    {map[string]string{"flow.toml": "[[steps]]\ndo = 'sumbit'"}, "flow.toml", `step 1: unknown do "sumbit"`},
		"an unknown setting": {map[string]string{"flow.toml": "[[steps]]\ndo = 'submit'\nexpect = {ids = '1'}"}, "flow.toml", "line 3"},
		"an unknown key": {map[string]string{"flow.toml": "[[steps]]\ndo = 'submit'\nexeutable = 'x'"}, "flow.toml", `line 3, column 1: unknown setting "exeutable"
did you mean "executable"?`},
		"a value of no name":    {map[string]string{"flow.toml": "[[steps]]\ndo = 'submit'\nset = ['a']"}, "flow.toml", `line 3, column 8: "a": write name=value`},
		"a key of no step":      {map[string]string{"flow.toml": "colour = 'x'\n[[steps]]\ndo = 'submit'"}, "flow.toml", `line 1, column 1: unknown setting ["colour"]`},
		"a wrong duration":      {map[string]string{"flow.toml": "[[steps]]\ndo = 'submit'\nafter = '1 week'"}, "flow.toml", "line 3"},
		"a negative duration":   {map[string]string{"flow.toml": "[[steps]]\ndo = 'submit'\nafter = '-1s'"}, "flow.toml", "negative"},
		"an unknown definition": {map[string]string{"flow.toml": "definition = 'sulrm'\n[[steps]]\ndo = 'submit'"}, "flow.toml", "sulrm"},
		"no description":        {map[string]string{"02-ask/case.toml": ""}, "02-ask/case.toml", "no such file"},
		"no command line":       {map[string]string{"02-ask/case.toml": "exit = 0"}, "02-ask/case.toml", "argv"},
		"an unreadable output":  {map[string]string{"05-ask/stdout.gz": "plain"}, "05-ask/stdout.gz", "unpacking"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := flowWith(t, test.changes)
			result := run(t, folder)
			require.Equal(t, cases.Broken, result.Verdict)
			require.ErrorContains(t, result.Err, filepath.Join(folder, test.file)+": ")
			require.ErrorContains(t, result.Err, test.says)
		})
	}
}

func TestAFlowCountsForCoverageAndTraces(t *testing.T) {
	folder := flowWith(t, nil)
	var read []string
	runner := &cases.Runner{Trace: func(reading cases.Reading, event tokenizer.TraceEvent) {
		if match := event; match.Kind == "match" {
			read = append(read, filepath.Base(reading.Folder)+" "+string(match.Text))
		}
	}}
	var coverages coverage.Counter
	coverages.Watch(runner)
	require.Equal(t, cases.Passed, runner.RunFolder(t.Context(), folder).Verdict)
	require.Equal(t, []string{"01-sub job 7", "02-ask runs", "04-ask runs", "05-ask done"}, read)
	reports := coverages.Reports()
	require.Len(t, reports, 1)
	require.Equal(t, "site", reports[0].Definition)
	require.Empty(t, reports[0].Missed)
}

// listing is a definition that lists queues and nodes.
var listing = strings.Replace(site, "</control-data>", `</control-data><monitor-data>
	<x:list-queues name="queues"><arg>queues</arg><stdout-parser delim="\n">
		<target><match><expression>(\w+) (\w+) (.*)</expression><set field="name"><entry valueGroup="1"/></set>
			<put field="value"><entry key="state" valueGroup="2"/><entry key="reason" valueGroup="3"/></put></match></target>
	</stdout-parser></x:list-queues>
	<x:list-nodes name="nodes"><arg>nodes</arg><stdout-parser delim="\n">
		<target><match><expression>(\w+) (\w+)</expression><set field="name"><entry valueGroup="1"/></set>
			<put field="value"><entry key="state" valueGroup="2"/></put></match></target>
	</stdout-parser></x:list-nodes>
</monitor-data>`, 1)

func TestAFlowListsQueuesAndNodes(t *testing.T) {
	files := map[string]string{
		"site.xml": listing,
		"flow.toml": `definition = "./site.xml"
[[steps]]
do = "queues"
expect = {rows = {night = {state = "DRAINING", reason = "moving out"}, day = {state = "NORMAL"}}}
[[steps]]
do = "nodes"
expect = {rows = {n1 = {}, n2 = {state = "DOWN"}}}
[[steps]]
do = "queues"
expect = {error = "exited with code 1"}
`,
		"01-queues/case.toml": "argv = ['queues']\nexit = 0\n", "01-queues/stdout": "day NORMAL \nnight DRAINING moving out\n",
		"02-nodes/case.toml": "argv = ['nodes']\nexit = 0\n", "02-nodes/stdout": "n1 UP\nn2 DOWN\n",
		"03-queues/case.toml": "argv = ['queues']\nexit = 1\n",
	}
	result := run(t, write(t, t.TempDir(), files, nil))
	require.NoError(t, result.Err)
	require.Empty(t, result.Differences)

	for name, test := range map[string]struct {
		file, text string
		difference cases.Difference
	}{
		"another entry":     {"02-nodes/stdout", "n1 UP\nn2 UP\n", cases.Difference{Where: "step 2 (nodes): rows.n2.state", Expected: "DOWN", Actual: "UP"}},
		"an entry too few":  {"01-queues/stdout", "day NORMAL \nnight DRAINING \n", cases.Difference{Where: "step 1 (queues): rows.night.reason", Expected: "moving out"}},
		"a row too few":     {"02-nodes/stdout", "n2 DOWN\n", cases.Difference{Where: "step 2 (nodes): rows.n1", Expected: map[string]string{}}},
		"a row too many":    {"02-nodes/stdout", "n1 UP\nn2 DOWN\nn3 UP\n", cases.Difference{Where: "step 2 (nodes): rows.n3", Actual: map[string]string{"state": "UP"}}},
		"no error any more": {"03-queues/case.toml", "argv = ['queues']\nexit = 0\n", cases.Difference{Where: "step 3 (queues): error", Expected: "exited with code 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			result := run(t, write(t, t.TempDir(), files, map[string]string{test.file: test.text}))
			require.Equal(t, []cases.Difference{test.difference}, result.Differences)
		})
	}

	files["flow.toml"] = "definition = './site.xml'\n[[steps]]\ndo = 'queues'\n[[steps]]\ndo = 'nodes'\n[[steps]]\ndo = 'queues'\nexpect = {error = 'code'}\n"
	folder := write(t, t.TempDir(), files, nil)
	require.Equal(t, cases.Updated, (&cases.Runner{Update: true}).RunFolder(t.Context(), folder).Verdict)
	flow, err := cases.ReadFlow(folder)
	require.NoError(t, err)
	require.Equal(t, map[string]map[string]string{"day": {"state": "NORMAL"}, "night": {"state": "DRAINING", "reason": "moving out"}}, flow.Steps[0].Expect.Rows)
	require.Equal(t, map[string]map[string]string{"n1": {"state": "UP"}, "n2": {"state": "DOWN"}}, flow.Steps[1].Expect.Rows)
}

func TestQueuesOfAFlowAreThoseOfTheSessionWhereNoCommandListsThem(t *testing.T) {
	flow := "definition = './site.xml'\n[[steps]]\ndo = 'queues'\nexpect = {rows = {day = {}, night = {}}}\n[[steps]]\ndo = 'nodes'\nexpect = {error = 'x:list-nodes'}\n"
	folder := write(t, t.TempDir(), map[string]string{
		"site.xml": strings.Replace(site, "<control-data>", `<control-data><attribute name="queues"/>
			<start-up-command name="queues"><arg>queues</arg><stdout-parser delim="\n">
				<target ref="queues"><match><expression>(\w+)</expression><add field="value"><entry valueGroup="1"/></add></match></target>
			</stdout-parser></start-up-command>`, 1),
		"flow.toml": flow, "01-queues/case.toml": "argv = ['queues']\nexit = 0\n", "01-queues/stdout": "night\nday\n",
	}, nil)
	result := run(t, folder)
	require.NoError(t, result.Err)
	require.Empty(t, result.Differences)
}

func TestAFlowRunsInteractiveJobs(t *testing.T) {
	files := map[string]string{
		"site.xml": strings.NewReplacer(`<submit-batch name="sub" waitForId="true">`, `<submit-interactive name="sub">`, "</submit-batch>", "</submit-interactive>",
			`<set field="value"><entry value="SUBMITTED"/></set>`, `<set field="value"><entry value="RUNNING"/></set>`).Replace(site),
		"flow.toml": `definition = "./site.xml"
[[steps]]
do = "run"
executable = "hostname"
expect = {id = "7", state = "COMPLETED", exit = 3, states = ["RUNNING"], shown = "node1"}
[[steps]]
do = "run"
set = ["size=big"]
expect = {error = "size"}
[[steps]]
do = "status"
job = "8"
expect = {detail = "RUNNING"}
`,
		"01-sub/case.toml": "argv = ['sub', '/home/user/.eclipsesettings/{script}', 'user']\nexit = 3\n", "01-sub/stdout": "job 7\nnode1\n",
		"02-ask/case.toml": "argv = ['ask', '8']\nexit = 0\n", "02-ask/stdout": "runs\n",
	}
	result := run(t, write(t, t.TempDir(), files, nil))
	require.NoError(t, result.Err)
	require.Empty(t, result.Differences)

	result = run(t, write(t, t.TempDir(), files, map[string]string{"01-sub/stdout": "node2\n"}))
	require.NoError(t, result.Err)
	require.Contains(t, result.Differences, cases.Difference{Where: "step 1 (run): shown", Expected: "node1", Actual: "node2\n"})
	result = run(t, write(t, t.TempDir(), files, map[string]string{"flow.toml": strings.Replace(files["flow.toml"], `["RUNNING"]`, `["SUBMITTED", "RUNNING"]`, 1)}))
	require.Equal(t, []cases.Difference{{Where: "step 1 (run): states", Expected: []job.Detail{"SUBMITTED", "RUNNING"}, Actual: []job.Detail{"RUNNING"}}}, result.Differences)

	files["flow.toml"] = "definition = './site.xml'\n[[steps]]\ndo = 'run'\nexpect = {id = '1', shown = 'node'}\n"
	delete(files, "02-ask/case.toml")
	delete(files, "02-ask/stdout")
	folder := write(t, t.TempDir(), files, nil)
	require.Equal(t, cases.Updated, (&cases.Runner{Update: true}).RunFolder(t.Context(), folder).Verdict)
	flow, err := cases.ReadFlow(folder)
	require.NoError(t, err)
	expect := flow.Steps[0].Expect
	require.Equal(t, 3, *expect.Exit)
	require.Equal(t, []job.Detail{"RUNNING"}, expect.States)
	require.Equal(t, "node", expect.Shown)
	require.Equal(t, "7", expect.ID)
}
