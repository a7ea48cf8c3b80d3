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

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/bulk"
	"github.com/rmctl/rmctl/internal/document"
	"github.com/rmctl/rmctl/internal/hooks"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/waiting"
	"github.com/rmctl/rmctl/job"
)

func newSubmit(a *app) *cobra.Command {
	var flags submissionFlags
	var following followingFlags
	var dryRun bool
	var batch string
	var debugged settings.Debugging
	var width int
	c := &cobra.Command{
		Use:   "submit [flags] [--] PROGRAM [ARGUMENT...]",
		Short: "Submit a batch job and print its id",
		Long: `Submit a batch job, and print its id on standard output.

Flags such as --time work with every scheduler. -s sets any attribute of the definition;
rmctl describe lists them. If an attribute is unknown or a value is invalid, rmctl submits
nothing.`,
		Example: `  rmctl submit -- sh -c 'echo hello'
  rmctl submit -t slurm -n 16 --queue debug --time 5m -e OMP_NUM_THREADS=4 -- ./simulate input.dat
  rmctl submit --script job.sh
  rmctl submit --config-name nightly --time 90m
  rmctl submit --wait --show -- make check
  rmctl submit --batch jobs.jsonl --parallel 8`,
		RunE: func(c *cobra.Command, arguments []string) error {
			if batch != "" {
				if err := excludes(c, "batch", "dry-run", "copy", "debugger", "wait", "show", "on-end"); err != nil {
					return err
				}
				return a.submitBatch(c.Context(), flags, arguments, batch, width)
			}
			if err := following.check(); err != nil {
				return err
			}
			controller, r, err := a.prepare(c.Context(), flags, arguments)
			if err != nil {
				return err
			}
			if dryRun {
				return r.located(a.render(controller, r.Submission))
			}
			if err := a.applyDebugging(c.Context(), controller, &r, debugged); err != nil {
				return err
			}
			job, err := controller.Submit(c.Context(), r.Submission)
			if err != nil {
				return r.explained(err, controller.Target)
			}
			if err := a.printSubmitted(job); err != nil || !following.isWanted() {
				return err
			}
			return a.followSubmitted(c.Context(), []selection.Handle{{Job: job, Controller: controller}}, following)
		},
	}
	flags.add(a, c)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print what would run, without running it")
	following.add(c)
	addDebugging(c, &debugged)
	c.Flags().StringVar(&batch, "batch", "", "`FILE` with a job on each line (- for standard input): a JSON object with executable, arguments, attributes, environment, directory, script, debug, track")
	c.Flags().IntVar(&width, "parallel", bulk.Width, "number `N` of concurrent submissions of --batch")
	return c
}

func (a *app) printSubmitted(job job.Job) error {
	if a.json {
		return terminal.JSON(a.stdout, job.Document())
	}
	_, err := fmt.Fprintln(a.stdout, printable(job.ID))
	return err
}

// followingFlags say what follows a submission.
type followingFlags struct {
	wait, shown bool
	onEnd       string
}

func (f *followingFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.wait, "wait", false, "wait for the end, print state changes, and exit with the job's exit code")
	c.Flags().BoolVar(&f.shown, "show", false, "wait for the end, then print the job's output")
	addOnEnd(c, &f.onEnd)
}

func (f *followingFlags) check() error {
	if f.onEnd != "" && !f.isWanted() {
		return usage("--on-end requires --wait or --show\nuse rmctl watch --on-end to wait for jobs later")
	}
	return nil
}

func (f *followingFlags) isWanted() bool { return f.wait || f.shown }

// followSubmitted waits for jobs that were just submitted, prints their output if that is
// wanted, and returns the exit code of the first that failed.
func (a *app) followSubmitted(ctx context.Context, jobs []selection.Handle, following followingFlags) error {
	if len(jobs) == 1 {
		return a.waitForSubmitted(ctx, jobs[0].Controller, jobs[0].Job, following)
	}
	all := make([]waiting.Awaited, len(jobs))
	for i, job := range jobs {
		all[i] = waiting.Submitted(job)
	}
	if err := a.waiter().Wait(ctx, all, "", 0, following.onEnd); err != nil {
		return err
	}
	if following.shown {
		ended := make([]selection.Handle, 0, len(jobs))
		err := a.waiter().Each(ctx, all, func(now job.Job) error {
			ended = append(ended, selection.Handle{Job: now, Controller: jobs[len(ended)].Controller})
			return nil
		})
		if err == nil {
			err = a.printOutputs(ctx, ended, control.Stream{}, false)
		}
		if err != nil {
			return err
		}
	}
	return a.exitOfFirst(ctx, all, "")
}

func (a *app) waitForSubmitted(ctx context.Context, controller *control.Controller, job job.Job, following followingFlags) error {
	a.showChange(job)
	id := oneLine(job.ID)
	job, err := controller.Wait(ctx, job, "", a.showChange)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("waiting for job %s, which keeps running: %w", id, ctx.Err())
	}
	if err != nil {
		return err
	}
	ends := hooks.AtEnd(ctx, a.client().Store, a.stderr, following.onEnd, 1)
	ends.Observe(job)
	defer ends.Finish()
	if following.shown {
		if err := controller.Output(ctx, job, control.Stream{}, a.stdout); err != nil {
			return err
		}
	}
	return jobExit(job)
}

// showChange prints the state of a job on standard error, unless it reads as it did before.
func (a *app) showChange(job job.Job) {
	word := job.Detail.Word()
	if terminal.WantsColour(a.stderr) {
		word = terminal.StateInColour(word)
	}
	line := fmt.Sprintf("%s: %s", oneLine(job.ID), word)
	if note := listings.Remark(job); note != "" {
		line += " (" + note + ")"
	}
	if a.shown[job.Tag] == line && job.Tag != "" {
		return
	}
	if a.shown == nil {
		a.shown = map[string]string{}
	}
	a.shown[job.Tag] = line
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
		return usage("--parallel must be at least 1")
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
			return nil, usage("%s:%d: %s\nwrite a JSON object on each line, such as {\"executable\": \"./simulate\", \"arguments\": [\"1\"]}", file, number, reasons)
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
	s.Track, s.RankFrom = l.Track || s.Track, cmp.Or(l.RankFrom, s.RankFrom)
	s.Values = slices.Concat(all.Values, l.Values)
	s.Environment.Variables = slices.Concat(all.Environment.Variables, l.Environment.Variables)
	if s.Executable == "" && s.Script == "" {
		return s, usage("nothing to run: the line has no executable and no script")
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
	failed := 0
	var printErr error
	eachCounted(a, "submitting jobs", lines, width, func(line batchLine) batchResult {
		if ctx.Err() != nil {
			return batchResult{err: ctx.Err()}
		}
		job, err := controller.Submit(ctx, line.Submission)
		return batchResult{job, err}
	}, func(i int, result batchResult) {
		if result.err != nil {
			failed++
		}
		printErr = errors.Join(printErr, a.printBatchResult(lines[i].number, result))
	})
	if failed > 0 {
		printErr = errors.Join(printErr, fmt.Errorf("%d of %d jobs were not submitted", failed, len(lines)))
	}
	return printErr
}

// eachCounted is bulk.Each with a line on a terminal that counts.
func eachCounted[T, R any](a *app, what string, things []T, width int, work func(T) R, done func(int, R)) {
	progress := terminal.StartProgress(a.stderr, a.verbose > 0, what, len(things))
	defer progress.Stop()
	bulk.Each(things, width, work, func(i int, result R) {
		progress.Print(func() { done(i, result) })
		progress.Set(i + 1)
	})
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
