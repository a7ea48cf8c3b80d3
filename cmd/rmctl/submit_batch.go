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

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

// maxBatchLine bounds the description of one job.
const maxBatchLine = 4 << 20

// A batchLine is one job of a batch.
type batchLine struct {
	job.Submission
	number int
}

// submitBatch submits the jobs of a file, a few at a time, and prints their ids
// in the order of the file. Nothing is submitted when the file cannot be read;
// after that each job succeeds or fails by itself.
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
	table, err := job.ParseJSON(line)
	if err != nil {
		return job.Submission{}, err
	}
	submission := table.Submission()
	return submission, table.Err()
}

// over returns what the line asks for where it says it, and what all are asked
// for otherwise.
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

// batchResult is what became of a line of a batch.
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
