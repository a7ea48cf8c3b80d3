package main

import (
	"github.com/rmctl/rmctl/internal/files"

	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

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
		Long: `Test definitions with the cases and flows in DIR and below, by default in the current
directory.

A case is the recorded output of one command with the expected result. A flow is a
recorded session: submissions and queries. rmctl prints differences; with -v also the
names of passed cases, and traces of failed ones. docs/prove/cases.md explains more.

Exit codes: 0 all passed; 1 a case failed, or coverage, mutants or broken definitions
showed a gap; 2 rmctl cannot read a case or its definition.`,
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
	f.StringVar(&flags.definition, "definition", "", "definition to test instead of those that the cases name: a shipped one or a `FILE`")
	completeFlag(c, "definition", a.completeDefinitions)
	f.BoolVar(&flags.update, "update", false, "write the results to the cases as expected results")
	f.IntVar(&flags.parallel, "parallel", 0, "number `N` of concurrent cases (default: the number of processors)")
	f.StringVar(&flags.junit, "junit", "", "`FILE` for a report in JUnit XML")
	flags.coverage.register(c)
	flags.mutate.register(c)
	f.BoolVar(&flags.breaks, "break", false, "also break the definitions: each change of a reader must make a case fail")
	f.StringVar(&flags.watch, "watch", "", "test the definition in `FILE` now and whenever it changes")
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
		before := files.StateOf(flags.watch)
		verdict := a.test(ctx, flags, roots)
		if verdict != nil && !isSilent(verdict) {
			a.say("%v", verdict) // such as that the file is gone while an editor writes it
		}
		a.say("waiting for changes of %s", flags.watch)
		if !files.WaitForChange(ctx, flags.watch, before) {
			return verdict
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
		err = r.print(casereport.Text(result, r.verbose > 0))
	}
	if err != nil || r.verbose == 0 || result.Verdict != cases.Differing {
		return err
	}
	return r.trace(ctx, result)
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
	return r.print(casereport.CountsText(r.counts))
}

// print prints text, which may be empty.
func (r *testReport) print(text string) error {
	_, err := fmt.Fprint(r.stdout, printable(text))
	return err
}

func (r *testReport) writeJUnit() error {
	if r.flags.junit == "" {
		return nil
	}
	return r.junit.WriteFile(r.flags.junit)
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
