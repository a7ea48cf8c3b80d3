package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/internal/terminal"
)

// coverageFlags ask how much of their definitions cases exercise.
type coverageFlags struct {
	show    bool
	least   float64 // in percent
	limited bool    // least was given
}

func (f *coverageFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.show, "coverage", false, "show how much of each definition the cases exercise, and what they never do")
	c.Flags().Float64Var(&f.least, "min-coverage", 0, "fail where the cases exercise less than this many `PERCENT` of a definition")
}

// check tells what is wrong with the flags, and takes them over from the command.
func (f *coverageFlags) check(c *cobra.Command) error {
	f.limited = c.Flags().Changed("min-coverage")
	if f.limited && !(f.least >= 0 && f.least <= 100) {
		return usage("--min-coverage %v: it is a percentage, from 0 to 100", f.least)
	}
	return nil
}

func (f coverageFlags) wanted() bool { return f.show || f.limited }

// printedCoverage is the coverage of a definition as JSON.
type printedCoverage struct {
	Definition string         `json:"definition"`
	Covered    int            `json:"covered"`
	Total      int            `json:"total"`
	Percent    float64        `json:"percent"`
	Kinds      []printedCount `json:"kinds"`
	Missed     []printedThing `json:"missed"`
}

type printedCount struct {
	Kind    cases.CoverageKind `json:"kind"`
	Covered int                `json:"covered"`
	Total   int                `json:"total"`
	Percent float64            `json:"percent"`
}

type printedThing struct {
	Kind   cases.CoverageKind `json:"kind"`
	File   string             `json:"file"`
	Line   int                `json:"line"`
	Column int                `json:"column"`
	What   string             `json:"what"`
}

// printCoverage prints what the cases exercised, and fails where that is too little.
func (a *app) printCoverage(flags testFlags, coverages *cases.Coverages) error {
	failed := false
	for _, report := range coverages.Reports() {
		failed = failed || flags.coverage.limited && report.Percent() < flags.coverage.least
		if err := a.printCoverageReport(flags, report); err != nil {
			return err
		}
	}
	if failed {
		return &exitError{code: exitFailed}
	}
	return nil
}

func (a *app) printCoverageReport(flags testFlags, report cases.CoverageReport) error {
	if a.json {
		return terminal.JSON(a.stdout, struct {
			Coverage printedCoverage `json:"coverage"`
		}{coverageAsPrinted(report)})
	}
	var text strings.Builder
	fmt.Fprintf(&text, "coverage of %s: %.1f%% (%d of %d)", report.Definition, report.Percent(), report.Covered, report.Total)
	if flags.coverage.limited && report.Percent() < flags.coverage.least {
		fmt.Fprintf(&text, ", less than %v%%", flags.coverage.least)
	}
	text.WriteByte('\n')
	if flags.coverage.show {
		for _, count := range report.Kinds {
			if count.Total == 0 {
				continue
			}
			fmt.Fprintf(&text, "  %-10s  %4d of %4d  %5.1f%%\n", count.Kind, count.Covered, count.Total, count.Percent())
		}
		for _, thing := range report.Missed {
			fmt.Fprintf(&text, "  never: %s: %s\n", thing.Position, oneLine(thing.What))
		}
	}
	return a.printRemarks(flags, text.String())
}

// printRemarks prints lines that are no results of cases: as comments where the
// output is in the Test Anything Protocol.
func (a *app) printRemarks(flags testFlags, text string) error {
	if flags.tap {
		text = "# " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n# ") + "\n"
	}
	_, err := fmt.Fprint(a.stdout, printable(text))
	return err
}

func coverageAsPrinted(report cases.CoverageReport) printedCoverage {
	printed := printedCoverage{
		Definition: report.Definition, Covered: report.Covered, Total: report.Total, Percent: report.Percent(), Missed: []printedThing{},
	}
	for _, count := range report.Kinds {
		printed.Kinds = append(printed.Kinds, printedCount{Kind: count.Kind, Covered: count.Covered, Total: count.Total, Percent: count.Percent()})
	}
	for _, thing := range report.Missed {
		printed.Missed = append(printed.Missed, printedThing{
			Kind: thing.Kind, File: thing.File, Line: thing.Line, Column: thing.Column, What: thing.What,
		})
	}
	return printed
}
