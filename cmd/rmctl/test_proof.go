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
	"github.com/rmctl/rmctl/internal/mutate"
	"github.com/rmctl/rmctl/internal/terminal"
)

// mutateFlags are the flags of damaged outputs.
type mutateFlags struct {
	wanted  bool
	perCase int
	keep    string
}

func (f *mutateFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.wanted, "mutate", false, "also test damaged outputs: each must give the same answer or an error, never another job id or a wrong end")
	c.Flags().IntVar(&f.perCase, "mutants", mutate.DefaultPerCase, "largest number `N` of mutants of a case")
	c.Flags().StringVar(&f.keep, "keep-mutants", "", "write each mutant that fooled its definition as a case below `DIR`")
}

func (f *mutateFlags) check() error {
	switch {
	case f.perCase < 1:
		return usage("--mutants %d: it is how many mutants of a case to try, 1 or more", f.perCase)
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
			return fmt.Errorf("keeping a mutant: %s is there already; name another folder with --keep-mutants", kept.Folder)
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
	var text strings.Builder
	if report.Mutants > 0 {
		fmt.Fprintf(&text, "mutants of %s: %.2f%% did not fool it (%d mutants of %d cases:", report.Definition, report.Score, report.Mutants, report.Cases)
		for i, verdict := range mutate.Verdicts() {
			separator := ","
			if i == 0 {
				separator = ""
			}
			fmt.Fprintf(&text, "%s %d %s", separator, report.Verdicts[verdict], verdict)
		}
		text.WriteString(")\n")
	}
	for _, mutant := range report.Deceptive {
		if mutant.Verdict == mutate.Fooled || a.verbose > 0 {
			fmt.Fprintf(&text, "%-7s %s: %s, %s: %s\n", strings.ToUpper(string(mutant.Verdict)), oneLine(mutant.Original), mutant.Operator, mutant.Place, oneLine(mutant.Wrong))
		}
		if mutant.Verdict == mutate.Fooled {
			fmt.Fprintf(&text, "        %s\n", oneLine(mutant.Reproduce))
		}
	}
	for _, err := range report.Errors {
		fmt.Fprintf(&text, "ERROR   %s\n", oneLine(err))
	}
	return a.printRemarks(flags, text.String())
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
	var text strings.Builder
	fmt.Fprintf(&text, "changes of %s: %d tried on %d cases, %d not noticed, %d of them without a reason\n",
		report.Definition, report.Changes, report.Cases, len(report.Survivors), report.Unexplained())
	for _, each := range report.Survivors {
		if each.Reason == "" {
			fmt.Fprintf(&text, "SURVIVES %s: %s\n", each.Position, oneLine(each.Change))
		} else if a.verbose > 0 {
			fmt.Fprintf(&text, "survives %s: %s: %s\n", each.Position, oneLine(each.Change), oneLine(each.Reason))
		}
	}
	for _, what := range report.Stale {
		fmt.Fprintf(&text, "STALE    the reason for %q in %s: a case notices it, or there is no such change\n", what, breaks.ReasonsFile)
	}
	return a.printRemarks(flags, text.String())
}
