package casetest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/cases/casetest"
)

// one writes a case that passes.
func one(t *testing.T, expected string) string {
	root := t.TempDir()
	folder := filepath.Join(root, "refused")
	require.NoError(t, os.Mkdir(folder, 0o700))
	for name, text := range map[string]string{
		"case.toml": "definition = 'slurm'\ncommand = 'submit-batch'\nexit = 1\n", "stderr": "sbatch: error: invalid partition\n", "expected.json": expected,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return root
}

func TestCasesThatPassPass(t *testing.T) {
	casetest.Run(t, one(t, `{"status": {"state": "ERROR", "failure": "bad exit", "message": "invalid partition"}}`))
}

func TestACaseThatFailsFailsTheTest(t *testing.T) {
	if root := os.Getenv("CASETEST_ROOT"); root != "" {
		casetest.Run(t, root)
		return
	}
	for _, test := range []struct{ expected, says string }{
		{`{"status": {"state": "OK"}}`, `status.state: expected "OK", got "ERROR"`},
		{`no JSON`, "expected.json: line 1: invalid character"},
	} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
		again.Env = append(os.Environ(), "CASETEST_ROOT="+one(t, test.expected))
		printed, err := again.CombinedOutput()
		var failed *exec.ExitError
		require.ErrorAs(t, err, &failed, "%s", printed)
		require.Contains(t, string(printed), "--- FAIL: "+t.Name()+"/refused")
		require.Contains(t, string(printed), test.says)
	}
}

func TestTheVariableHasExpectationsWritten(t *testing.T) {
	root := one(t, `{"status": {"state": "OK"}}`)
	t.Setenv("RMCTL_UPDATE", "1")
	casetest.RunWith(t, &cases.Runner{}, root)
	text, err := os.ReadFile(filepath.Join(root, "refused", "expected.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), "bad exit")
}
