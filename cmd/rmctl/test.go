package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/internal/casereport"
	"github.com/rmctl/rmctl/internal/coverage"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/trace"
	"github.com/rmctl/rmctl/tokenizer"
)

type testFlags struct {
	definition string
	update     bool
	parallel   int
	junit      string
	tap        bool
	coverage   coverageFlags
	mutate     mutateFlags
	breaks     bool
	watch      string
}

func newTest(a *app) *cobra.Command {
	var flags testFlags
	c := &cobra.Command{
		Use:               "test [DIR...]",
		ValidArgsFunction: completeDirectories,
		Short:             "Test definitions with recorded commands",
		Long: `test finds cases in and below each folder, or the current one, and compares what the
definition makes of each recorded output with the expected result. A flow plays recorded
outputs back to whole submissions and queries. docs/cases.md describes cases and flows.

It prints differences; with -v also cases that passed, and what the tokenizer did with the
outputs of those that failed.

With --coverage it prints what of each definition the cases never exercise. With --mutate
it damages their outputs as sites and failures do, and requires the same answer or an
error. With --break it changes the definitions, and requires that a case notices.

Exit codes: 0 all passed; 1 a result differs, coverage is below --min-coverage, a mutant
fooled its definition, or no case notices a change; 2 a case or its definition could not be read.`,
		Example: `  rmctl test testdata
  rmctl test --definition mysite.xml cases
  rmctl test --watch mysite.xml cases
  rmctl test --junit report.xml cases
  rmctl test --update cases/status-running`,
		RunE: func(c *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				arguments = []string{"."}
			}
			if err := errors.Join(flags.coverage.check(c), flags.mutate.check()); err != nil {
				return err
			}
			if flags.watch != "" {
				return a.testAgain(c.Context(), flags, arguments)
			}
			return a.test(c.Context(), flags, arguments)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.definition, "definition", "", "definition to test instead of those of the cases: a shipped name or a `FILE`")
	completeFlag(c, "definition", a.completeDefinitions)
	f.BoolVar(&flags.update, "update", false, "write the results as the expected results")
	f.IntVar(&flags.parallel, "parallel", 0, "number `N` of cases to test at a time (default: the number of processors)")
	f.StringVar(&flags.junit, "junit", "", "write a report in JUnit's XML to `FILE`")
	flags.coverage.register(c)
	flags.mutate.register(c)
	f.BoolVar(&flags.breaks, "break", false, "also test changed definitions: each change of a reader must make a case fail")
	f.StringVar(&flags.watch, "watch", "", "test the definition in `FILE`, and again whenever it changes, until interrupted")
	f.BoolVar(&flags.tap, "tap", false, "print results in the Test Anything Protocol")
	return c
}

func (a *app) test(ctx context.Context, flags testFlags, roots []string) error {
	if flags.tap && a.json {
		return usage("--tap and --json exclude each other")
	}
	folders, missing := cases.Find(roots...)
	if len(folders) == 0 {
		return &usageError{missing}
	}
	runner := &cases.Runner{Definition: flags.definition, Update: flags.update, Parallel: flags.parallel}
	var coverages coverage.Counter
	if flags.coverage.wanted() {
		coverages.Watch(runner)
	}
	defer collectLessOften()()
	report := newTestReport(a, flags)
	if err := runner.RunAll(ctx, folders, func(result cases.Result) error { return report.add(ctx, result) }); err != nil {
		return err
	}
	if err := report.close(); err != nil {
		return err
	}
	verdict := report.verdict()
	if flags.coverage.wanted() {
		verdict = worse(verdict, a.printCoverage(flags, &coverages))
	}
	if flags.mutate.wanted {
		verdict = worse(verdict, a.mutate(ctx, flags, runner, folders))
	}
	if flags.breaks {
		verdict = worse(verdict, a.breakDefinitions(ctx, flags, runner, roots, folders))
	}
	if missing != nil {
		a.say("%v", missing)
		verdict = worse(verdict, &exitError{code: exitUsage})
	}
	return verdict
}

// testAgain tests a definition now and whenever its file changes, until the context is done.
func (a *app) testAgain(ctx context.Context, flags testFlags, roots []string) error {
	flags.definition = flags.watch
	for {
		before := stateOfFile(flags.watch)
		verdict := a.test(ctx, flags, roots)
		if verdict != nil && !isSilent(verdict) {
			a.say("%v", verdict) // such as that the file is gone while an editor writes it
		}
		a.say("waiting until %s changes", flags.watch)
		if !waitForChange(ctx, flags.watch, before) {
			return verdict
		}
	}
}

// A fileState tells a file that was changed from what it was.
type fileState struct {
	size     int64
	modified time.Time
}

// stateOfFile returns the state of a file; the zero value for one that is not there.
func stateOfFile(name string) fileState {
	info, err := os.Stat(name)
	if err != nil {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime()}
}

// waitForChange waits until a file is there and has changed, and returns false if the context
// is done before.
func waitForChange(ctx context.Context, name string, before fileState) bool {
	const often = 200 * time.Millisecond
	ticker := time.NewTicker(often)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
			if now := stateOfFile(name); now != before && now != (fileState{}) {
				return true
			}
		}
	}
}

// collectLessOften makes the garbage collector run less often, unless GOGC is set: nearly all
// data of a case lives for a millisecond.
func collectLessOften() (undo func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(before) }
}

// A testReport prints results as they arrive.
type testReport struct {
	*app
	flags  testFlags
	counts map[cases.Verdict]int
	tap    casereport.TAP
	junit  casereport.JUnit
}

