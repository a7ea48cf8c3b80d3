package listings

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/job"
)

// list prints jobs according to flags.
func list(jobs []*job.Job, target string, flags ...string) (string, error) {
	var choices Choices
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	choices.AddTo(set)
	if err := set.Parse(flags); err != nil {
		return "", err
	}
	var printed bytes.Buffer
	output, err := choices.Apply(Output{Writer: &printed, Target: target}, false)
	if err == nil {
		err = RecordedJobs().PrintAll(output, jobs, "")
	}
	return printed.String(), err
}

func jobsOnRecord() []*job.Job {
	exit := 0
	return []*job.Job{
		{ID: "10", Target: "slurm", Tag: "t10", Created: time.Now().Add(-3 * time.Hour), Observation: job.Observation{Detail: job.UserOnHold, Name: "b", Nodes: "n[1-2]"}},
		{ID: "9", Target: "pbs", Tag: "t9", Created: time.Now().Add(-2 * 24 * time.Hour), Observation: job.Observation{Detail: job.OutputReady, Name: "a \x1b[2J", ExitCode: &exit, Ended: "2026-03-01T10:00:00"}},
		{Target: "slurm", Tag: "t11", Created: time.Now().Add(-time.Minute)},
	}
}

func TestTheDefaultTableShowsTheWordForAState(t *testing.T) {
	printed, err := list(jobsOnRecord(), "")
	require.NoError(t, err)
	require.Equal(t, `JOB  TARGET  STATE      SUBMITTED  NAME         NOTE
10   slurm   HELD       3h ago     b
9    pbs     COMPLETED  2d ago     a \u001b[2J  exit code 0
-    slurm   UNKNOWN    1m ago     -
`, printed)
}

func TestColumnsAreChosen(t *testing.T) {
	printed, err := list(jobsOnRecord(), "", "-o", "table=job,Detail,exit")
	require.NoError(t, err)
	require.Equal(t, "JOB  DETAIL            EXIT\n10   USER_ON_HOLD      -\n9    JOB_OUTERR_READY  0\n-    UNDETERMINED      -\n", printed)
	printed, err = list(nil, "", "-o", "table=job,colour")
	require.EqualError(t, err, `--output: no column "colour"; the columns are job, target, state, detail, native, queue, nodes, submitted, started, ended, exit, seen, ensemble, part, tag, name, note`)
	require.Empty(t, printed)
	printed, err = list(jobsOnRecord(), "", "-o", "wide")
	require.NoError(t, err)
	require.Regexp(t, `^JOB +TARGET +STATE +DETAIL +NATIVE +QUEUE +NODES +SUBMITTED +STARTED +ENDED +EXIT +SEEN +ENSEMBLE +PART +TAG +NAME +NOTE\n`, printed)
}

func TestRowsAreSortedAndThenCounted(t *testing.T) {
	for flags, want := range map[string]string{
		"--sort=job":              "9 10 t11",
		"--sort=-job":             "10 9 t11", // unknown values are last in both orders
		"--sort=submitted":        "9 10 t11",
		"--sort=-submitted":       "t11 10 9",
		"--sort=target,-job":      "9 10 t11",
		"--sort=name --limit=1":   "9",
		"--limit=2":               "10 9",
		"--sort=exit,name":        "9 10 t11",
		"--sort=-state --limit=2": "t11 10",
	} {
		printed, err := list(jobsOnRecord(), "any", append(strings.Fields(flags), "-q")...)
		require.NoError(t, err)
		require.Equal(t, want, strings.Join(strings.Fields(printed), " "), flags)
	}
	_, err := list(nil, "", "--sort", "job,age")
	require.ErrorContains(t, err, `--sort: no column "age"`)
	_, err = list(nil, "", "--limit=-1")
	require.EqualError(t, err, "--limit -1: enter a positive number, or 0 for all")
}

func TestListedIDsAreAcceptedByCommands(t *testing.T) {
	printed, err := list(jobsOnRecord(), "", "-q")
	require.NoError(t, err)
	require.Equal(t, "slurm/10\npbs/9\nt11\n", printed)
}

