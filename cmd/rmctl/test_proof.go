package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/internal/breaks"
	"github.com/rmctl/rmctl/internal/coverage"
	"github.com/rmctl/rmctl/internal/mutate"
	"github.com/rmctl/rmctl/internal/terminal"
)

// coverageFlags are the flags of coverage.
type coverageFlags struct {
	show    bool
	least   float64 // in percent
	limited bool    // least is set
}

func (f *coverageFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.show, "coverage", false, "show how much of each definition the cases cover, and what they miss")
	c.Flags().Float64Var(&f.least, "min-coverage", 0, "minimum coverage of each definition in `PERCENT`")
}

// check checks the flags, and completes them from the command.
func (f *coverageFlags) check(c *cobra.Command) error {
	f.limited = c.Flags().Changed("min-coverage")
	if f.limited && !(f.least >= 0 && f.least <= 100) {
		return usage("--min-coverage %v: enter a percentage from 0 to 100", f.least)
	}
	return nil
}

func (f coverageFlags) wanted() bool { return f.show || f.limited }

// printCoverage prints what the cases exercised, and fails if that is too little.
func (a *app) printCoverage(flags testFlags, coverages *coverage.Counter) error {
	failed := false
	for _, report := range coverages.Reports() {
		failed = failed || flags.coverage.limited && report.Percent < flags.coverage.least
		if err := a.printCoverageReport(flags, report); err != nil {
			return err
		}
	}
	if failed {
		return &exitError{code: exitFailed}
	}
	return nil
}

func (a *app) printCoverageReport(flags testFlags, report coverage.Report) error {
	if a.json {
		return terminal.JSON(a.stdout, struct {
			Coverage coverage.Report `json:"coverage"`
		}{report})
	}
	least := 0.0
	if flags.coverage.limited {
		least = flags.coverage.least
	}
	return a.printRemarks(flags, report.Text(least, flags.coverage.show))
}

// mutateFlags are the flags of damaged outputs.
type mutateFlags struct {
	wanted  bool
	perCase int
	keep    string
}

func (f *mutateFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.wanted, "mutate", false, "also test damaged outputs: each must give the same result or an error")
	c.Flags().IntVar(&f.perCase, "mutants", mutate.DefaultPerCase, "maximum number `N` of damaged outputs (mutants) per case")
	c.Flags().StringVar(&f.keep, "keep-mutants", "", "directory `DIR` for mutants with a wrong result, as cases")
}

func (f *mutateFlags) check() error {
	switch {
	case f.perCase < 1:
		return usage("--mutants must be at least 1")
	case f.keep != "" && !f.wanted:
		return usage("--keep-mutants requires --mutate")
	}
	return nil
}

// mutate tests damaged outputs, and fails if one fools a definition.
func (a *app) mutate(ctx context.Context, flags testFlags, runner *cases.Runner, folders []string) error {
	reports, err := mutate.Run(ctx, runner, flags.mutate.perCase, folders)
	if err != nil {
		return err
	}
	var worst error
	for _, report := range reports {
		if err := a.keepMutants(flags, report); err != nil {
			return err
		}
		if err := a.printMutation(flags, report); err != nil {
			return err
		}
		if len(report.Errors) > 0 {
			worst = worse(worst, &exitError{code: exitUsage})
		}
		if report.Verdicts[mutate.Fooled] > 0 {
			worst = worse(worst, &exitError{code: exitFailed})
		}
	}
	return worst
}

// worse returns the worse of two errors: one with a message, otherwise the one with the higher
// exit code.
func worse(one, other error) error {
	switch {
	case one == nil:
		return other
	case other == nil || !isSilent(one):
		return one
	case !isSilent(other) || exitCode(other) > exitCode(one):
		return other
	}
	return one
}

func (a *app) keepMutants(flags testFlags, report mutate.Report) error {
	if flags.mutate.keep == "" {
		return nil
	}
	for _, mutant := range report.Deceptive {
		if mutant.Verdict != mutate.Fooled {
			continue
		}
		kept := *mutant.Case
		kept.Folder = filepath.Join(flags.mutate.keep, kept.Folder)
		if _, err := os.Stat(kept.Folder); err == nil {
			return fmt.Errorf("keeping a mutant: %s already exists\nuse another directory with --keep-mutants", kept.Folder)
		}
		if err := cases.Write(&kept); err != nil {
			return fmt.Errorf("keeping a mutant: %w", err)
		}
	}
	return nil
}

func (a *app) printMutation(flags testFlags, report mutate.Report) error {
	for i, mutant := range report.Deceptive {
		report.Deceptive[i].Reproduce = reproducing(flags, mutant)
	}
	if a.json {
		return terminal.JSON(a.stdout, struct {
			Mutation mutate.Report `json:"mutation"`
		}{report})
	}
	return a.printRemarks(flags, report.Text(a.verbose > 0))
}

// reproducing returns the command that reproduces a mutant.
func reproducing(flags testFlags, mutant mutate.Result) string {
	words := []string{"rmctl", "test", "-v"}
	if flags.mutate.keep != "" {
		return shellescape.QuoteCommand(append(words, filepath.Join(flags.mutate.keep, mutant.Case.Folder)))
	}
	if flags.definition != "" {
		words = append(words, "--definition", flags.definition)
	}
	words = append(words, "--mutate")
	if flags.mutate.perCase != mutate.DefaultPerCase {
		words = append(words, "--mutants", fmt.Sprint(flags.mutate.perCase))
	}
	return shellescape.QuoteCommand(append(words, "--keep-mutants", "mutants", mutant.Original))
}

// breakDefinitions changes the definitions of the cases, and fails if a change without a
// reason is not noticed.
func (a *app) breakDefinitions(ctx context.Context, flags testFlags, runner *cases.Runner, roots, folders []string) error {
	reasons, err := breaks.ReadReasons(roots)
	if err != nil {
		return err
	}
	reports, err := breaks.Run(ctx, runner, folders, reasons)
	if err != nil {
		return err
	}
	var worst error
	for _, report := range reports {
		if err := a.printBreaks(flags, report); err != nil {
			return err
		}
		if report.Unexplained() > 0 || len(report.Stale) > 0 {
			worst = &exitError{code: exitFailed}
		}
	}
	return worst
}

func (a *app) printBreaks(flags testFlags, report breaks.Report) error {
	if a.json {
		return terminal.JSON(a.stdout, struct {
			Breaks breaks.Report `json:"breaks"`
		}{report})
	}
	return a.printRemarks(flags, report.Text(a.verbose > 0))
}

// printRemarks prints lines that are not results: as comments in the Test Anything Protocol.
func (a *app) printRemarks(flags testFlags, text string) error {
	if flags.tap {
		text = "# " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n# ") + "\n"
	}
	_, err := fmt.Fprint(a.stdout, printable(text))
	return err
}
