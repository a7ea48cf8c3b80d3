// Package casetest tests definitions with recorded commands in go test, as rmctl
// test does:
//
//	func TestDefinition(t *testing.T) {
//		casetest.Run(t, "testdata/cases")
//	}
package casetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/cases"
)

// updateVariable is the environment variable that, set to 1, has expectations
// written instead of compared with.
const updateVariable = "RMCTL_UPDATE"

// Run runs all cases and flows in and below the folders, each as a subtest named by its
// folder. A folder without cases is a failure.
func Run(t *testing.T, folders ...string) {
	t.Helper()
	RunWith(t, &cases.Runner{}, folders...)
}

// RunWith is like Run with the caller's runner, for another definition or for the caller's
// tokenizers.
func RunWith(t *testing.T, runner *cases.Runner, folders ...string) {
	t.Helper()
	if os.Getenv(updateVariable) == "1" {
		runner.Update = true
	}
	for _, root := range folders {
		found, err := cases.Find(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range found {
			name, err := filepath.Rel(root, folder)
			if err != nil || name == "." {
				name = filepath.Base(folder)
			}
			t.Run(name, func(t *testing.T) {
				report(t, runner.RunFolder(t.Context(), folder))
			})
		}
	}
}

func report(t *testing.T, result cases.Result) {
	t.Helper()
	switch result.Verdict {
	case cases.Broken:
		t.Fatal(result.Err)
	case cases.Updated:
		t.Logf("updated %s; read the difference before you commit it", result.Folder)
	case cases.Differing:
		lines := []string{result.Folder + " came out otherwise than expected:"}
		for _, difference := range result.Differences {
			lines = append(lines, difference.String())
		}
		t.Fatal(strings.Join(lines, "\n"))
	}
}
