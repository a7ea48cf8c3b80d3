package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/document"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/hooks"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

// submissionFlags are the flags that submit, run and render share.
type submissionFlags struct {
	job.Submission // without what the following say
	values         []string
	environment    []string
	configName     string
}

func (f *submissionFlags) add(a *app, c *cobra.Command) {
	flags := c.Flags()
	flags.SetInterspersed(false) // flags after the program are the program's
	flags.StringArrayVarP(&f.values, "set", "s", nil, "attribute of the definition, as `name=value`; may be repeated")
	flags.StringArrayVarP(&f.environment, "env", "e", nil, "variable of the job's environment, as `NAME=VALUE`; may be repeated")
	flags.StringVarP(&f.Directory, "directory", "d", "", "working directory `DIR` of the job (default: the current one)")
	flags.StringVar(&f.Script, "script", "", "script `FILE` to submit instead of the definition's")
	flags.StringVar(&f.Tab, "tab", "", "`TITLE` of the form's tab whose controls apply (default: the first; with --script the one for scripts)")
	flags.BoolVar(&f.Debug, "debug", false, "use the definition's debug command")
	flags.StringVar(&f.configName, "config-name", "", "launch configuration `NAME` to start from; flags and arguments override it")
	a.completeSubmissions(c)
}

// submission returns the submission of the flags and arguments.
func (f *submissionFlags) submission(arguments []string) (job.Submission, error) {
	s := f.Submission
	if len(arguments) > 0 {
		s.Executable, s.Arguments = arguments[0], arguments[1:]
	}
	for _, setting := range f.values {
		name, value, found := strings.Cut(setting, "=")
		if !found || name == "" {
			return s, usage("-s %q: write name=value", setting)
		}
		s.Values = append(s.Values, job.Assignment{Name: name, Value: value})
	}
	for _, setting := range f.environment {
		name, value, found := strings.Cut(setting, "=")
		if !found || name == "" {
			return s, usage("-e %q: write NAME=VALUE", setting)
		}
		s.Environment.Variables = append(s.Environment.Variables, job.Variable{Name: name, Value: value})
	}
	return s, nil
}

func newSubmit(a *app) *cobra.Command {
	var flags submissionFlags
	var dryRun, wait, shown bool
	var batch, onEnd string
	var width int
	c := &cobra.Command{
		Use:   "submit [flags] [--] PROGRAM [ARGUMENT...]",
		Short: "Submit a batch job and print its id",
		Long: `submit submits a batch job and prints its id on standard output.

-s sets an attribute of the definition; rmctl describe lists them. If the definition
does not have an attribute, or refuses its value, nothing is submitted.`,
		Example: `  rmctl submit -- sh -c 'echo hello'
  rmctl submit -t slurm -s partition=debug -s time=5 -e OMP_NUM_THREADS=4 -- ./simulate input.dat
  rmctl submit --script job.sh
  rmctl submit --config-name nightly -s time=60
  rmctl submit --wait --show -- make check
  rmctl submit --batch jobs.jsonl --parallel 8`,
		RunE: func(c *cobra.Command, arguments []string) error {
			if batch != "" {
				if err := excludes(c, "batch", "dry-run", "wait", "show", "on-end"); err != nil {
					return err
				}
				return a.submitBatch(c.Context(), flags, arguments, batch, width)
			}
			if onEnd != "" && !wait && !shown {
				return usage("--on-end requires --wait or --show; rmctl watch --on-end waits for jobs later")
			}
			controller, r, err := a.prepare(c.Context(), flags, arguments)
			if err != nil {
				return err
			}
			if dryRun {
				return r.located(a.render(controller, r.Submission))
			}
			job, err := controller.Submit(c.Context(), r.Submission)
			if err != nil {
				return r.located(err)
			}
			if err := a.printSubmitted(job); err != nil || !wait && !shown {
				return err
			}
			return a.waitForSubmitted(c.Context(), controller, job, shown, onEnd)
		},
	}
	flags.add(a, c)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print what would run without running it, as rmctl render does")
	c.Flags().BoolVar(&wait, "wait", false, "wait for the end, print changes of state, and exit with the job's code")
	c.Flags().BoolVar(&shown, "show", false, "wait for the end, then print the job's output")
	addOnEnd(c, &onEnd)
	c.Flags().StringVar(&batch, "batch", "", "submit a job for each line of `FILE` (- for standard input): a JSON object with executable, arguments, attributes, environment, directory, script, debug")
	c.Flags().IntVar(&width, "parallel", 4, "number `N` of jobs to submit at a time, with --batch")
	return c
}

func (a *app) printSubmitted(job job.Job) error {
	if a.json {
		return terminal.JSON(a.stdout, job.Document())
	}
	_, err := fmt.Fprintln(a.stdout, printable(job.ID))
	return err
}

func (a *app) waitForSubmitted(ctx context.Context, controller *control.Controller, job job.Job, shown bool, onEnd string) error {
	a.showChange(job)
	id := oneLine(job.ID)
	job, err := controller.Wait(ctx, job, "", a.showChange)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("waiting for job %s, which goes on: %w", id, ctx.Err())
	}
	if err != nil {
		return err
	}
	ends := hooks.AtEnd(ctx, a.client().Store, a.stderr, onEnd, 1)
	ends.Observe(job)
	defer ends.Finish()
	if shown {
		if err := controller.Output(ctx, job, control.Stream{}, a.stdout); err != nil {
			return err
		}
	}
	return jobExit(job)
}

