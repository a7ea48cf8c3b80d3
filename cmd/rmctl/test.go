package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/cases"
)

type testFlags struct {
	definition string
	update     bool
	parallel   int
}

func newTest(a *app) *cobra.Command {
	var flags testFlags
	c := &cobra.Command{
		Use:   "test [DIR...]",
		Short: "Try definitions on recorded commands",
		Long: `test looks for cases in and below each folder, the current one if none is given,
and compares what the definition makes of each recorded output with what is
expected. docs/cases.md tells what a case is.

Exit codes: 0 all passed; 1 something came out otherwise than expected; 2 a case
or its definition could not be read.`,
		Example: `  rmctl test testdata
  rmctl test --definition mysite.xml cases
  rmctl test --update cases/status-running`,
		RunE: func(c *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				arguments = []string{"."}
			}
			return a.test(c.Context(), flags, arguments)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.definition, "definition", "", "try this definition in place of those that the cases name: a shipped name or a `file`")
	f.BoolVar(&flags.update, "update", false, "write what came out as what is expected")
	f.IntVar(&flags.parallel, "parallel", 0, "how many cases at a time (default: as many as there are processors)")
	return c
}

func (a *app) test(ctx context.Context, flags testFlags, roots []string) error {
	folders, err := cases.Find(roots...)
	if err != nil {
		return &usageError{err}
	}
	runner := &cases.Runner{Definition: flags.definition, Update: flags.update, Parallel: flags.parallel}
	counts := map[cases.Verdict]int{}
	err = runner.RunAll(ctx, folders, func(result cases.Result) error {
		counts[result.Verdict]++
		return a.printTestResult(result)
	})
	if err != nil {
		return err
	}
	if err := a.printTestCounts(counts, len(folders)); err != nil {
		return err
	}
	switch {
	case counts[cases.Broken] > 0:
		return &exitError{code: exitUsage}
	case counts[cases.Differing] > 0:
		return &exitError{code: exitFailed}
	}
	return nil
}

func (a *app) printTestResult(result cases.Result) error {
	var err error
	switch result.Verdict {
	case cases.Passed:
		if a.verbose > 0 {
			_, err = fmt.Fprintf(a.stdout, "ok    %s\n", printable(result.Folder))
		}
	case cases.Broken:
		_, err = fmt.Fprintf(a.stdout, "ERROR %s\n      %s\n", printable(result.Folder), printable(result.Err.Error()))
	case cases.Updated:
		_, err = fmt.Fprintf(a.stdout, "new   %s\n", printable(result.Folder))
	default:
		_, err = fmt.Fprintf(a.stdout, "FAIL  %s\n", printable(result.Folder))
	}
	for _, difference := range result.Differences {
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "      %s\n", printable(difference.String()))
		}
	}
	return err
}

func (a *app) printTestCounts(counts map[cases.Verdict]int, all int) error {
	_, err := fmt.Fprintf(a.stdout, "%d cases: %d passed, %d failed, %d broken, %d updated\n",
		all, counts[cases.Passed], counts[cases.Differing], counts[cases.Broken], counts[cases.Updated])
	return err
}
