package cases_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/tokenizer"
)

func TestADifferenceHasItsPlace(t *testing.T) {
	folder := writePassing(t, t.TempDir(), nil)
	require.Equal(t, cases.Passed, run(t, folder).Verdict)
	write(t, folder, map[string]string{"stdout": recordOf("RUNNING", "None", "n1")}, nil)
	result := run(t, folder)
	require.Equal(t, cases.Differing, result.Verdict)
	require.Contains(t, result.Differences, cases.Difference{Where: "job.detail", Expected: "QUEUED_ACTIVE", Actual: "RUNNING"})
	require.Contains(t, result.Differences, cases.Difference{Where: `attributes["job.nodes"]`, Actual: "n1"})
}

func TestACommandLineThatTheDefinitionNoLongerRunsIsADifference(t *testing.T) {
	folder := writePassing(t, t.TempDir(), map[string]string{
		"case.toml": "definition = 'slurm'\ncommand = 'get-job-status'\njob = '7'\nargv = ['scontrol', 'show', 'job', '7']\nexit = 1\n",
	})
	require.Equal(t, cases.Passed, run(t, folder).Verdict)
	write(t, folder, map[string]string{
		"case.toml": "definition = 'slurm'\ncommand = 'get-job-status'\njob = '7'\nargv = ['scontrol', 'show', 'job', '8']\nexit = 1\n",
	}, nil)
	require.Equal(t, []cases.Difference{
		{Where: "argv", Expected: []string{"scontrol", "show", "job", "8"}, Actual: []string{"scontrol", "show", "job", "7"}},
	}, run(t, folder).Differences)
	require.Equal(t, cases.Updated, (&cases.Runner{Update: true}).RunFolder(t.Context(), folder).Verdict)
	require.Equal(t, cases.Passed, run(t, folder).Verdict)
}

func TestUpdateWritesWhatCameOutAndNothingElse(t *testing.T) {
	folder := writePassing(t, t.TempDir(), nil)
	first, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	require.NoError(t, err)
	require.Equal(t, cases.Passed, (&cases.Runner{Update: true}).RunFolder(t.Context(), folder).Verdict)
	for _, name := range []string{"case.toml", "stdout"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, running[name], string(text))
	}
	write(t, folder, map[string]string{"expected.json": `{"status": {"state": "ERROR"}}`}, nil)
	require.Equal(t, cases.Updated, (&cases.Runner{Update: true}).RunFolder(t.Context(), folder).Verdict)
	second, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
}

func TestAPartOfTheErrorMayBeExpected(t *testing.T) {
	files := map[string]string{
		"case.toml": "definition = 'slurm'\ncommand = 'get-job-status'\njob = '7'\nexit = 1\n",
		"stdout":    "", "stderr": "slurm_load_jobs error: Invalid job id specified\n",
		"expected.json": `{"status": {"state": "ERROR", "failure": "bad exit", "outcome": "not-found", "message": "Invalid job id"}}`,
	}
	folder := write(t, t.TempDir(), running, nil)
	write(t, folder, files, nil)
	require.Equal(t, cases.Passed, run(t, folder).Verdict)
	write(t, folder, map[string]string{"expected.json": `{"status": {"state": "ERROR", "failure": "bad exit", "outcome": "not-found", "message": "valid user"}}`}, nil)
	require.Equal(t, "status.message", run(t, folder).Differences[0].Where)
	write(t, folder, map[string]string{"expected.json": `{"status": {"state": "ERROR", "failure": "bad exit", "outcome": "not-found"}}`}, nil)
	require.Equal(t, cases.Passed, run(t, folder).Verdict, "its text is not looked at")
}

