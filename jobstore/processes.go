package jobstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/rmctl/rmctl/job"
)

// RecordProcesses records what is known of processes of a job, in the place of
// what was known of those before.
func (s *Store) RecordProcesses(ctx context.Context, tag string, processes []job.Process) error {
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		for _, p := range processes {
			output := p.Output[max(0, len(p.Output)-MaximumEvidence):]
			if _, err := transaction.ExecContext(ctx, `INSERT OR REPLACE INTO processes (tag, rank, node, pid, state, exit_code, signal, output)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, tag, p.Rank, p.Node, p.PID, p.State, storedInt(p.ExitCode), storedInt(p.Signal), output); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording the processes of submission %s: %w", tag, err)
	}
	return nil
}

// EachProcess gives what is known of the processes of all jobs of a target to a
// function, without Output, by job and rank, until it returns an error.
func (s *Store) EachProcess(ctx context.Context, target string, do func(tag string, process job.Process) error) (err error) {
	rows, err := s.database.QueryContext(ctx, `SELECT p.tag, p.rank, p.node, p.pid, p.state, p.exit_code, p.signal
		FROM processes p JOIN jobs j ON j.tag = p.tag WHERE j.target = ? ORDER BY p.tag, p.rank`, target)
	if err != nil {
		return fmt.Errorf("reading the processes of the jobs of target %q: %w", target, explained(err))
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var p job.Process
		var tag string
		var exitCode, signal sql.NullInt64
		if err := rows.Scan(&tag, &p.Rank, &p.Node, &p.PID, &p.State, &exitCode, &signal); err != nil {
			return err
		}
		p.ExitCode, p.Signal = plainInt(exitCode), plainInt(signal)
		if err := do(tag, p); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Processes returns what is known of the processes of a job, by rank. There are
// none of jobs that nothing tells the processes of.
func (s *Store) Processes(ctx context.Context, tag string) ([]job.Process, error) {
	processes, err := s.queryProcesses(ctx, tag)
	if err != nil {
		return nil, fmt.Errorf("reading the processes of submission %s: %w", tag, explained(err))
	}
	return processes, nil
}

func (s *Store) queryProcesses(ctx context.Context, tag string) (processes []job.Process, err error) {
	rows, err := s.database.QueryContext(ctx, "SELECT rank, node, pid, state, exit_code, signal, output FROM processes WHERE tag = ? ORDER BY rank", tag)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var p job.Process
		var exitCode, signal sql.NullInt64
		if err := rows.Scan(&p.Rank, &p.Node, &p.PID, &p.State, &exitCode, &signal, &p.Output); err != nil {
			return nil, err
		}
		p.ExitCode, p.Signal = plainInt(exitCode), plainInt(signal)
		processes = append(processes, p)
	}
	return processes, rows.Err()
}
