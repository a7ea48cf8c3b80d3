package cases_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/cases/casetest"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/rms"
)

// usualOf returns what cases show of the only definition that they use.
func usualOf(t *testing.T, roots ...string) map[string]control.UsualOutput {
	t.Helper()
	folders, err := cases.Find(roots...)
	require.NoError(t, err)
	runner := &cases.Runner{}
	var usuals cases.Usuals
	usuals.Watch(runner)
	require.NoError(t, runner.RunAll(t.Context(), folders, func(cases.Result) error { return nil }))
	all := usuals.All()
	require.Len(t, all, 1)
	for _, commands := range all {
		return commands
	}
	return nil
}

// What is built in is written by RMCTL_UPDATE=1 go test ./cases -run Usual.
func TestWhatIsUsualOfShippedDefinitionsIsWhatTheirCasesShow(t *testing.T) {
	for _, name := range rms.Names() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("../control/usual", name+".json")
			source, _ := rms.Source(name)
			definition, _ := config.LoadWith(name+".xml", source, config.Options{Base: control.ReadBase})
			require.NotNil(t, definition)
			if len(definition.Sources()) > 1 {
				require.NoFileExists(t, path, "what is usual of a definition is so of those that take it over")
				return
			}
			if _, err := definition.Select(config.Selector{Element: config.GetJobStatus, Index: 1}); err != nil {
				require.NoFileExists(t, path, "without a command for states nothing is usual")
				return
			}
			text, err := json.MarshalIndent(control.Usual{Commands: usualOf(t, filepath.Join("../testdata", name))}, "", "  ")
			require.NoError(t, err)
			if os.Getenv(casetest.UpdateVariable) == "1" {
				require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
			}
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(text)+"\n", string(kept), "the cases have changed: RMCTL_UPDATE=1 go test ./cases -run Usual")
		})
	}
}

func TestOutputsThatToldNoStateDoNotCountAsUsual(t *testing.T) {
	root := t.TempDir()
	// what follows the last line end is looked at, too
	lines := "runs\nx\nx\nx\nx\nx\nx\nx\nx\nx\n"
	for name, stdout := range map[string]string{"told": lines, "told-less": "runs\nruns\nruns\nruns\nruns\nx\n", "nothing": "x\nx\nx\nx\nx\nx\n", "few-lines": "runs\nx\nx\nx\n"} {
		write(t, filepath.Join(root, name), map[string]string{
			"case.toml": "definition = '../site.xml'\ncommand = 'get-job-status'\njob = '7'\nexit = 0\n", "stdout": stdout, "expected.json": "{}",
		}, nil)
	}
	write(t, filepath.Join(root, "failed"), map[string]string{
		"case.toml": "definition = '../site.xml'\ncommand = 'get-job-status'\njob = '7'\nexit = 1\n", "stdout": "runs\n" + lines + "x\nx\nx\nx\nx\n", "expected.json": "{}",
	}, nil)
	write(t, filepath.Join(root, "made-up"), map[string]string{
		"case.toml": "definition = '../site.xml'\ncommand = 'get-job-status'\njob = '7'\nexit = 0\nunusual = true\n", "stdout": lines + "x\nx\nx\n", "expected.json": "{}",
	}, nil)
	write(t, root, map[string]string{"site.xml": site}, nil)
	require.Equal(t, map[string]control.UsualOutput{"get-job-status:ask": {Outputs: 2, Unmatched: 10. / 11}}, usualOf(t, root))
}

func TestWordsOfStatesAreKeptOnce(t *testing.T) {
	var usual control.UsualOutput
	for _, word := range []string{"R", "PD", "", "R", "CG"} {
		usual.Add(1, 0, true, word)
	}
	require.Equal(t, control.UsualOutput{Words: []string{"CG", "PD", "R"}}, usual)
}

func TestADefinitionThatExtendsAShippedOneIsNotShipped(t *testing.T) {
	shipped, _, err := control.UsableDefinition("slurm")
	require.NoError(t, err)
	require.True(t, control.IsShipped(shipped))
	source, _ := rms.Source("slurm")
	changed, problems := config.Load("slurm.xml", append(source, "<!-- ours -->"...))
	require.NoError(t, problems.Err())
	require.False(t, control.IsShipped(changed))
}
