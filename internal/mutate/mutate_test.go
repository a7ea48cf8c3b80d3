package mutate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/job"
)

// The files in testdata are outputs; beside each stands what becomes of
// it, a line for each mutant. With RMCTL_UPDATE=1 the lists are written.
func TestOutputsAreDamagedAsListed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var listed strings.Builder
			for _, mutant := range mutants(output{Stdout: text}) {
				fmt.Fprintf(&listed, "%s | %s | %d %q %q\n", mutant.Operator, mutant.Place, mutant.Output.Exit, mutant.Output.Stdout, mutant.Output.Stderr)
			}
			list := strings.TrimSuffix(file, ".txt") + ".mutants"
			if os.Getenv("RMCTL_UPDATE") == "1" {
				require.NoError(t, os.WriteFile(list, []byte(listed.String()), 0o644))
				return
			}
			expected, err := os.ReadFile(list)
			require.NoError(t, err)
			require.Equal(t, string(expected), listed.String())
		})
	}
}

func TestEveryOperatorDamagesRowsWithADateOrADocument(t *testing.T) {
	damaged := map[string]bool{}
	for _, text := range []string{"COMPLETED|0:0|n1|2026-11-20T14:00:00\nFAILED|1:0|n2|2026-11-20T14:00:00\n", `{"jobs": [{"id": 1}]}`} {
		for _, mutant := range mutants(output{Stdout: []byte(text)}) {
			damaged[mutant.Operator] = true
		}
	}
	for _, operator := range documentedOperators(t) {
		require.True(t, damaged[operator], operator)
		delete(damaged, operator)
	}
	require.Empty(t, damaged, "docs/prove/break.md has to name each")
}

// A row of a listing may be lost, but must not end a job that has not ended so.
func TestARowWithAWrongEndFoolsADefinition(t *testing.T) {
	right := understanding{listed: 2, ends: map[string]job.Detail{"1": job.Failed}}
	for what, c := range map[string]struct {
		got     understanding
		verdict Verdict
	}{
		"the same":          {understanding{listed: 2, ends: map[string]job.Detail{"1": job.Failed}}, Same},
		"a row less":        {understanding{listed: 1, ends: map[string]job.Detail{}}, Refused},
		"another end":       {understanding{listed: 2, ends: map[string]job.Detail{"1": job.Completed}}, Fooled},
		"an end of another": {understanding{listed: 2, ends: map[string]job.Detail{"1": job.Failed, "2": job.Failed}}, Fooled},
		"an unknown id":     {understanding{listed: 3, ends: map[string]job.Detail{"17": job.Failed}}, Fooled},
	} {
		verdict, _ := judge(right, c.got)
		require.Equal(t, c.verdict, verdict, what)
	}
}

// documentedOperators returns the names in the list of operators.
func documentedOperators(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/prove/break.md")
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(text), "## Damage the output\n")
	list, _, _ = strings.Cut(list, "\n\nFor ")
	var operators []string
	for _, item := range strings.Split(list, "\n- `")[1:] {
		names, _, _ := strings.Cut("`"+item, ": ")
		for name := range strings.SplitSeq(names, ", ") {
			operators = append(operators, strings.Trim(name, "`"))
		}
	}
	require.Greater(t, len(operators), 10)
	return operators
}

func FuzzMutantsDifferAndAreBounded(f *testing.F) {
	f.Add([]byte(""), []byte(""), 0)
	f.Add([]byte("\n"), []byte("x"), 1)
	f.Add([]byte("JobId=7 JobName=a\r\n   JobState=RUNNING Reason=None"), []byte(""), 0)
	f.Add([]byte("|||\n\xff|2026-01-01 10:00:00|=\n"), []byte("\n"), -1)
	f.Add(bytes.Repeat([]byte("a = b | c\n"), 300), []byte(""), 0)
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, exit int) {
		original := output{Stdout: bytes.Clone(stdout), Stderr: bytes.Clone(stderr), Exit: exit}
		counts := map[string]int{}
		for _, mutant := range mutants(original) {
			counts[mutant.Operator]++
			same := bytes.Equal(mutant.Output.Stdout, stdout) && bytes.Equal(mutant.Output.Stderr, stderr) && mutant.Output.Exit == exit
			require.False(t, same, "%s, %s changes nothing", mutant.Operator, mutant.Place)
		}
		for operator, count := range counts {
			require.LessOrEqual(t, count, 32*2*17, operator)
		}
		require.Equal(t, string(stdout), string(original.Stdout), "the original stays as it is")
		require.Equal(t, string(stderr), string(original.Stderr), "the original stays as it is")
	})
}