func TestAttributesBeforeTheCommandCount(t *testing.T) {
	site := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="site"><control-data>
		<attribute name="word" visible="false"><default>none</default></attribute>
		<attribute name="seen" visible="false"/>
		<attribute name="entries" visible="false"/>
		<start-up-command name="ask" waitForId="false"><arg>ask</arg><arg>${ptp_rm:word#value}</arg><stdout-parser delim="\n">
			<target ref="seen"><match><expression>(a.)</expression><add field="value"><entry valueGroup="1"/></add></match></target>
			<target ref="entries"><match><expression>(b.)</expression><put field="value"><entry keyGroup="1" value="x"/></put></match></target>
			<target><match><expression>(c.)</expression><set field="name"><entry valueGroup="1"/></set></match></target>
		</stdout-parser></start-up-command>
		<submit-batch name="submit"><arg>true</arg></submit-batch>
	</control-data></resource-manager-builder>`
	folder := write(t, t.TempDir(), map[string]string{
		"site.xml": site, "stdout": "a1\nb1\nc1\n",
		"case.toml":   "definition = './site.xml'\ncommand = 'start-up-command'\nargv = ['ask', 'reported']\nexit = 0\n",
		"before.json": `{"attributes": [{"name": "word", "value": "reported"}, {"name": "seen", "value": ["old"]}]}`,
		"expected.json": `{"status": {"state": "OK"}, "discovered": {"c1": {}},
			"attributes": {"seen": ["old", "a1"], "entries": {"value": {"b1": "x"}}}}`,
	}, nil)
	result := run(t, folder)
	require.NoError(t, result.Err)
	require.Empty(t, result.Differences)
}

func TestAnotherDefinitionMayBeTried(t *testing.T) {
	folder := writePassing(t, t.TempDir(), nil)
	result := (&cases.Runner{Definition: "fork"}).RunFolder(t.Context(), folder)
	require.ErrorContains(t, result.Err, "has no get-job-status")
}

func TestResultsComeInTheOrderOfTheFoldersWhateverIsWrongWithOne(t *testing.T) {
	root := t.TempDir()
	for i := range 60 {
		changes := map[string]string{}
		if i%7 == 3 {
			changes["expected.json"] = "no JSON"
		}
		write(t, filepath.Join(root, strconv.Itoa(100+i)), running, changes)
	}
	folders, err := cases.Find(root)
	require.NoError(t, err)
	for _, parallel := range []int{0, 1, 7} {
		var reported []string
		err := (&cases.Runner{Parallel: parallel}).RunAll(t.Context(), folders, func(result cases.Result) error {
			require.Equal(t, len(reported)%7 == 3, result.Verdict == cases.Broken)
			reported = append(reported, result.Folder)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, folders, reported)
	}
}

func TestRunningEndsWithItsContextAndWithItsListener(t *testing.T) {
	root := t.TempDir()
	folders := []string{}
	for i := range 40 {
		folders = append(folders, write(t, filepath.Join(root, strconv.Itoa(i)), running, nil))
	}
	ctx, cancel := context.WithCancel(t.Context())
	reported := 0
	err := (&cases.Runner{}).RunAll(ctx, folders, func(cases.Result) error {
		reported++
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, reported)

	full := errors.New("disk full")
	require.ErrorIs(t, (&cases.Runner{}).RunAll(t.Context(), folders, func(cases.Result) error { return full }), full)
}

func TestATraceNamesTheCase(t *testing.T) {
	definition, err := filepath.Abs(filepath.Join("..", "testdata", "chaos", "chaos.xml")) // which parses output
	require.NoError(t, err)
	folder := writePassing(t, t.TempDir(), map[string]string{
		"case.toml": "definition = '" + definition + "'\ncommand = 'submit-batch'\nexit = 0\n", "stdout": "Submitted job 00000007\n", "expected.json": "",
	})
	segments := 0
	runner := &cases.Runner{Trace: func(read cases.Reading, event tokenizer.TraceEvent) {
		require.Equal(t, folder, read.Folder)
		require.Equal(t, "chaos", read.Definition.Name)
		if event.Kind == "segment" && read.Parser.Element == "stdout-parser" {
			segments++
		}
	}}
	require.Equal(t, cases.Passed, runner.RunFolder(t.Context(), folder).Verdict)
	require.Positive(t, segments)
}
