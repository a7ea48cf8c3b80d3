package rms_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/cases/casetest"
	"github.com/rmctl/rmctl/rms"
)

// The recorded outputs of real schedulers, and made-up ones.
const (
	slurmCases = "../testdata/slurm"
	pbsCases   = "../testdata/pbs"
	localCases = "../testdata/local"
	forkCases  = "../testdata/fork"

	openmpiCases = "../testdata/openmpi"
	mpichCases   = "../testdata/mpich"

	gridengineCases = "../testdata/gridengine"

	interactiveSlurmCases      = "../testdata/slurm-interactive"
	interactivePBSCases        = "../testdata/pbs-interactive"
	interactiveGridEngineCases = "../testdata/gridengine-interactive"
	torqueCases                = "../testdata/torque"
	htcondorCases              = "../testdata/htcondor"
)

func TestSlurmReadsRecordedOutputs(t *testing.T) { casetest.Run(t, slurmCases) }

func TestInteractiveSlurmReadsRecordedOutputs(t *testing.T) { casetest.Run(t, interactiveSlurmCases) }

func TestInteractivePBSReadsRecordedOutputs(t *testing.T) { casetest.Run(t, interactivePBSCases) }

func TestTorqueReadsDocumentedOutputs(t *testing.T) { casetest.Run(t, torqueCases) }

func TestHTCondorReadsDocumentedOutputs(t *testing.T) { casetest.Run(t, htcondorCases) }

func TestLocalReadsRecordedOutputs(t *testing.T) { casetest.Run(t, localCases) }

func TestForkRunsWhatItIsGiven(t *testing.T) { casetest.Run(t, forkCases) }

func TestOpenMPIReadsRecordedOutputs(t *testing.T) { casetest.Run(t, openmpiCases) }

func TestMPICHReadsRecordedOutputs(t *testing.T) { casetest.Run(t, mpichCases) }

func TestPBSReadsRecordedOutputs(t *testing.T) { casetest.Run(t, pbsCases) }

func TestFlowsOfRecordedOutputs(t *testing.T) { casetest.Run(t, "../testdata/flows") }

// No damage to what schedulers print may give another job id or a wrong end of a
// job. A few mutants of each output are tried here, since all of them take half
// a minute: rmctl test --mutate --mutants 2000 testdata.
func TestDamagedOutputDoesNotFoolShippedDefinitions(t *testing.T) {
	folders, err := cases.Find(slurmCases, pbsCases, localCases, forkCases, gridengineCases, interactiveSlurmCases, interactivePBSCases, interactiveGridEngineCases, torqueCases, htcondorCases, openmpiCases, mpichCases, lsfCases)
	require.NoError(t, err)
	reports, err := cases.Mutation{Runner: &cases.Runner{}, PerCase: 6}.Run(t.Context(), folders)
	require.NoError(t, err)
	require.Len(t, reports, len(rms.Names()))
	for _, report := range reports {
		require.Empty(t, report.Errors)
		for _, mutant := range report.Deceptive {
			if mutant.Verdict == cases.MutantFooled {
				require.Fail(t, mutant.Wrong, "%s: %s, %s", mutant.Original, mutant.Operator, mutant.Place)
			}
		}
	}
}

// What the cases of a shipped definition never make happen is not proven.
func TestCasesExerciseShippedDefinitions(t *testing.T) {
	folders, err := cases.Find(slurmCases, pbsCases, localCases, forkCases, gridengineCases, interactiveGridEngineCases, htcondorCases, openmpiCases, mpichCases, lsfCases)
	require.NoError(t, err)
	var coverages cases.Coverages
	runner := &cases.Runner{}
	coverages.Watch(runner)
	require.NoError(t, runner.RunAll(t.Context(), folders, func(cases.Result) error { return nil }))
	reports := coverages.Reports()
	require.Len(t, reports, 9)
	for _, report := range reports {
		require.GreaterOrEqual(t, report.Percent(), 95.0, "%s: %v", report.Definition, report.Missed)
	}
}

// Of a definition that extends another its cases have to make happen what it has
// of its own; that of the base is proven there.
func TestCasesExerciseWhatShippedDefinitionsChange(t *testing.T) {
	folders, err := cases.Find(interactiveSlurmCases, interactivePBSCases, interactiveGridEngineCases, torqueCases)
	require.NoError(t, err)
	var coverages cases.Coverages
	runner := &cases.Runner{}
	coverages.Watch(runner)
	require.NoError(t, runner.RunAll(t.Context(), folders, func(cases.Result) error { return nil }))
	for _, report := range coverages.Reports() {
		// A target that has seen nothing takes its else without a test.
		isMissed := func(missed cases.Coverable) bool {
			return missed.File == report.File && missed.Kind != cases.CoveredTest
		}
		require.False(t, slices.ContainsFunc(report.Missed, isMissed), "%s: %v", report.File, report.Missed)
	}
}
