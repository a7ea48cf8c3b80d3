package rms_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/cases/casetest"
	"github.com/rmctl/rmctl/internal/coverage"
	"github.com/rmctl/rmctl/internal/mutate"
	"github.com/rmctl/rmctl/rms"
)

// The recorded outputs of real schedulers, and made-up ones, that tests of single definitions read.
const (
	pbsCases        = "../testdata/pbs"
	gridengineCases = "../testdata/gridengine"
)

// casesOf returns the folder with the cases of a shipped definition.
func casesOf(name string) string { return filepath.Join("..", "testdata", name) }

// foldersOfCases returns the folders of all cases of the shipped definitions that
// extend another one, or of those that stand for themselves, and their names.
func foldersOfCases(t *testing.T, extending bool) (folders, definitions []string) {
	t.Helper()
	for _, name := range rms.Names() {
		source, shipped := rms.Source(name)
		require.True(t, shipped)
		if strings.Contains(string(source), "x:extends=") != extending {
			continue
		}
		found, err := cases.Find(casesOf(name))
		require.NoError(t, err)
		require.NotEmpty(t, found, "%s has no cases", name)
		folders = append(folders, found...)
		definitions = append(definitions, name)
	}
	return folders, definitions
}

func TestShippedDefinitionsReadTheirCases(t *testing.T) {
	for _, name := range rms.Names() {
		t.Run(name, func(t *testing.T) { casetest.Run(t, casesOf(name)) })
	}
}

func TestFlowsOfRecordedOutputs(t *testing.T) { casetest.Run(t, "../testdata/flows") }

// No damage to what schedulers print may give another job id or a wrong end of a
// job. A few mutants of each output are tried here, since all of them take half
// a minute: rmctl test --mutate --mutants 2000 testdata.
func TestDamagedOutputDoesNotFoolShippedDefinitions(t *testing.T) {
	folders, definitions := foldersOfCases(t, false)
	more, extending := foldersOfCases(t, true)
	reports, err := mutate.Run(t.Context(), &cases.Runner{}, 6, append(folders, more...))
	require.NoError(t, err)
	require.Len(t, reports, len(definitions)+len(extending))
	for _, report := range reports {
		require.Empty(t, report.Errors)
		for _, mutant := range report.Deceptive {
			if mutant.Verdict == mutate.Fooled {
				require.Fail(t, mutant.Wrong, "%s: %s, %s", mutant.Original, mutant.Operator, mutant.Place)
			}
		}
	}
}

// What the cases of a shipped definition never make happen is not proven.
func TestCasesExerciseShippedDefinitions(t *testing.T) {
	folders, definitions := foldersOfCases(t, false)
	var coverages coverage.Counter
	runner := &cases.Runner{}
	coverages.Watch(runner)
	require.NoError(t, runner.RunAll(t.Context(), folders, func(cases.Result) error { return nil }))
	exercised := []string{"fork"} // which reads nothing
	for _, report := range coverages.Reports() {
		exercised = append(exercised, report.Definition)
		require.GreaterOrEqual(t, report.Percent, 95.0, "%s: %v", report.Definition, report.Missed)
	}
	require.ElementsMatch(t, definitions, exercised)
}

// Of a definition that extends another its cases have to make happen what it has
// of its own; that of the base is proven there.
func TestCasesExerciseWhatShippedDefinitionsChange(t *testing.T) {
	folders, _ := foldersOfCases(t, true)
	var coverages coverage.Counter
	runner := &cases.Runner{}
	coverages.Watch(runner)
	require.NoError(t, runner.RunAll(t.Context(), folders, func(cases.Result) error { return nil }))
	for _, report := range coverages.Reports() {
		// A target that has seen nothing takes its else without a test.
		isMissed := func(missed coverage.Thing) bool {
			return missed.File == report.File && missed.Kind != "test"
		}
		require.False(t, slices.ContainsFunc(report.Missed, isMissed), "%s: %v", report.File, report.Missed)
	}
}
