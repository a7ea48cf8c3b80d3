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

// processColumns returns the columns of the table processes without the output, which has a
// checksum of its own.
func processColumns(tag *string, p *job.Process) []column {
	return []column{
		{"tag", tag}, {"rank", &p.Rank}, {"node", &p.Node}, {"pid", &p.PID}, {"state", (*string)(&p.State)},
		{"exit_code", &p.ExitCode}, {"signal", &p.Signal},
	}
}

func sumOfOutput(p *job.Process) int64 { return stored.Sum("output", &p.Output) }

// RecordProcesses records what is known of processes of a job, in place of what
// was known of them before.
func (s *Store) RecordProcesses(ctx context.Context, tag string, processes []job.Process) error {
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		for _, process := range processes {
			process.Output = process.Output[max(0, len(process.Output)-stored.MaximumText):]
			if err := insertProcess(ctx, transaction, tag, &process); err != nil {
				return err
			}
		}
		return nil
	})
	return failed(err, "recording the processes of submission %s", tag)
}

var insertProcessRow = sync.OnceValue(func() string {
	names := append(columnNames(processColumns(new(string), &job.Process{})), "sum", "output", "output_sum")
	return strings.Replace(insertInto("processes", names), "INSERT", "INSERT OR REPLACE", 1)
})

func insertProcess(ctx context.Context, transaction *sql.Tx, tag string, process *job.Process) error {
	values := columnValues(processColumns(&tag, process))
	_, err := transaction.ExecContext(ctx, insertProcessRow(), append(values, stored.Sum("processes", values...), &process.Output, sumOfOutput(process))...)
	return err
}

// EachProcess gives what is known of the processes of all jobs of a target to a
// function, without Output, by job and rank, until it returns an error.
func (s *Store) EachProcess(ctx context.Context, target string, do func(tag string, process job.Process) error) error {
	err := s.queryProcesses(ctx, "'', -1", do, "WHERE tag IN (SELECT tag FROM jobs WHERE target = ?) ORDER BY tag, rank", target)
	return failed(err, "reading the processes of the jobs of target %q", target)
}

// Processes returns what is known of the processes of a job, by rank; nothing for
// a job without known processes.
func (s *Store) Processes(ctx context.Context, tag string) (processes []job.Process, err error) {
	err = s.queryProcesses(ctx, "output, output_sum", func(_ string, process job.Process) error {
		processes = append(processes, process)
		return nil
	}, "WHERE tag = ? ORDER BY rank", tag)
	if err != nil {
		return nil, fmt.Errorf("reading the processes of submission %s: %w", tag, explained(err))
	}
	return processes, nil
}

// queryProcesses gives the processes that the rest of a query chooses to a function; output
// is what is selected for the output and its checksum. It leaves out those that cannot be read.
func (s *Store) queryProcesses(ctx context.Context, output string, do func(tag string, process job.Process) error, rest string, arguments ...any) error {
	var tag string
	var process job.Process
	var sum, outputSum int64
	columns := processColumns(&tag, &process)
	values := columnValues(columns)
	statement := "SELECT " + strings.Join(columnNames(columns), ", ") + ", sum, " + output + " FROM processes " + rest
	return stored.EachReadable(ctx, s.database, append(slices.Clone(values), &sum, &process.Output, &outputSum), func() error {
		if stored.Verify(sum, "processes", values...) != nil || outputSum != stored.Unsummed && outputSum != sumOfOutput(&process) {
			return nil
		}
		return do(tag, process)
	}, func(error) error { return nil }, statement, arguments...)
}
