package jobstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// processColumns returns the columns of the table processes without what a process printed,
// which has checksums of its own.
func processColumns(tag *string, p *job.Process) []column {
	return []column{
		{"tag", tag}, {"rank", &p.Rank}, {"node", &p.Node}, {"pid", &p.PID}, {"state", (*string)(&p.State)},
		{"exit_code", &p.ExitCode}, {"signal", &p.Signal},
	}
}

// shownBytes is how much of the end of each stream of a process views show. The checksums of
// these ends depend on it.
const shownBytes = 512

// outputColumns returns the columns of what a process printed.
func outputColumns(p *job.Process) []column {
	return []column{{"output", &p.Output}, {"error_output", &p.ErrorOutput}}
}

func sumOfOutput(p *job.Process) int64 { return stored.Sum("output", &p.Output) }

func sumOfErrors(p *job.Process) int64 { return stored.Sum("errors", &p.ErrorOutput) }

// sumOfEnds returns the checksum of the ends of both streams.
func sumOfEnds(p *job.Process) int64 {
	output, errors := end(p.Output, shownBytes), end(p.ErrorOutput, shownBytes)
	return stored.Sum("ends", &output, &errors)
}

// end returns the last bytes of a text.
func end(text string, bytes int) string { return text[max(0, len(text)-bytes):] }

// RecordProcesses records what is known of processes of a job, in place of what
// was known of them before.
func (s *Store) RecordProcesses(ctx context.Context, tag string, processes []job.Process) error {
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		for _, process := range processes {
			process.Output, process.ErrorOutput = end(process.Output, stored.MaximumText), end(process.ErrorOutput, stored.MaximumText)
			if err := insertProcess(ctx, transaction, tag, &process); err != nil {
				return err
			}
		}
		return nil
	})
	return failed(err, "recording the processes of submission %s", tag)
}

var insertProcessRow = sync.OnceValue(func() string {
	names := columnNames(append(processColumns(new(string), &job.Process{}), outputColumns(&job.Process{})...))
	names = append(names, "sum", "output_sum", "error_sum", "ends_sum")
	return strings.Replace(insertInto("processes", names), "INSERT", "INSERT OR REPLACE", 1)
})

func insertProcess(ctx context.Context, transaction *sql.Tx, tag string, process *job.Process) error {
	values := columnValues(processColumns(&tag, process))
	sum := stored.Sum("processes", values...)
	values = append(append(values, columnValues(outputColumns(process))...), sum, sumOfOutput(process), sumOfErrors(process), sumOfEnds(process))
	_, err := transaction.ExecContext(ctx, insertProcessRow(), values...)
	return err
}

// EachProcess gives what is known of the processes of all jobs of a target to a
// function, by job and rank, until it returns an error. Of Output and ErrorOutput it gives the last
// 512 bytes.
func (s *Store) EachProcess(ctx context.Context, target string, do func(tag string, process job.Process) error) error {
	err := s.queryProcesses(ctx, true, do, "WHERE tag IN (SELECT tag FROM jobs WHERE target = ?) ORDER BY tag, rank", target)
	return failed(err, "reading the processes of the jobs of target %q", target)
}

// Processes returns what is known of the processes of a job, by rank; nothing for
// a job without known processes.
func (s *Store) Processes(ctx context.Context, tag string) (processes []job.Process, err error) {
	err = s.queryProcesses(ctx, false, func(_ string, process job.Process) error {
		processes = append(processes, process)
		return nil
	}, "WHERE tag = ? ORDER BY rank", tag)
	if err != nil {
		return nil, fmt.Errorf("reading the processes of submission %s: %w", tag, explained(err))
	}
	return processes, nil
}

// queryProcesses gives the processes that the rest of a query chooses to a function, of what they
// printed all or only the ends. It leaves out those that cannot be read.
func (s *Store) queryProcesses(ctx context.Context, onlyEnds bool, do func(tag string, process job.Process) error, rest string, arguments ...any) error {
	var tag string
	var process job.Process
	var sum, outputSum, errorSum int64
	columns := processColumns(&tag, &process)
	values := columnValues(columns)
	outputs := "output, error_output, output_sum, error_sum"
	isWhole := func() bool {
		return stored.Verify(outputSum, "output", &process.Output) == nil && stored.Verify(errorSum, "errors", &process.ErrorOutput) == nil
	}
	if onlyEnds {
		outputs = fmt.Sprintf("%s, %s, ends_sum, -1", endOfColumn("output"), endOfColumn("error_output"))
		isWhole = func() bool { return stored.Verify(outputSum, "ends", &process.Output, &process.ErrorOutput) == nil }
	}
	statement := "SELECT " + strings.Join(columnNames(columns), ", ") + ", sum, " + outputs + " FROM processes " + rest
	fields := append(slices.Clone(values), &sum, &process.Output, &process.ErrorOutput, &outputSum, &errorSum)
	return stored.EachReadable(ctx, s.database, fields, func() error {
		if stored.Verify(sum, "processes", values...) != nil || !isWhole() {
			return nil
		}
		return do(tag, process)
	}, func(error) error { return nil }, statement, arguments...)
}

// endOfColumn returns the expression for the last bytes of a text, which need not be UTF-8. Of no bytes
// SQLite makes NULL.
func endOfColumn(name string) string {
	return fmt.Sprintf("coalesce(CAST(substr(CAST(%s AS BLOB), -%d) AS TEXT), '')", name, shownBytes)
}