func TestYAMLHasTheNamesOfTheJSONAndNoControlCharacters(t *testing.T) {
	jobs := jobsOnRecord()[1:2]
	jobs[0].Created = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	jobs[0].Nodes, jobs[0].Reason = "yes", "\u202e \U000e0001"
	printed, err := list(jobs, "", "-o", "yaml")
	require.NoError(t, err)
	require.Equal(t, `- id: "9"
  target: "pbs"
  state: "COMPLETED"
  detail: "JOB_OUTERR_READY"
  name: "a \e[2J"
  exitCode: 0
  reason: "\u202e \U000E0001"
  nodes: "yes"
  submitted: "2026-03-01T09:00:00Z"
  ended: "2026-03-01T10:00:00"
  tag: "t9"
`, printed)
	printed, err = list(nil, "", "-o", "yaml")
	require.NoError(t, err)
	require.Equal(t, "[]\n", printed)
}

func TestATemplateUsesTheFieldsOfTheJSON(t *testing.T) {
	printed, err := list(jobsOnRecord(), "", "--format", `{{.ID}}\t{{ .state }} {{.Word}} [{{.ExitCode}}] {{.Name}}`)
	require.NoError(t, err)
	require.Equal(t, "10\tSUBMITTED HELD [] b\n9\tCOMPLETED COMPLETED [0] a \\u001b[2J\n\tUNDETERMINED UNKNOWN [] \n", printed)
	for text, problem := range map[string]string{
		"{{.Colour}}":      `--format: no field "Colour"; the fields are id, target, `,
		"{{.ID":            "--format: {{.ID: use fields such as {{.State}}",
		"{{range .Nodes}}": "--format: {{range .Nodes: use fields such as {{.State}}",
	} {
		_, err := list(nil, "", "--format", text)
		require.ErrorContains(t, err, problem)
	}
}

func TestOnlyOneFormatCanBeChosen(t *testing.T) {
	for flags, problem := range map[string]string{
		"-q -o wide":               "--output cannot be used together with --quiet",
		"--format={{.ID}} -o yaml": "--format cannot be used together with --output",
		"-o xml":                   `--output "xml": unknown format; use wide, json, yaml or table=COLUMN,...`,
	} {
		_, err := list(nil, "", strings.Fields(flags)...)
		require.EqualError(t, err, problem)
	}
	_, err := (&Choices{output: "yaml"}).Apply(Output{}, true)
	require.EqualError(t, err, "--json cannot be used together with --output")
	_, err = (&Choices{output: "json"}).Apply(Output{}, true)
	require.NoError(t, err)
}

func TestQueuesWithoutFactsAreListedByName(t *testing.T) {
	running := 1
	var printed bytes.Buffer
	require.NoError(t, PrintQueues(Output{Writer: &printed}, []elements.Queue{{Name: "long"}, {Name: "short"}}, ""))
	require.Equal(t, "long\nshort\n", printed.String())
	printed.Reset()
	require.NoError(t, PrintQueues(Output{Writer: &printed}, []elements.Queue{{Name: "long"}, {Name: "short", Running: &running}}, ""))
	require.Regexp(t, `^QUEUE .*\nlong .*\nshort .*\n$`, printed.String())
}

func TestOtherProgramsReadTheStateOfAJob(t *testing.T) {
	zero, one := 0, 1
	for _, test := range []struct {
		of                      job.Observation
		snakemake, batchspawner string
	}{
		{job.Observation{}, "running", "UNKNOWN"},
		{job.Observation{Detail: job.QueuedActive}, "running", "PENDING"},
		{job.Observation{Detail: job.UserOnHold}, "running", "PENDING"},
		{job.Observation{Detail: job.Running, Nodes: "n[07-9],m1"}, "running", "RUNNING n07"},
		{job.Observation{Detail: job.Running}, "running", "PENDING"},
		{job.Observation{Detail: job.SystemSuspended, Nodes: "n1"}, "running", "RUNNING n1"},
		{job.Observation{Detail: job.Completed, ExitCode: &zero}, "success", "COMPLETED"},
		{job.Observation{Detail: job.OutputReady}, "success", "COMPLETED"},
		{job.Observation{Detail: job.Completed, ExitCode: &one}, "failed", "COMPLETED"},
		{job.Observation{Detail: job.Failed}, "failed", "FAILED"},
		{job.Observation{Detail: job.Canceled}, "failed", "CANCELED"},
	} {
		for tool, want := range map[string]string{"snakemake": test.snakemake, "batchspawner": test.batchspawner} {
			state, err := StatusFor(tool, &job.Job{Observation: test.of})
			require.NoError(t, err)
			require.Equal(t, want, state, "%s of %v", tool, test.of)
		}
	}
	_, err := StatusFor("nextflow", &job.Job{})
	require.EqualError(t, err, `--as "nextflow": unknown program; use batchspawner or snakemake`)
}
