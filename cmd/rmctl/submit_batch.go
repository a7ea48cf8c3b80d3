package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/facts"
	"github.com/rmctl/rmctl/job"
)

// maxBatchLine bounds the description of one job.
const maxBatchLine = 4 << 20

// batchJob is a line of a batch: one job, over what the flags say of all.
type batchJob struct {
	Executable  string            `json:"executable"`
	Arguments   []string          `json:"arguments"`
	Attributes  map[string]any    `json:"attributes"`
	Environment map[string]string `json:"environment"`
	Directory   string            `json:"directory"`
	Script      string            `json:"script"`
	Debug       bool              `json:"debug"`

	line int
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
	jobs, err := a.readBatch(file)
	if err != nil {
		return err
	}
	submissions := make([]job.Submission, len(jobs))
	for i, job := range jobs {
		if submissions[i], err = job.over(r.Submission, r.elsewhere); err != nil {
			return fmt.Errorf("%s:%d: %w", file, job.line, err)
		}
	}
	controller, err := a.controllerOf(ctx, r.launch)
	if err != nil {
		return err
	}
	return a.submitEach(ctx, controller, jobs, submissions, width)
}

func (a *app) readBatch(file string) (jobs []batchJob, err error) {
	source := io.NopCloser(a.stdin)
	if file != "-" {
		if source, err = os.Open(file); err != nil {
			return nil, fmt.Errorf("reading the batch: %w", err)
		}
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	lines := bufio.NewScanner(source)
	lines.Buffer(nil, maxBatchLine)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		job := batchJob{line: number}
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		decoder.UseNumber()
		if err := decoder.Decode(&job); err != nil {
			return nil, usage("%s:%d: %v; each line is a JSON object such as {\"executable\": \"./simulate\", \"arguments\": [\"1\"]}", file, number, err)
		}
		if decoder.More() {
			return nil, usage("%s:%d: there is more than one object on the line", file, number)
		}
		jobs = append(jobs, job)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the batch %s: %w", file, err)
	}
	return jobs, nil
}

// over returns what the line asks for where it says it, and what all are asked
// for otherwise.
func (j batchJob) over(all job.Submission, elsewhere bool) (job.Submission, error) {
	s := all
	if j.Executable != "" {
		s.Executable, s.Arguments = j.Executable, j.Arguments
	} else if len(j.Arguments) > 0 {
		s.Arguments = j.Arguments
	}
	s.Script, s.Directory, s.Debug = cmp.Or(j.Script, s.Script), cmp.Or(j.Directory, s.Directory), j.Debug || s.Debug
	s.Values = slices.Clone(all.Values)
	for _, name := range slices.Sorted(maps.Keys(j.Attributes)) {
		text, err := facts.Text(j.Attributes[name])
		if err != nil {
			return s, usage("attribute %q: %v", name, err)
		}
		s.Values = append(s.Values, job.Assignment{Name: name, Value: text})
	}
	s.Environment.Variables = slices.Clone(all.Environment.Variables)
	for _, name := range slices.Sorted(maps.Keys(j.Environment)) {
		s.Environment.Variables = append(s.Environment.Variables, job.Variable{Name: name, Value: j.Environment[name]})
	}
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

func (a *app) submitEach(ctx context.Context, controller *control.Controller, jobs []batchJob, submissions []job.Submission, width int) error {
	results := make([]chan batchResult, len(jobs))
	for i := range results {
		results[i] = make(chan batchResult, 1)
	}
	var group errgroup.Group
	group.SetLimit(width + 1) // one starts the others
	group.Go(func() error {
		for i := range submissions {
			group.Go(func() error {
				if ctx.Err() != nil {
					results[i] <- batchResult{err: ctx.Err()}
					return nil
				}
				job, err := controller.Submit(ctx, submissions[i])
				results[i] <- batchResult{job, err}
				return nil
			})
		}
		return nil
	})
	failed := 0
	var printErr error
	for i, job := range jobs {
		result := <-results[i]
		if result.err != nil {
			failed++
		}
		printErr = errors.Join(printErr, a.printBatchResult(job.line, result))
	}
	_ = group.Wait() // its functions return nil; failures are in the results
	if failed > 0 {
		printErr = errors.Join(printErr, fmt.Errorf("%d of %d jobs were not submitted", failed, len(jobs)))
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
		return printJSON(a.stdout, printed)
	}
	if result.err != nil {
		fmt.Fprintf(a.stderr, "line %d: %s\n", line, printable(result.err.Error()))
		return nil
	}
	_, err := fmt.Fprintln(a.stdout, printable(result.job.ID))
	return err
}