// submitting is a definition that finds the id of a job by an expression, and its
// state by another.
const submitting = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="site"><control-data>
<submit-batch name="submit" waitForId="true"><arg>sub</arg><stdout-parser delim="\n" includeDelim="true"><target ref="@jobId">
<match><expression>%s</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser></submit-batch>
<get-job-status name="status"><arg>stat</arg><stdout-parser delim="\n" includeDelim="true"><target ref="@jobId">
<match><expression>%s</expression><set field="value"><entry valueGroup="1"/></set></match></target></stdout-parser></get-job-status>
<terminate-job name="cancel"><arg>del</arg></terminate-job>
</control-data></resource-manager-builder>`

// mutation damages one case of a definition and returns what came of it.
func mutation(t *testing.T, id, state, selector, stdout string) Report {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "site.xml"), fmt.Appendf(nil, submitting, id, state), 0o600))
	c := &cases.Case{
		Folder: filepath.Join(root, "one"), Definition: "../site.xml", Command: selector, Job: "17", Stdout: []byte(stdout),
		Expected: &cases.Expectation{Status: cases.Status{State: "OK"}},
	}
	require.NoError(t, cases.Write(c))
	reports, err := Run(t.Context(), &cases.Runner{}, 1000, []string{c.Folder})
	require.NoError(t, err)
	if len(reports) == 0 {
		return Report{}
	}
	require.Len(t, reports, 1)
	require.Empty(t, reports[0].Errors)
	return reports[0]
}

const carefulID, carefulState = `job (\d+)\r?\n`, `state=([A-Z]+);\r?\n`

func TestADefinitionThatWantsWholeLinesIsNotFooled(t *testing.T) {
	for selector, stdout := range map[string]string{"submit-batch": "job 17\n", "get-job-status": "state=COMPLETED;\n"} {
		report := mutation(t, carefulID, carefulState, selector, stdout)
		require.Equal(t, "site", report.Definition)
		require.Empty(t, report.Deceptive)
		require.Equal(t, 100.0, report.Score)
		require.Positive(t, report.Verdicts[Same], "a banner changes nothing")
		require.Positive(t, report.Verdicts[Refused], "an empty output proves nothing")
		require.Equal(t, report.Mutants, report.Verdicts[Same]+report.Verdicts[Refused])
	}
}

func TestACutIDFoolsADefinitionThatTakesWhatItGets(t *testing.T) {
	report := mutation(t, `(?s)job (\d+).*`, carefulState, "submit-batch", "job 17\n")
	require.Positive(t, report.Verdicts[Fooled])
	require.Less(t, report.Score, 100.0)
	fooling := report.Deceptive[0]
	require.Equal(t, "truncated", fooling.Operator)
	require.Equal(t, `job id "1" instead of "17"`, fooling.Wrong)

	kept := *fooling.Case
	kept.Folder = filepath.Join(t.TempDir(), kept.Folder)
	require.NoError(t, cases.Write(&kept))
	result := (&cases.Runner{}).RunFolder(t.Context(), kept.Folder)
	require.Equal(t, cases.Differing, result.Verdict, "what is kept reproduces it, wherever it is: %v", result.Err)
}

func TestAWordInABannerFoolsADefinitionThatTakesAnyWord(t *testing.T) {
	report := mutation(t, carefulID, `(?s).*(COMPLETED|RUNNING).*`, "get-job-status", "state=RUNNING;\n")
	require.Positive(t, report.Verdicts[Fooled])
	for _, fooling := range report.Deceptive {
		require.Equal(t, "COMPLETED instead of RUNNING", fooling.Wrong)
	}
}

func TestAnotherStateThatIsNoEndIsAstray(t *testing.T) {
	report := mutation(t, carefulID, `(?s)state=(RUNNING|SUSPENDED|SUBMITTED)?.*`, "get-job-status", "state=RUNNING;\nstate=SUSPENDED;\n")
	require.Zero(t, report.Verdicts[Fooled])
	require.Positive(t, report.Verdicts[astray], "where the second line is lost")
	require.Equal(t, 100.0, report.Score)
}

func TestOnlyCommandsAboutJobsAreDamaged(t *testing.T) {
	require.Zero(t, mutation(t, carefulID, carefulState, "terminate-job", "gone\n").Mutants)
}

func TestMutantsAreTheSameEachTimeAndAsManyAsRequested(t *testing.T) {
	root := t.TempDir()
	c := &cases.Case{Folder: filepath.Join(root, "c"), Definition: "slurm", Command: "submit-batch", Stdout: []byte("Submitted batch job 17\n")}
	require.NoError(t, cases.Write(c))
	run := func(perCase, parallel int) Report {
		reports, err := Run(t.Context(), &cases.Runner{Parallel: parallel}, perCase, []string{c.Folder})
		require.NoError(t, err)
		return reports[0]
	}
	require.Equal(t, 20, run(20, 1).Mutants)
	require.Equal(t, run(20, 1).Verdicts, run(20, 4).Verdicts)
}

func TestACaseNamesTheJobsOfAListingThatDamageMayEnd(t *testing.T) {
	right := understanding{ends: map[string]job.Detail{"1": job.Failed, "2": job.Failed}}
	got := understanding{ends: map[string]job.Detail{"1": job.Completed, "2": job.Failed, "3": job.Completed}}
	require.False(t, got.isNamed(right, map[string]string{"1": "why", "COMPLETED": "why"}), "nor has 3 ended")
	require.True(t, got.isNamed(right, map[string]string{"1": "why", "3": "why"}))
	require.Equal(t, `job "1" is COMPLETED instead of FAILED`, got.endOfOther(right))
}

func TestCasesThatCannotBeDamagedAreReportedAndTheOthersTried(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		folder := filepath.Join(root, name)
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "case.toml"), []byte(text), 0o600))
		return folder
	}
	folders := []string{
		write("broken", "definition = "),
		write("unknown", `definition = "nowhere"`+"\n"+`command = "submit-batch"`+"\nexit = 0\n"),
		write("selector", `definition = "slurm"`+"\n"+`command = "no-such-command"`+"\nexit = 0\n"),
		write("good", `definition = "slurm"`+"\n"+`command = "submit-batch"`+"\nexit = 1\n"),
	}
	reports, err := Run(t.Context(), &cases.Runner{}, 0, folders)
	require.NoError(t, err)
	var errs []string
	tried := 0
	for _, report := range reports {
		tried += report.Cases
		errs = append(errs, report.Errors...)
	}
	require.Equal(t, 1, tried)
	require.Len(t, errs, 3)
	for i, err := range errs {
		require.Contains(t, err, folders[i], "it names the case")
	}
}

// BenchmarkMutation damages the cases of the shipped definitions.
func BenchmarkMutation(b *testing.B) {
	var roots []string
	for _, name := range []string{"slurm", "pbs", "local"} {
		roots = append(roots, filepath.Join("../../testdata", name))
	}
	folders, err := cases.Find(roots...)
	require.NoError(b, err)
	mutants := 0
	for b.Loop() {
		reports, err := Run(b.Context(), &cases.Runner{}, 0, folders)
		require.NoError(b, err)
		for _, report := range reports {
			mutants += report.Mutants
		}
	}
	b.ReportMetric(float64(mutants)/b.Elapsed().Seconds(), "mutants/s")
}