func newTestReport(a *app, flags testFlags) *testReport {
	return &testReport{app: a, flags: flags, counts: map[cases.Verdict]int{}, tap: casereport.TAP{To: a.stdout}}
}

func (r *testReport) add(ctx context.Context, result cases.Result) error {
	r.counts[result.Verdict]++
	r.junit.Add(result)
	var err error
	switch {
	case r.json:
		err = terminal.JSON(r.stdout, result)
	case r.flags.tap:
		err = r.tap.Add(result)
	default:
		err = r.print(result)
	}
	if err != nil || r.verbose == 0 || result.Verdict != cases.Differing {
		return err
	}
	return r.trace(ctx, result)
}

// testWords begin the lines of results.
var testWords = map[cases.Verdict]string{cases.Passed: "ok", cases.Differing: "FAIL", cases.Updated: "updated", cases.Broken: "ERROR"}

func (r *testReport) print(result cases.Result) error {
	if result.Verdict == cases.Passed && r.verbose == 0 {
		return nil
	}
	text := fmt.Sprintf("%-7s %s\n", testWords[result.Verdict], oneLine(result.Folder))
	if result.Err != nil {
		text += "        " + printable(result.Err.Error()) + "\n"
	}
	if result.Verdict == cases.Differing || r.verbose > 0 {
		for _, difference := range result.Differences {
			text += "        " + oneLine(difference.Where) + "\n"
			expected, got := difference.Texts()
			text += "          expected " + expected + "\n          got      " + got + "\n"
		}
	}
	_, err := fmt.Fprint(r.stdout, printable(text))
	return err
}

// trace runs a case or a flow again, and prints on standard error how its outputs are parsed,
// each below its folder.
func (r *testReport) trace(ctx context.Context, result cases.Result) error {
	var writer *trace.Writer
	var shown cases.Reading
	runner := &cases.Runner{Definition: r.flags.definition, Trace: func(read cases.Reading, event tokenizer.TraceEvent) {
		if read.Parser != shown.Parser || read.Folder != shown.Folder {
			writer = trace.New(r.stderr, read.Parser, r.json)
			writer.Begin(read.Folder)
			shown = read
		}
		writer.Write(event)
	}}
	if again := runner.RunFolder(ctx, result.Folder); again.Err != nil {
		return again.Err
	}
	if writer == nil {
		return ctx.Err()
	}
	return errors.Join(ctx.Err(), writer.Err())
}

func (r *testReport) close() error {
	if r.flags.tap {
		if err := r.tap.Close(); err != nil {
			return err
		}
	}
	if err := r.writeJUnit(); err != nil {
		return err
	}
	if r.json || r.flags.tap {
		return nil
	}
	return r.printCounts()
}

func (r *testReport) printCounts() error {
	all := 0
	for _, count := range r.counts {
		all += count
	}
	text := fmt.Sprintf("%d cases: %d passed, %d failed", all, r.counts[cases.Passed], r.counts[cases.Differing])
	for _, rare := range []cases.Verdict{cases.Updated, cases.Broken} {
		if r.counts[rare] > 0 {
			text += fmt.Sprintf(", %d %s", r.counts[rare], rare)
		}
	}
	_, err := fmt.Fprintln(r.stdout, text)
	return err
}

func (r *testReport) writeJUnit() error {
	if r.flags.junit == "" {
		return nil
	}
	file, err := os.Create(r.flags.junit)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := r.junit.Write(file); err != nil {
		_ = file.Close() // the error of writing is the cause
		return fmt.Errorf("writing the report %s: %w", r.flags.junit, err)
	}
	return file.Close()
}

func (r *testReport) verdict() error {
	switch {
	case r.counts[cases.Broken] > 0:
		return &exitError{code: exitUsage}
	case r.counts[cases.Differing] > 0:
		return &exitError{code: exitFailed}
	}
	return nil
}

// coverageFlags are the flags of coverage.
type coverageFlags struct {
	show    bool
	least   float64 // in percent
	limited bool    // least is set
}

func (f *coverageFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.show, "coverage", false, "show how much of each definition the cases exercise, and what they do not")
	c.Flags().Float64Var(&f.least, "min-coverage", 0, "fail if the cases exercise less than `PERCENT` of a definition")
}

// check checks the flags, and completes them from the command.
func (f *coverageFlags) check(c *cobra.Command) error {
	f.limited = c.Flags().Changed("min-coverage")
	if f.limited && !(f.least >= 0 && f.least <= 100) {
		return usage("--min-coverage %v: it is a percentage, from 0 to 100", f.least)
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
	var text strings.Builder
	fmt.Fprintf(&text, "coverage of %s: %.1f%% (%d of %d)", report.Definition, report.Percent, report.Covered, report.Total)
	if flags.coverage.limited && report.Percent < flags.coverage.least {
		fmt.Fprintf(&text, ", less than %v%%", flags.coverage.least)
	}
	text.WriteByte('\n')
	if flags.coverage.show {
		for _, count := range report.Kinds {
			if count.Total == 0 {
				continue
			}
			fmt.Fprintf(&text, "  %-10s  %4d of %4d  %5.1f%%\n", count.Kind, count.Covered, count.Total, count.Percent)
		}
		for _, thing := range report.Missed {
			fmt.Fprintf(&text, "  never: %s:%d:%d: %s\n", thing.File, thing.Line, thing.Column, oneLine(thing.What))
		}
	}
	return a.printRemarks(flags, text.String())
}

// printRemarks prints lines that are not results: as comments in the Test Anything Protocol.
func (a *app) printRemarks(flags testFlags, text string) error {
	if flags.tap {
		text = "# " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n# ") + "\n"
	}
	_, err := fmt.Fprint(a.stdout, printable(text))
	return err
}