// showChange prints the state of a job on standard error.
func (a *app) showChange(job job.Job) {
	detail := string(job.DetailOrUndetermined())
	if terminal.WantsColour(a.stderr) {
		detail = terminal.StateInColour(detail)
	}
	line := fmt.Sprintf("%s: %s", oneLine(job.ID), detail)
	if note := remark(job); note != "" {
		line += " (" + note + ")"
	}
	fmt.Fprintln(a.stderr, line)
}

// maxBatchLine bounds the description of one job.
const maxBatchLine = 4 << 20

// A batchLine is one job of a batch.
type batchLine struct {
	job.Submission
	number int
}

// submitBatch submits the jobs of a file, a few at a time, and prints their ids in the order
// of the file. If a line is invalid, it submits nothing. A job that fails does not affect the
// others.
func (a *app) submitBatch(ctx context.Context, flags submissionFlags, arguments []string, file string, width int) error {
	if width < 1 {
		return usage("--parallel %d: at least one job has to be submitted at a time", width)
	}
	r, err := a.request(flags, arguments)
	if err != nil {
		return err
	}
	lines, err := a.readBatch(file)
	if err != nil {
		return err
	}
	for i, line := range lines {
		if lines[i].Submission, err = line.over(r.Submission, r.elsewhere); err != nil {
			return fmt.Errorf("%s:%d: %w", file, line.number, err)
		}
	}
	controller, err := a.controllerOf(ctx, r.launch)
	if err != nil {
		return err
	}
	return a.submitEach(ctx, controller, lines, width)
}

func (a *app) readBatch(file string) (lines []batchLine, err error) {
	source := io.NopCloser(a.stdin)
	if file != "-" {
		if source, err = os.Open(file); err != nil {
			return nil, fmt.Errorf("reading the batch: %w", err)
		}
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	scanner := bufio.NewScanner(source)
	scanner.Buffer(nil, maxBatchLine)
	for number := 1; scanner.Scan(); number++ {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		submission, err := readBatchLine(scanner.Bytes())
		if err != nil {
			reasons := strings.ReplaceAll(err.Error(), "\n", "; ")
			return nil, usage("%s:%d: %s; each line is a JSON object such as {\"executable\": \"./simulate\", \"arguments\": [\"1\"]}", file, number, reasons)
		}
		lines = append(lines, batchLine{submission, number})
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("reading the batch %s: %w", file, err)
	}
	return lines, nil
}

func readBatchLine(line []byte) (job.Submission, error) {
	table, err := document.ParseJSON(line)
	if err != nil {
		return job.Submission{}, err
	}
	submission := table.Submission()
	return submission, table.Err()
}

// over returns the submission of the line, which overrides that of the command line.
func (l batchLine) over(all job.Submission, elsewhere bool) (job.Submission, error) {
	s := all
	if l.Executable != "" {
		s.Executable, s.Arguments = l.Executable, l.Arguments
	} else if len(l.Arguments) > 0 {
		s.Arguments = l.Arguments
	}
	s.Script, s.Directory, s.Tab, s.Debug = cmp.Or(l.Script, s.Script), cmp.Or(l.Directory, s.Directory), cmp.Or(l.Tab, s.Tab), l.Debug || s.Debug
	s.Values = slices.Concat(all.Values, l.Values)
	s.Environment.Variables = slices.Concat(all.Environment.Variables, l.Environment.Variables)
	if s.Executable == "" && s.Script == "" {
		return s, usage("there is nothing to run: the line has neither executable nor script")
	}
	return placed(s, elsewhere)
}

// batchResult is the outcome of a line of a batch.
type batchResult struct {
	job job.Job
	err error
}

// batchJSON is how the outcome of a line is printed as JSON.
type batchJSON struct {
	Line int `json:"line"`
	*job.Document
	Error string `json:"error,omitempty"`
}

func (a *app) submitEach(ctx context.Context, controller *control.Controller, lines []batchLine, width int) error {
	results := make([]chan batchResult, len(lines))
	for i := range results {
		results[i] = make(chan batchResult, 1)
	}
	var group errgroup.Group
	group.SetLimit(width + 1) // one starts the others
	group.Go(func() error {
		for i, line := range lines {
			group.Go(func() error {
				if ctx.Err() != nil {
					results[i] <- batchResult{err: ctx.Err()}
					return nil
				}
				job, err := controller.Submit(ctx, line.Submission)
				results[i] <- batchResult{job, err}
				return nil
			})
		}
		return nil
	})
	failed := 0
	var printErr error
	for i, line := range lines {
		result := <-results[i]
		if result.err != nil {
			failed++
		}
		printErr = errors.Join(printErr, a.printBatchResult(line.number, result))
	}
	_ = group.Wait() // its functions return nil; failures are in the results
	if failed > 0 {
		printErr = errors.Join(printErr, fmt.Errorf("%d of %d jobs were not submitted", failed, len(lines)))
	}
	return printErr
}

func (a *app) printBatchResult(line int, result batchResult) error {
	if a.json {
		printed := batchJSON{Line: line}
		if result.err != nil {
			printed.Error = result.err.Error()
		} else {
			document := result.job.Document()
			printed.Document = &document
		}
		return terminal.JSON(a.stdout, printed)
	}
	if result.err != nil {
		fmt.Fprintf(a.stderr, "line %d: %s\n", line, printable(result.err.Error()))
		return nil
	}
	_, err := fmt.Fprintln(a.stdout, printable(result.job.ID))
	return err
}
